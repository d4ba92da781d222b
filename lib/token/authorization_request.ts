/**
 * The authorization request that a user's browser carries, and its answer
 * (RFC 6749, section 4.1).
 *
 * @module
 */

import {
  requireObject,
  requireText,
  requireTextMembers,
  requireTexts,
  textsIn,
} from "../core/_arguments.ts";
import { requireEndpoint } from "../core/_endpoint.ts";
import { quoteServerText } from "../http/_response.ts";
import { parseUrl, webUrl } from "../core/_url.ts";
import { AUTH_SCOPE_SEPARATOR } from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import type {
  IAuthorizationAuthorizeResponse,
  IAuthorizationServerMetadata,
} from "../core/types.ts";

/** Options of {@linkcode buildAuthorizationUrl}. */
export interface IBuildAuthorizationUrlOptions {
  /** Identifier of the client. */
  clientId: string;
  /** Where the user comes back to. */
  redirectUri: string;
  /** From {@linkcode createState}. */
  state: string;
  /** From {@linkcode createPkcePair}. */
  codeChallenge: string;
  /** Scopes to ask for; the server chooses when undefined or empty. */
  scopes?: readonly string[] | undefined;
  /**
   * Resource indicator, byte for byte as the resource's metadata has it; false
   * for a server that refuses the parameter.
   */
  resource?: string | false | undefined;
  /** Goes on with a server that does not say which PKCE methods it knows. */
  assumePkce?: boolean | undefined;
  /** Takes an http endpoint that is not on loopback. */
  allowHttp?: boolean | undefined;
  /** Further parameters; none can replace one of the above. */
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** Fails unless the server knows PKCE by `S256`. */
function requirePkce(
  { issuer, code_challenge_methods_supported }: IAuthorizationServerMetadata,
  assumePkce: boolean | undefined,
): void {
  const listed = textsIn(code_challenge_methods_supported);
  const isKnown = listed?.includes("S256") ?? assumePkce;
  if (!isKnown) {
    throw new OAuthClientError(
      "unsupported",
      `Authorization server ${issuer} does not list the PKCE method S256 in ` +
        "code_challenge_methods_supported" +
        (listed ? "" : "; where it is known to work, set assumePkce"),
    );
  }
}

/**
 * The address to open in the user's browser for the code grant with PKCE.
 *
 * Record `state`, the PKCE verifier and the server's metadata before the user
 * leaves: {@linkcode parseAuthorizationResponse} and the token request need them.
 * Parameters that the endpoint's own address has are kept, but for ours, which
 * are replaced, or left out where there is no value for them.
 *
 * @throws {OAuthClientError} `unsupported`: no `authorization_endpoint`, or no
 * PKCE by `S256`. `url_refused`: the endpoint is not https, nor http on loopback.
 * `invalid_argument`: an option is missing or of the wrong type.
 * @see RFC 6749, section 4.1.1; RFC 7636, section 4.3; RFC 8707, section 2.
 *
 * @example Send the user off
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
 *   response_types_supported: ["code"],
 *   code_challenge_methods_supported: ["S256"],
 * }, {
 *   clientId: "c1",
 *   redirectUri: "http://127.0.0.1:8123/callback",
 *   state: createState(),
 *   codeChallenge,
 *   scopes: ["read"],
 *   resource: "https://api.example/mcp",
 * });
 * assertEquals(url.searchParams.get("tenant"), "t1");
 * assertEquals(url.searchParams.get("code_challenge_method"), "S256");
 * ```
 */
export function buildAuthorizationUrl(
  serverMetadata: IAuthorizationServerMetadata,
  options: IBuildAuthorizationUrlOptions,
): URL {
  const { allowHttp, resource, scopes = [] } = requireObject(
    "options",
    options,
  );
  requireObject("serverMetadata", serverMetadata);
  const endpoint = "authorization_endpoint";
  const url = new URL(requireEndpoint(serverMetadata, endpoint, allowHttp));
  requirePkce(serverMetadata, options.assumePkce);
  // Kept apart from the URL, which would parse itself anew at each change.
  const query = new URLSearchParams(url.search);
  const { parameters = {} } = options;
  requireTextMembers("parameters", parameters);
  for (const [name, value] of Object.entries(parameters)) {
    if (value) query.set(name, value);
  }
  const own = {
    response_type: "code",
    client_id: requireText("clientId", options.clientId),
    redirect_uri: requireText("redirectUri", options.redirectUri),
    state: requireText("state", options.state),
    code_challenge: requireText("codeChallenge", options.codeChallenge),
    code_challenge_method: "S256",
    scope: requireTexts("scopes", scopes).join(AUTH_SCOPE_SEPARATOR),
    resource: resource ? requireText("resource", resource) : "",
  };
  for (const [name, value] of Object.entries(own)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  url.search = query.toString();
  // RFC 6749, section 3.1: an endpoint has no fragment.
  url.hash = "";
  return url;
}

/** What was recorded when the authorization request was sent. */
export interface IExpectedAuthorizationResponse {
  /** The request's `state`. */
  state: string;
  /** Metadata of the server that the user was sent to. */
  serverMetadata: IAuthorizationServerMetadata;
}

/**
 * Who sent the answer (RFC 9207, section 2.4). All four cases: a server that
 * promises `iss` must send its own; one that does not may send its own or none.
 */
function requireIssuer(
  iss: string | undefined,
  {
    issuer,
    authorization_response_iss_parameter_supported: isPromised,
  }: IAuthorizationServerMetadata,
): void {
  if (iss === issuer || (iss === undefined && isPromised !== true)) return;
  throw new OAuthClientError(
    "issuer_mismatch",
    `Authorization response is not from ${issuer}: its iss ` +
      (iss === undefined
        ? "is missing, though the server promises one"
        : "names another issuer"),
  );
}

/**
 * Reads the address that the user came back to.
 *
 * Checks in this order: no parameter comes twice; `state` is the one sent; `iss`
 * is the recorded issuer, compared as plain text; then whether the server
 * refused. Of an answer that fails a check nothing is shown or acted on.
 *
 * @param callbackUrl The whole address, or its query.
 * @param expected What was recorded with the request.
 * @returns `code` for the token request, and `state`.
 * @throws {OAuthClientError} `invalid_authorization_response`: a parameter comes
 * twice, `state` differs, or neither `code` nor `error` is there.
 * `issuer_mismatch`: `iss` is wrong or missing. `server_error`: the server or the
 * user refused; see `error`, `error_description`, `error_uri`.
 * @see RFC 6749, sections 4.1.2 and 10.12; RFC 9207, section 2.4.
 *
 * @example The user comes back
 * ```ts
 * import { parseAuthorizationResponse } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { code } = parseAuthorizationResponse(
 *   "http://127.0.0.1:8123/callback?code=c0de&state=s1&iss=https://as.example",
 *   {
 *     state: "s1",
 *     serverMetadata: {
 *       issuer: "https://as.example",
 *       response_types_supported: ["code"],
 *     },
 *   },
 * );
 * assertEquals(code, "c0de");
 * ```
 */
export function parseAuthorizationResponse(
  callbackUrl: string | URL | URLSearchParams,
  expected: IExpectedAuthorizationResponse,
): IAuthorizationAuthorizeResponse {
  const invalid = (problem: string) =>
    new OAuthClientError(
      "invalid_authorization_response",
      `Authorization response ${problem}`,
    );
  const state = requireText("expected.state", expected?.state);
  const { serverMetadata } = expected;
  requireText("serverMetadata.issuer", serverMetadata?.issuer);
  const parameters = queryOf(callbackUrl);
  const names = [...parameters.keys()];
  if (new Set(names).size < names.length) {
    throw invalid("has a parameter more than once");
  }
  const read = (name: string) => parameters.get(name) ?? undefined;
  const code = read("code");
  const error = read("error");
  const iss = read("iss");
  if (read("state") !== state) {
    throw invalid("does not carry the state of the request");
  }
  requireIssuer(iss, serverMetadata);
  if (error !== undefined) {
    const { issuer } = serverMetadata;
    const description = read("error_description");
    throw new OAuthClientError(
      "server_error",
      `Authorization at ${issuer} was refused: ` +
        quoteServerText(description ? `${error}: ${description}` : error),
      {
        error,
        error_description: description,
        error_uri: webUrl(read("error_uri")),
      },
    );
  }
  if (!code) throw invalid("has neither code nor error");
  return { code, state };
}

function queryOf(source: string | URL | URLSearchParams): URLSearchParams {
  if (source instanceof URLSearchParams) return source;
  const text = String(source);
  const url = parseUrl(text);
  if (url) return url.searchParams;
  // A path with a query, or a query; a value in it may hold a question mark.
  const query = /^[^?=#&]*\?/.test(text)
    ? text.slice(text.indexOf("?") + 1)
    : text;
  return new URLSearchParams(query.replace(/#.*$/s, ""));
}
