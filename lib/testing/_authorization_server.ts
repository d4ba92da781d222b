/** The authorization server: its metadata and endpoints. */

import { readClaims } from "../core/_jwt.ts";
import { GRANT_TYPE_CIBA, GRANT_TYPE_DEVICE_CODE } from "../core/constants.ts";
import {
  authenticate,
  AUTHENTICATION_METHODS,
  hasRedirectUri,
  type IClient,
  newClient,
} from "./_clients.ts";
import { Grants, type IGrant } from "./_grants.ts";
import { IdTokens } from "./_id_tokens.ts";
import { refusal } from "./_refusals.ts";
import type { ITestRequest } from "./request.ts";
import type { ITestSwitches } from "./switches.ts";

/** The endpoints and their paths below the issuer. */
export const ENDPOINT_PATHS = {
  authorization: "/authorize",
  token: "/token",
  registration: "/register",
  revocation: "/revoke",
  device_authorization: "/device",
  backchannel_authentication: "/bc-authorize",
} as const;

/** The path of the keys that sign ID tokens. */
export const JWKS_PATH = "/jwks";

/** The settings of an authorization server. */
export interface IAuthorizationServerSettings {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly clients: Map<string, IClient>;
  readonly switches: Readonly<ITestSwitches>;
  now(): number;
}

/** How long the user may take on another device, and how often to poll, in seconds. */
const DEVICE = { expires_in: 600, interval: 1 };

/** The parameters of which a backchannel authentication request has exactly one. */
const HINTS = ["login_hint", "login_hint_token", "id_token_hint"];

/** The user, unless a backchannel authentication request contains one. */
const USER = "user";

type Endpoint = (request: ITestRequest) => Response | Promise<Response>;

/** Refuses parameters that are repeated (RFC 6749, sections 3.1 and 3.2). */
function requireSingle(params: URLSearchParams): void {
  for (const name of params.keys()) {
    // RFC 8707, section 2.
    if (name !== "resource" && params.getAll(name).length > 1) {
      throw refusal("invalid_request", `${name} is repeated`);
    }
  }
}

/**
 * Returns a request with the parameters of its form alone: none of them may be in the URL
 * (RFC 6749, section 2.3.1).
 */
function withFormOnly(request: ITestRequest): ITestRequest {
  const inQuery = [...request.url.searchParams].length;
  const params = new URLSearchParams([...request.params].slice(inQuery));
  return { ...request, params };
}

/** Refuses a grant that a client is not registered for. */
function requireGrant({ grant_types }: IClient, type: string): void {
  if (grant_types && !grant_types.includes(type)) {
    const why = `The client is not registered for ${type}`;
    throw refusal("unauthorized_client", why);
  }
}

/** Creates an authorization server for one resource. */
export function createAuthorizationServer(
  { issuer, resource, scopes, clients, switches, now }:
    IAuthorizationServerSettings,
) {
  const idTokens = new IdTokens(issuer, now);
  const grants = new Grants(switches, now, idTokens);
  const waiting = new Map<string, { grant: IGrant; expiresAt: number }>();

  /** Checks the resource indicators of a request (RFC 8707, section 2). */
  function requireResource({ params }: ITestRequest): void {
    const given = params.getAll("resource");
    const { resourceParameter: rule } = switches;
    const isMissing = given.length === 0 && rule === "required";
    const isRefused = given.length > 0 && rule === "refused";
    if (!isMissing && !isRefused && given.every((one) => one === resource)) {
      return;
    }
    const expected = rule === "refused" ? "none" : resource;
    const why = `resource is ${given.join(" ") || "absent"}, not ${expected}`;
    throw refusal("invalid_target", why);
  }

  /** Returns the scopes that a user grants, of those requested or of all. */
  function newGrant(
    { client_id: clientId }: IClient,
    { params }: ITestRequest,
    user?: string,
  ): IGrant {
    const requested = params.get("scope")?.split(" ") ?? scopes;
    const refused = switches.refusedScopes.find((one) =>
      requested.includes(one)
    );
    if (refused !== undefined) {
      throw refusal("invalid_scope", `${refused} is not a scope of the client`);
    }
    const granted = requested.filter((one) =>
      !switches.withheldScopes.includes(one)
    );
    const acr = params.get("acr_values")?.split(" ")[0];
    const authTime = Math.floor(now() / 1000);
    return {
      ...{ clientId, user, acr, authTime },
      scopes: granted,
      isRevoked: false,
    };
  }

  /** Responds immediately, instead of the user (RFC 6749, section 4.1). */
  async function authorize(request: ITestRequest): Promise<Response> {
    const { params } = request;
    const get = (name: string) => params.get(name) ?? "";
    const client = clients.get(get("client_id"));
    const redirectUri = get("redirect_uri");
    // Users are not redirected to a URL that may be an attacker's (section 4.1.2.1).
    if (!client || !hasRedirectUri(client, redirectUri)) {
      const why = client
        ? `redirect_uri ${redirectUri} is not registered`
        : `Client ${get("client_id")} is not registered`;
      return new Response(why, { status: 400 });
    }
    const members = new URLSearchParams();
    try {
      requireSingle(params);
      if (get("response_type") !== "code") {
        throw refusal("unsupported_response_type", "response_type is not code");
      }
      // 43 characters are a SHA-256 hash in base64url.
      const challenge = get("code_challenge");
      const isS256 = get("code_challenge_method") === "S256";
      if (!isS256 || !/^[\w-]{43}$/.test(challenge)) {
        const why = "code_challenge is not one of the method S256";
        throw refusal("invalid_request", why);
      }
      requireResource(request);
      const grant = newGrant(client, request, USER);
      if (switches.user === "refuses") {
        throw refusal("access_denied", "The user refuses");
      }
      if (switches.user === "leaves") {
        return new Response("This page waits for the user");
      }
      const nonce = params.get("nonce");
      const code = grants.newCode(grant, { redirectUri, challenge, nonce });
      members.set("code", code);
    } catch (refused) {
      if (!(refused instanceof Response)) throw refused;
      const error: Record<string, string> = await refused.json();
      for (const name in error) members.set(name, error[name]!);
    }
    if (params.has("state")) members.set("state", get("state"));
    if (switches.iss !== null) members.set("iss", switches.iss);
    const callback = new URL(redirectUri);
    for (const [name, value] of members) callback.searchParams.set(name, value);
    return new Response(null, {
      status: 302,
      headers: { Location: callback.href },
    });
  }

  const authenticated = (request: ITestRequest) =>
    authenticate(clients, request.headers, request.params);

  async function token(request: ITestRequest): Promise<Response> {
    const { params } = request;
    const client = authenticated(request);
    const type = params.get("grant_type") ?? "";
    requireGrant(client, type);
    requireResource(request);
    switch (type) {
      case "authorization_code":
        return await grants.redeemCode(client, params);
      case "refresh_token":
        return await grants.refresh(client, params);
      case "client_credentials":
        if (client.client_secret === undefined) {
          throw refusal("unauthorized_client", "The client has no secret");
        }
        return await grants.issue(
          { ...client, grant_types: [] },
          newGrant(client, request),
        );
      case GRANT_TYPE_DEVICE_CODE:
        return await grants.issue(
          client,
          redeemWaiting(client, params.get("device_code")),
        );
      case GRANT_TYPE_CIBA:
        return await grants.issue(
          client,
          redeemWaiting(client, params.get("auth_req_id")),
        );
    }
    throw refusal("unsupported_grant_type", `${type} is not supported`);
  }

  /** Notes a grant until the user consents on another device; returns its name. */
  function waitFor(grant: IGrant, name: string, seconds: number): string {
    const code = grants.unique(name);
    waiting.set(code, { grant, expiresAt: now() + seconds * 1000 });
    return code;
  }

  /** Returns a grant, if the user consents (RFC 8628, section 3.5; CIBA, section 11). */
  function redeemWaiting(client: IClient, code: string | null): IGrant {
    const { grant, expiresAt = 0 } = waiting.get(code ?? "") ?? {};
    if (grant?.clientId !== client.client_id) {
      throw refusal("invalid_grant", "The code is not of this client");
    }
    if (expiresAt <= now()) {
      throw refusal("expired_token", "The code has expired");
    }
    const { user } = switches;
    if (user === "refuses") throw refusal("access_denied", "The user refuses");
    if (user === "leaves") {
      throw refusal("authorization_pending", "The user has not consented");
    }
    waiting.delete(code ?? "");
    return grant;
  }

  /** Returns the user in a backchannel authentication request. */
  function userOf({ params }: ITestRequest): string {
    const hints = HINTS.filter((name) => params.has(name));
    if (hints.length !== 1) {
      const given = hints.join(" and ") || "no hint";
      throw refusal("invalid_request", `Expected one hint, got ${given}`);
    }
    if (params.has("login_hint")) return params.get("login_hint")!;
    if (params.has("login_hint_token")) return USER;
    const { iss, sub } = readClaims(params.get("id_token_hint")!) ?? {};
    if (iss === issuer && typeof sub === "string") return sub;
    throw refusal("unknown_user_id", "id_token_hint is not of this server");
  }

  const endpoints: Record<keyof typeof ENDPOINT_PATHS, Endpoint> = {
    authorization: authorize,
    token,
    registration({ body }) {
      const client = newClient(body, grants.unique("client"));
      clients.set(client.client_id, client);
      return Response.json(client, { status: 201 });
    },
    revocation(request) {
      const client = authenticated(request);
      grants.revokeToken(client, request.params.get("token") ?? "");
      return new Response();
    },
    device_authorization(request) {
      const client = authenticated(request);
      requireGrant(client, GRANT_TYPE_DEVICE_CODE);
      requireResource(request);
      const grant = newGrant(client, request, USER);
      return Response.json({
        device_code: waitFor(grant, "device", DEVICE.expires_in),
        user_code: "WDJB-MJHT",
        verification_uri: `${issuer}/activate`,
        ...DEVICE,
      });
    },
    backchannel_authentication(request) {
      const { params } = request;
      const client = authenticated(request);
      requireGrant(client, GRANT_TYPE_CIBA);
      if (client.client_secret === undefined) {
        throw refusal("unauthorized_client", "The client has no secret");
      }
      requireResource(request);
      if (!params.get("scope")?.split(" ").includes("openid")) {
        throw refusal("invalid_scope", "scope does not contain openid");
      }
      const expiry = params.get("requested_expiry") ?? DEVICE.expires_in;
      if (!/^[1-9]\d*$/.test(`${expiry}`)) {
        throw refusal("invalid_request", "requested_expiry is not positive");
      }
      const expires_in = Number(expiry);
      const grant = newGrant(client, request, userOf(request));
      return Response.json({
        auth_req_id: waitFor(grant, "authentication", expires_in),
        ...DEVICE,
        expires_in,
      });
    },
  };

  return {
    grants,
    jwks: () => idTokens.jwks(),
    metadata: () => ({
      issuer,
      ...Object.fromEntries(
        Object.entries(ENDPOINT_PATHS).map(([name, path]) => [
          `${name}_endpoint`,
          issuer + path,
        ]),
      ),
      response_types_supported: ["code"],
      grant_types_supported: [
        "authorization_code",
        "refresh_token",
        "client_credentials",
        GRANT_TYPE_DEVICE_CODE,
        GRANT_TYPE_CIBA,
      ],
      backchannel_token_delivery_modes_supported: ["poll"],
      jwks_uri: issuer + JWKS_PATH,
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["ES256"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
      authorization_response_iss_parameter_supported: true,
      ...switches.serverMetadata,
    }),
    respond(endpoint: keyof typeof ENDPOINT_PATHS, request: ITestRequest) {
      if (endpoint === "authorization") return endpoints[endpoint](request);
      if (request.method !== "POST") {
        return new Response("Expected POST", { status: 405 });
      }
      const form = withFormOnly(request);
      requireSingle(form.params);
      return endpoints[endpoint](form);
    },
  };
}
