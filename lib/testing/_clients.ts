import { decodeBase64String } from "../core/_base64.ts";
import { isMembers, stringsIn } from "../core/_members.ts";
import { isLoopback, parseUrl, withoutLoopbackPort } from "../core/_url.ts";
import type { IAuthorizationDynamicClientRegistrationResponse } from "../core/types.ts";
import { refusal } from "./_refusals.ts";

export type Client = IAuthorizationDynamicClientRegistrationResponse;

/** In the order of the metadata. */
export const AUTHENTICATION_METHODS = [
  "none",
  "client_secret_basic",
  "client_secret_post",
];

/** Checks whether servers register a redirect URI (RFC 6749, section 3.1.2; MCP). */
function isRedirectUri(uri: string): boolean {
  const url = parseUrl(uri);
  if (!url || uri.includes("#")) return false;
  return url.protocol !== "http:" || isLoopback(url);
}

/** Returns the client for a registration request (RFC 7591, sections 2 and 3). */
export function newClient(body: string, client_id: string): Client {
  let metadata: unknown;
  try {
    metadata = JSON.parse(body);
  } catch {
    // Not an object either.
  }
  if (!isMembers(metadata)) {
    throw refusal(
      "invalid_client_metadata",
      "The request is not a JSON object",
    );
  }
  const {
    redirect_uris: uris = [],
    grant_types: types = ["authorization_code"],
    token_endpoint_auth_method = "client_secret_basic",
  } = metadata as Partial<Client>;
  const grant_types = stringsIn(types);
  if (!grant_types) {
    throw refusal("invalid_client_metadata", "grant_types is not a list");
  }
  const redirect_uris = stringsIn(uris);
  const needsUri = grant_types.includes("authorization_code");
  const hasUri = !needsUri || (redirect_uris ?? []).length > 0;
  if (!redirect_uris?.every(isRedirectUri) || !hasUri) {
    const why = "redirect_uris is not a list of URLs, https or on loopback";
    throw refusal("invalid_redirect_uri", why);
  }
  if (!AUTHENTICATION_METHODS.includes(token_endpoint_auth_method)) {
    const why = `${token_endpoint_auth_method} is not supported`;
    throw refusal("invalid_client_metadata", why);
  }
  const isPublic = token_endpoint_auth_method === "none";
  return {
    ...metadata,
    ...{ client_id, redirect_uris, grant_types, token_endpoint_auth_method },
    ...!isPublic && {
      client_secret: `secret-${crypto.randomUUID()}`,
      client_secret_expires_at: 0,
    },
  };
}

/** Ignores a loopback port (RFC 8252, section 7.3). */
export function hasRedirectUri({ redirect_uris }: Client, uri: string) {
  const wanted = withoutLoopbackPort(uri);
  return redirect_uris?.some((one) => withoutLoopbackPort(one) === wanted) ??
    false;
}

/** Reads Basic credentials, whose parts are form-encoded (RFC 6749, section 2.3.1). */
function readBasic(header: string): [id: string, secret: string] {
  try {
    const [, base64 = ""] = /^Basic (\S+)$/i.exec(header) ?? [];
    const [, id = "", secret = ""] = /^(.*?):(.*)$/s
      .exec(decodeBase64String(base64))!
      .map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    return [id, secret];
  } catch {
    throw refusal("invalid_client", "Authorization is not valid", 401);
  }
}

/** Returns a request's client if it uses its registered authentication. */
export function authenticate(
  clients: ReadonlyMap<string, Client>,
  headers: Headers,
  form: URLSearchParams,
): Client {
  const header = headers.get("Authorization");
  const fail = (why: string) =>
    refusal("invalid_client", why, 401, {
      ...header !== null && { "WWW-Authenticate": "Basic" },
    });
  let id = form.get("client_id");
  let secret = form.get("client_secret");
  let used = secret === null ? "none" : "client_secret_post";
  if (header !== null) {
    const [basicId, basicSecret] = readBasic(header);
    if (secret !== null || (id !== null && id !== basicId)) {
      const why = "The client authenticates in two ways";
      throw refusal("invalid_request", why);
    }
    [id, secret, used] = [basicId, basicSecret, "client_secret_basic"];
  }
  const client = clients.get(id ?? "");
  if (!client) throw fail(`Client ${id} is not registered`);
  const { client_secret, token_endpoint_auth_method: method } = client;
  const expected = method ?? (client_secret ? "client_secret_basic" : "none");
  if (used !== expected) {
    throw fail(`The client is registered for ${expected}, and uses ${used}`);
  }
  if (used !== "none" && secret !== client_secret) {
    throw fail("The client secret is wrong");
  }
  return client;
}
