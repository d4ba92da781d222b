/**
 * One authorization server for all vendors, with codes, PKCE and tokens: what differs
 * for a vendor is in its table.
 */
import { createHash } from "node:crypto";
import { type JWTPayload, SignJWT } from "jose";
import { pairOf, rsa } from "../../support/keys.ts";
import {
  type HostHandler,
  type HostRequest,
  type Service,
  type ServiceOptions,
  startHosts,
} from "./_hosts.ts";

export interface Grant {
  clientId: string;
  redirectUri: string;
  scopes: string[];
  challenge: string | null;
  nonce: string | null;
  mayRefresh: boolean;
}

/** What is wrong with a request to any of the servers. */
type CommonProblem =
  | "client"
  | "secret"
  | "redirect_uri"
  | "code"
  | "code_redirect"
  | "verifier"
  | "refresh_token";

export interface Issued {
  grantOf(accessToken: string | undefined): Grant | undefined;
  /** The key of the issuer, which signs with RS256. */
  publicKey: CryptoKey;
  now: () => number;
}

/** What differs for a vendor; `Problem` has what only this one refuses. */
export interface Vendor<Problem extends string = never> {
  /** The URLs of the endpoints: several, if each tenant has its own. */
  authorize: string[];
  token: string[];
  documents?: Record<string, unknown>;
  clients: {
    id: string;
    /** Undefined for a public client. */
    secret?: string;
    isRegistered(redirectUri: string): boolean;
  }[];
  /** The only method of client authentication. */
  method?: "basic" | "post";
  /** How values begin; without `access`, access tokens are JWTs. */
  prefixes: { code: string; access?: string; refresh: string };
  seconds: { code: number; access: number; refresh: number };
  /** What a refresh returns; with a rotation, the former token ends. */
  refresh: "no token" | "another token" | "rotation";
  /** Returns a response to what is wrong with the parameters of a request. */
  refuse(problem: CommonProblem | Problem, sent: URLSearchParams): Response;
  checkVisit?(
    query: URLSearchParams,
    scopes: readonly string[],
  ): Problem | undefined;
  /** As `checkVisit()`, for a token request; without a grant, for a refresh. */
  checkToken?(form: URLSearchParams, grant?: Grant): Problem | undefined;
  /** Whether a refresh token is issued; `isNew` if the user had not agreed before. */
  mayRefresh?(grant: Grant, sent: URLSearchParams, isNew: boolean): boolean;
  refreshScopes?(form: URLSearchParams): string[];
  /** Returns further parameters of an authorization response. */
  callback?(grant: Grant): Record<string, string>;
  /** Returns the claims of an ID token, or of an access token that is a JWT. */
  claims?(grant: Grant, use: "id" | "access"): JWTPayload;
  /** Returns further members of a token response, or others. */
  members?(grant: Grant): Record<string, string | number>;
  /** Makes the token response. @default JSON */
  respond?(members: Record<string, unknown>): Response;
  /** Checks every request to the endpoints before they do. */
  guard?(handle: HostHandler): HostHandler;
  apis(issued: Issued): Record<string, HostHandler>;
}

/** Creates an empty set of codes or tokens, whose values begin with `prefix`. */
function createValues(prefix: string, now: () => number) {
  const kept = new Map<string, { grant: Grant; expiresAt: number }>();
  const find = (value: string | null | undefined): Grant | undefined => {
    const { grant, expiresAt = 0 } = kept.get(value ?? "") ?? {};
    return expiresAt > now() ? grant : undefined;
  };
  return {
    issue(grant: Grant, seconds: number): string {
      const value = prefix + crypto.randomUUID().replaceAll("-", "");
      kept.set(value, { grant, expiresAt: now() + seconds * 1000 });
      return value;
    },
    find,
    /** As `find()`, for a value that can be used once. */
    take(value: string | null | undefined): Grant | undefined {
      const grant = find(value);
      kept.delete(value ?? "");
      return grant;
    },
    clear: () => kept.clear(),
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();

/** Checks the verifier of a token request (RFC 7636, section 4.6). */
function isVerified({ challenge }: Grant, form: URLSearchParams): boolean {
  const verifier = form.get("code_verifier");
  if (challenge === null) return verifier === null;
  return challenge === sha256(verifier ?? "").toString("base64url");
}

export function redirectBack(
  query: URLSearchParams,
  parameters: Record<string, string>,
): Response {
  const url = new URL(query.get("redirect_uri") ?? "");
  const all = { ...parameters, state: query.get("state") };
  for (const [name, value] of Object.entries(all)) {
    if (value !== null) url.searchParams.set(name, value);
  }
  return new Response(null, { status: 302, headers: { Location: url.href } });
}

export const exceptPort = (registered: string) => (uri: string): boolean => {
  const url = URL.parse(uri);
  if (url) url.port = "";
  return url?.href === new URL(registered).href;
};

function credentialsOf({ headers, form }: HostRequest) {
  const basic = /^Basic (.+)$/.exec(headers.get("Authorization") ?? "")?.[1];
  if (basic !== undefined) {
    const [id = "", secret = ""] = atob(basic).split(":")
      .map(decodeURIComponent);
    return { method: "basic", id, secret };
  }
  const id = form.get("client_id") ?? "";
  return { method: "post", id, secret: form.get("client_secret") ?? undefined };
}

/** A JSON response that is not kept by caches (RFC 6749, section 5.1). */
export function reply(body: unknown, status = 200): Response {
  return Response.json(body, {
    status,
    headers: { "Cache-Control": "no-store" },
  });
}

export async function startVendor<Problem extends string>(
  vendor: Vendor<Problem>,
  { now = Date.now }: ServiceOptions = {},
): Promise<Service> {
  const { prefixes, seconds, refuse, respond = reply } = vendor;
  const { guard = (handle) => handle, mayRefresh = () => true } = vendor;
  const { privateKey, publicKey } = await pairOf(
    rsa("RSASSA-PKCS1-v1_5", "SHA-256"),
  );
  const codes = createValues(prefixes.code, now);
  const accessTokens = createValues(prefixes.access ?? "", now);
  const refreshTokens = createValues(prefixes.refresh, now);
  const agreed = new Set<string>();
  /** The access token that each refresh token was issued with. */
  const pairs = new Map<string, string>();
  const visits: URL[] = [];

  function sign(grant: Grant, use: "id" | "access", more: JWTPayload = {}) {
    const iat = Math.floor(now() / 1000);
    const times = { iat, exp: iat + seconds.access, jti: crypto.randomUUID() };
    return new SignJWT({ ...vendor.claims?.(grant, use), ...times, ...more })
      .setProtectedHeader({ alg: "RS256", kid: "1" })
      .sign(privateKey);
  }

  async function issue(grant: Grant, withRefresh: boolean): Promise<Response> {
    const access_token = prefixes.access === undefined
      ? await sign(grant, "access")
      : accessTokens.issue(grant, seconds.access);
    const { scopes, nonce } = grant;
    // The nonce is that of the sign-in.
    const refresh_token = withRefresh
      ? refreshTokens.issue({ ...grant, nonce: null }, seconds.refresh)
      : undefined;
    if (refresh_token) pairs.set(refresh_token, access_token);
    const at_hash = sha256(access_token).subarray(0, 16).toString("base64url");
    return respond({
      access_token,
      expires_in: seconds.access,
      token_type: "Bearer",
      ...(refresh_token && { refresh_token }),
      ...(vendor.claims && scopes.includes("openid") && {
        id_token: await sign(grant, "id", { at_hash, ...(nonce && { nonce }) }),
      }),
      ...vendor.members?.(grant),
    });
  }

  function authorize({ url }: HostRequest): Response {
    visits.push(url);
    const { searchParams: query } = url;
    const clientId = query.get("client_id") ?? "";
    const redirectUri = query.get("redirect_uri") ?? "";
    const client = vendor.clients.find(({ id }) => id === clientId);
    if (!client) return refuse("client", query);
    if (!client.isRegistered(redirectUri)) return refuse("redirect_uri", query);
    const scopes = (query.get("scope") ?? "").split(" ").filter(Boolean);
    const problem = vendor.checkVisit?.(query, scopes);
    if (problem) return refuse(problem, query);
    const grant: Grant = {
      ...{ clientId, redirectUri, scopes, mayRefresh: true },
      challenge: query.get("code_challenge"),
      nonce: query.get("nonce"),
    };
    const isNew = !agreed.has(clientId);
    grant.mayRefresh = mayRefresh(grant, query, isNew);
    agreed.add(clientId);
    const code = codes.issue(grant, seconds.code);
    return redirectBack(query, { code, ...vendor.callback?.(grant) });
  }

  function token(request: HostRequest): Response | Promise<Response> {
    const { form } = request;
    const { method, id, secret } = credentialsOf(request);
    const client = vendor.clients.find((one) => one.id === id);
    if (!client) return refuse("client", form);
    if (secret !== client.secret || (vendor.method ?? method) !== method) {
      return refuse("secret", form);
    }
    if (form.get("grant_type") === "refresh_token") {
      const problem = vendor.checkToken?.(form);
      if (problem) return refuse(problem, form);
      const value = form.get("refresh_token");
      const isRotated = vendor.refresh === "rotation";
      const grant = refreshTokens[isRotated ? "take" : "find"](value);
      if (grant?.clientId !== id) return refuse("refresh_token", form);
      if (isRotated) accessTokens.take(pairs.get(value ?? ""));
      const scopes = vendor.refreshScopes?.(form) ?? grant.scopes;
      const next = { ...grant, scopes };
      const hasToken = vendor.refresh !== "no token";
      return issue(next, hasToken && mayRefresh(next, form, false));
    }
    const grant = codes.take(form.get("code"));
    if (grant?.clientId !== id) return refuse("code", form);
    if (grant.redirectUri !== form.get("redirect_uri")) {
      return refuse("code_redirect", form);
    }
    const problem = vendor.checkToken?.(form, grant);
    if (problem) return refuse(problem, form);
    return isVerified(grant, form)
      ? issue(grant, grant.mayRefresh)
      : refuse("verifier", form);
  }

  const handlers = vendor.apis({ grantOf: accessTokens.find, publicKey, now });
  for (const [url, one] of Object.entries(vendor.documents ?? {})) {
    handlers[`GET ${url}`] = () => Response.json(one);
  }
  for (const url of vendor.authorize) handlers[`GET ${url}`] = guard(authorize);
  for (const url of vendor.token) handlers[`POST ${url}`] = guard(token);
  const hosts = startHosts(handlers);
  return {
    ...hosts,
    visits,
    revoke(all) {
      // The user removes the app from the account, which has to ask for consent again.
      agreed.clear();
      refreshTokens.clear();
      if (all) accessTokens.clear();
    },
    async visit(url) {
      const response = await hosts.fetch(url, {
        headers: { "User-Agent": "Browser" },
        redirect: "manual",
      });
      const location = response.headers.get("Location");
      const text = await response.text();
      if (location === null) throw new Error(`${response.status} ${text}`);
      return location;
    },
  };
}
