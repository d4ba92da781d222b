import { requireObject } from "../core/_arguments.ts";
import { requireEndpoint } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import {
  authorizationQuery,
  endpointUrl,
} from "./_authorization_parameters.ts";
import type { AuthorizationParameters } from "./authorization_parameters.ts";

/** Options of {@linkcode buildAuthorizationUrl}. */
export interface BuildAuthorizationUrlOptions extends AuthorizationParameters {
  /** Identifier of the client. */
  clientId: string;
  /** Accepts a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
}

/**
 * Builds the URL of an authorization request with PKCE, for the user's browser. Some
 * servers require {@linkcode pushAuthorizationRequest} instead.
 *
 * Store `state`, the code verifier, the redirect URI and the issuer before the user
 * leaves: {@linkcode parseAuthorizationResponse} and the token request need them. The
 * endpoint's own query is kept, unless this function sets a parameter.
 *
 * @throws {OAuthClientError} `unsupported`: no `authorization_endpoint`, or no PKCE
 * with `S256`. `url_refused`: the endpoint is neither https nor http on loopback.
 * `invalid_argument`: an option is missing or invalid, or `parameters` contains one of
 * the parameters that this function sets.
 * @see RFC 6749, section 4.1.1; RFC 7636, section 4.3; RFC 8707, section 2; RFC 9396,
 * section 3.
 *
 * @example Send the user to the authorization endpoint
 * ```ts
 * import {
 *   buildAuthorizationUrl,
 *   createPkcePair,
 *   createState,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { codeChallenge } = await createPkcePair();
 * const url = buildAuthorizationUrl({
 *   issuer: "https://as.example",
 *   authorization_endpoint: "https://as.example/authorize?tenant=t1",
 *   code_challenge_methods_supported: ["S256"],
 * }, {
 *   clientId: "c1",
 *   redirectUri: "http://127.0.0.1:8123/callback",
 *   state: createState(),
 *   codeChallenge,
 *   scopes: ["read"],
 *   resource: "https://api.example/mcp",
 *   parameters: { prompt: "consent" },
 * });
 * assertEquals(url.searchParams.get("tenant"), "t1");
 * assertEquals(url.searchParams.get("code_challenge_method"), "S256");
 * ```
 *
 * @category Messages of the protocol
 */
export function buildAuthorizationUrl(
  serverMetadata: ServerMetadata,
  options: BuildAuthorizationUrlOptions,
): URL {
  const { allowHttp } = requireObject("options", options);
  const endpoint = requireEndpoint(
    serverMetadata,
    "authorization_endpoint",
    allowHttp,
  );
  return endpointUrl(endpoint, authorizationQuery(serverMetadata, options));
}
