import {
  requireArgument,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { encodeBase64 } from "../core/_base64.ts";
import { requireSameIssuer } from "../core/_issuer.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { CLIENT_PARAMETERS } from "./_client_parameters.ts";

/**
 * A client and its authentication method.
 *
 * @category Clients
 */
export interface ClientAuthentication {
  /** Identifier of the client. */
  readonly clientId: string;
  /** Name of the method in `token_endpoint_auth_methods_supported`. */
  readonly method: string;
  /** The only issuer that the credentials may be sent to; any issuer when undefined. */
  readonly issuer?: string | undefined;
  /**
   * Whether only the receiving server accepts a request's credentials. Such a client
   * needs no issuer when a resource selects the server.
   */
  readonly isPortable?: boolean | undefined;
  /**
   * The same client with Basic credentials that are not form-encoded. A request whose
   * credentials are rejected is repeated once with this client.
   */
  readonly unencoded?: ClientAuthentication | undefined;
  /** Adds the credentials to a request before it is sent. */
  authenticate(request: AuthenticatedRequest): void | Promise<void>;
}

/**
 * A request to an endpoint that authenticates the client, before it is sent.
 *
 * @category Clients
 */
export interface AuthenticatedRequest {
  /** The server that the request is for. */
  readonly serverMetadata: ServerMetadata;
  /** The form in the request body. */
  readonly body: URLSearchParams;
  /** The header fields. */
  readonly headers: Record<string, string>;
  /** Aborts on timeout and when the caller's signal aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of the client authentication methods. */
export interface ClientAuthenticationOptions {
  /**
   * The client's issuer. A request to any other issuer fails with `issuer_mismatch`.
   */
  issuer?: string | undefined;
}

/**
 * Removes the client and its credentials from a body: requests may use only one
 * authentication method (RFC 6749, section 2.3). Fails for another issuer.
 */
function clear(
  { body, serverMetadata }: AuthenticatedRequest,
  { issuer }: ClientAuthenticationOptions,
): void {
  requireSameIssuer(issuer, serverMetadata.issuer);
  for (const name of CLIENT_PARAMETERS) body.delete(name);
}

export function bindingOf(
  options: ClientAuthenticationOptions | undefined,
): ClientAuthenticationOptions {
  return { issuer: requireObject("options", options ?? {}).issuer };
}

/**
 * Returns a public client: requests contain its `client_id` and no credentials.
 *
 * @param clientId Identifier of the client, not empty.
 * @param options The issuer that the client is bound to.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid or empty.
 * @see RFC 6749, section 3.2.1; RFC 7591, section 2 (`none`).
 *
 * @example Redeem an authorization code as a public client
 * ```ts
 * import {
 *   buildAuthorizationCodeBody,
 *   fetchToken,
 *   publicClient,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { access_token } = await fetchToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   buildAuthorizationCodeBody({
 *     code: "c0de",
 *     codeVerifier: "v3rifier",
 *     redirectUri: "http://127.0.0.1:8123/",
 *   }),
 *   {
 *     client: publicClient("c1", { issuer: "https://as.example" }),
 *     // Replaces the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         new URLSearchParams(body).get("client_id") === "c1"
 *           ? Response.json({ access_token: "t0ken", token_type: "Bearer" })
 *           : Response.json({ error: "invalid_client" }, { status: 401 }),
 *       ),
 *   },
 * );
 * assertEquals(access_token, "t0ken");
 * ```
 *
 * @category Clients
 */
export function publicClient(
  clientId: string,
  options?: ClientAuthenticationOptions,
): ClientAuthentication {
  const binding = bindingOf(options);
  return {
    clientId: requireNonEmptyString("clientId", clientId),
    method: "none",
    ...binding,
    authenticate(request) {
      clear(request, binding);
      request.body.set("client_id", clientId);
    },
  };
}

/**
 * Returns a client that sends `client_id` and `client_secret` in the body.
 *
 * @param clientId Identifier of the client, not empty.
 * @param clientSecret Secret of the client, not empty.
 * @param options The issuer that the credentials are bound to.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid or empty.
 * @see RFC 6749, section 2.3.1.
 *
 * @example Request a token with the secret in the body
 * ```ts
 * import {
 *   buildClientCredentialsBody,
 *   clientSecretPost,
 *   fetchToken,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { access_token } = await fetchToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   buildClientCredentialsBody(),
 *   {
 *     client: clientSecretPost("c1", "s3cret", { issuer: "https://as.example" }),
 *     // Replaces the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         new URLSearchParams(body).get("client_secret") === "s3cret"
 *           ? Response.json({ access_token: "t0ken", token_type: "Bearer" })
 *           : Response.json({ error: "invalid_client" }, { status: 401 }),
 *       ),
 *   },
 * );
 * assertEquals(access_token, "t0ken");
 * ```
 *
 * @category Clients
 */
export function clientSecretPost(
  clientId: string,
  clientSecret: string,
  options?: ClientAuthenticationOptions,
): ClientAuthentication {
  requireNonEmptyString("clientSecret", clientSecret);
  const client = publicClient(clientId, bindingOf(options));
  return {
    ...client,
    method: "client_secret_post",
    authenticate(request) {
      client.authenticate(request);
      request.body.set("client_secret", clientSecret);
    },
  };
}

/** Options of {@linkcode clientSecretBasic}. */
export interface ClientSecretBasicOptions extends ClientAuthenticationOptions {
  /**
   * Form-encodes identifier and secret before they are joined, as RFC 6749 requires.
   * Some servers expect them unencoded. When absent, they are encoded; if that changes
   * them and the server rejects them, they are sent again unencoded.
   */
  formEncode?: boolean | undefined;
}

function formEncoded(value: string): string {
  return new URLSearchParams({ "": value }).toString().slice(1);
}

export function isChangedByEncoding(
  clientId: string,
  clientSecret: string,
): boolean {
  return formEncoded(clientId) !== clientId ||
    formEncoded(clientSecret) !== clientSecret;
}

/**
 * Returns a client that sends its credentials in the `Authorization` header, with the
 * scheme `Basic`.
 *
 * Many servers do not decode the form-encoded credentials that RFC 6749 requires. If
 * encoding changes the credentials and the server rejects them, the request is repeated
 * once unencoded. If that succeeds, later requests of the process stay unencoded. A
 * rejection is `invalid_client`, `unauthorized_client`, a 401 with a Basic challenge,
 * or a 401 or 403 without a body. `formEncode` selects one form.
 *
 * @param clientId Identifier of the client, not empty.
 * @param clientSecret Secret of the client, not empty.
 * @param options The encoding, and the issuer that the credentials are bound to.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid or empty, or an
 * unencoded `clientId` contains a colon.
 * @see RFC 6749, section 2.3.1; RFC 7617, section 2.
 *
 * @example Request a token for a service
 * ```ts
 * import {
 *   buildClientCredentialsBody,
 *   clientSecretBasic,
 *   fetchToken,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { access_token } = await fetchToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   buildClientCredentialsBody({ scopes: ["read"] }),
 *   {
 *     client: clientSecretBasic("c1", "s3cret", { issuer: "https://as.example" }),
 *     // Replaces the server.
 *     fetch: (_url, { headers }) =>
 *       Promise.resolve(
 *         headers.Authorization === `Basic ${btoa("c1:s3cret")}`
 *           ? Response.json({ access_token: "t0ken", token_type: "Bearer" })
 *           : Response.json({ error: "invalid_client" }, { status: 401 }),
 *       ),
 *   },
 * );
 * assertEquals(access_token, "t0ken");
 * ```
 *
 * @category Clients
 */
export function clientSecretBasic(
  clientId: string,
  clientSecret: string,
  options?: ClientSecretBasicOptions,
): ClientAuthentication {
  const client = publicClient(clientId, bindingOf(options));
  const formEncode = options?.formEncode;
  requireNonEmptyString("clientSecret", clientSecret);
  // Unencoded, the secret would start at this colon.
  const hasColon = clientId.includes(":");
  requireArgument(
    formEncode !== false || !hasColon,
    "clientId",
    "without a colon if it is not form-encoded (RFC 7617, section 2)",
  );
  const encode = formEncode === false ? String : formEncoded;
  const pair = `${encode(clientId)}:${encode(clientSecret)}`;
  const credentials = encodeBase64(new TextEncoder().encode(pair));
  const mayBeUnencoded = formEncode === undefined && !hasColon &&
    isChangedByEncoding(clientId, clientSecret);
  return {
    ...client,
    method: "client_secret_basic",
    ...(mayBeUnencoded && {
      unencoded: clientSecretBasic(clientId, clientSecret, {
        issuer: client.issuer,
        formEncode: false,
      }),
    }),
    authenticate(request) {
      clear(request, client);
      request.headers.Authorization = `Basic ${credentials}`;
    },
  };
}
