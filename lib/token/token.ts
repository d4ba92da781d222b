import { isAuthorizationDetails } from "../core/_authorization_details.ts";
import {
  type Members,
  numberMember,
  stringMember,
  stringsIn,
} from "../core/_members.ts";
import { scopesFrom, scopesWithout } from "../core/_scope_values.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import type { IAuthorizationTokenResponse } from "../core/types.ts";
import type { FormRequestOptions, TokenBodyOptions } from "./form_options.ts";
import { secretsIn } from "../http/_context.ts";
import { words } from "../http/_error.ts";
import type { IResponse } from "../http/_response.ts";
import { type Requested, requestedOf, withFurther } from "./_form.ts";
import { postForm, unusableResponse } from "./_form_post.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";
import { tokenProblem } from "./_usable_token.ts";
import { buildRefreshTokenBody } from "./grant_body.ts";

/**
 * A token response in a uniform shape, plain JSON.
 *
 * @category Messages of the protocol
 */
export interface Token extends IAuthorizationTokenResponse {
  /** When the token expires, in seconds since the Unix epoch. */
  expires_at?: number;
  /** When the refresh token expires, in seconds since the Unix epoch, if known. */
  refresh_expires_at?: number;
  /** Other members of the response. */
  [member: string]: unknown;
}

/** Options of {@linkcode fetchToken}. */
export interface FetchTokenOptions extends FormRequestOptions {
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

/**
 * Lifetimes of a refresh token in seconds: two common names without a standard, and the
 * names of draft-ietf-oauth-refresh-token-expiration. The smallest counts.
 */
const REFRESH_LIMITS = [
  "refresh_token_expires_in",
  "refresh_expires_in",
  "refresh_token_timeout",
  "authorization_expires_in",
];

function toToken(members: Members, now: () => number): Token {
  // A server's `expires_at` is dropped: it has no standard meaning.
  const {
    expires_in: _in,
    expires_at: _at,
    refresh_expires_at: _refreshAt,
    ...token
  } = members;
  // Twitch returns a list.
  token.scope = stringsIn(token.scope)?.join(" ") ?? token.scope;
  for (const name of ["token_type", "refresh_token", "scope", "id_token"]) {
    if (!stringMember(token, name)) delete token[name];
  }
  // Some servers omit the type, although RFC 6749 requires it, and mean Bearer.
  token.token_type ??= "Bearer";
  if (!isAuthorizationDetails(token.authorization_details)) {
    delete token.authorization_details;
  }
  const seconds = numberMember(members, "expires_in");
  if (seconds !== undefined) {
    const expires_in = Math.max(0, seconds);
    token.expires_in = expires_in;
    token.expires_at = Math.floor(now() / 1000 + expires_in);
  }
  // Keycloak returns 0 for no limit.
  const limits = REFRESH_LIMITS.map((name) => numberMember(members, name) ?? 0)
    .filter((limit) => limit > 0);
  if (limits.length > 0) {
    const refreshSeconds = Math.min(...limits);
    token.refresh_expires_at = Math.floor(now() / 1000 + refreshSeconds);
  }
  return token as Token;
}

export type TokenServer = ServerMetadata;

/** Drops scopes that are secrets, because events, for example, show scopes. */
function dropSecretScopes(
  token: Token,
  granted: string,
  secrets: readonly string[],
): void {
  const scopes = scopesFrom(granted);
  const others = scopesWithout(secrets, scopes);
  if (others.length === scopes.length) return;
  if (others.length > 0) token.scope = others.join(" ");
  else delete token.scope;
}

/** The token need not be an access token. */
export async function requestToken(
  context: GrantContext,
  serverMetadata: TokenServer,
  body: URLSearchParams,
): Promise<{ token: Token; response: IResponse }> {
  const { members, response } = await postForm(
    context,
    serverMetadata,
    "token_endpoint",
    body,
  );
  if (!stringMember(members, "access_token")) {
    throw unusableResponse(
      context,
      response,
      "Token",
      words`has no access_token`,
    );
  }
  const token = toToken(members, context.now);
  if (token.scope) {
    const { access_token, refresh_token = "", id_token = "" } = token;
    const headers = { access_token, refresh_token, id_token };
    const secrets = secretsIn({ sent: [...context.sent, { headers }] });
    dropSecretScopes(token, token.scope, secrets);
  }
  return { token, response };
}

export async function tokenWith(
  context: GrantContext,
  serverMetadata: TokenServer,
  body: URLSearchParams,
): Promise<Token> {
  const { token, response } = await requestToken(
    context,
    serverMetadata,
    body,
  );
  const problem = tokenProblem(token, body, Boolean(context.dpop));
  if (problem) throw unusableResponse(context, response, "Token", problem);
  return token;
}

/**
 * Sends a token request with a form, such as {@linkcode buildAuthorizationCodeBody}
 * returns.
 *
 * Deviations of real servers are accepted: an `error` counts at any status; the body
 * may be a form; a missing `token_type` means `Bearer`; `expires_in` may be a string of
 * digits, and counts as 0 if negative. Invalid `expires_in`, invalid
 * `authorization_details`, and members that are `null` are dropped; other members are
 * kept. `expires_at` is set when the response arrives.
 *
 * `token_type` must be `Bearer`, or `DPoP` with the option `dpop`, in any letter case.
 * A token exchange also accepts `N_A` if `issued_token_type` is not an access token.
 *
 * @param serverMetadata Metadata with a `token_endpoint`.
 * @param body The form; it is not changed.
 * @param options The client authentication, DPoP, and the options of every request.
 * @throws {OAuthClientError} `oauth_error`: the server returned an error; see `error`,
 * `error_description` and `errorResponse`. `unexpected_status`: the status is not 2xx,
 * and there is no error. `invalid_response`: no `access_token`, or one that is not
 * bound to the DPoP key, has another type, or cannot be sent in a header field.
 * `issuer_mismatch`: the client is registered with another issuer. `unsupported`: no
 * `token_endpoint`. `url_refused`: the endpoint is neither https nor http on loopback.
 * `redirect_refused`. `network_error`, `timeout`, `response_too_large`.
 * `invalid_argument`: an argument is invalid.
 * @see RFC 6749, sections 5.1 and 5.2; RFC 9449, section 5.
 *
 * @example Request a token with the client credentials grant
 * ```ts
 * import {
 *   buildClientCredentialsBody,
 *   clientSecretBasic,
 *   fetchToken,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const token = await fetchToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   buildClientCredentialsBody({ scopes: ["read"] }),
 *   {
 *     client: clientSecretBasic("c1", "s3cret", { issuer: "https://as.example" }),
 *     now: () => 1_000_000,
 *     // Replaces the server.
 *     fetch: () =>
 *       Promise.resolve(
 *         Response.json({ access_token: "t0ken", expires_in: "3600" }),
 *       ),
 *   },
 * );
 * assertEquals(token.token_type, "Bearer");
 * assertEquals(token.expires_at, 4600);
 * ```
 *
 * @category Messages of the protocol
 */
export async function fetchToken(
  serverMetadata: ServerMetadata,
  body: URLSearchParams,
  options?: FetchTokenOptions,
): Promise<Token> {
  return await tokenWith(grantContextOf(options), serverMetadata, body);
}

/** Options of {@linkcode refreshToken}. */
export interface RefreshTokenOptions
  extends FetchTokenOptions, TokenBodyOptions {}

/**
 * Refreshes a token with your own metadata and client; {@linkcode refreshSession}
 * refreshes a session, which contains them. Members that the response omits are taken
 * from the old token, such as the refresh token of a server that does not rotate it.
 *
 * If {@linkcode adviceFor} returns `reauthorize` for the failure, such as
 * `invalid_grant`, the refresh token can no longer be used. After `retry`, it may still
 * be valid. Two concurrent refreshes with one refresh token can make the server revoke
 * all of the user's tokens: {@linkcode createAuthorizedFetch} makes one at a time.
 *
 * @param serverMetadata Metadata with a `token_endpoint`.
 * @param token The result of {@linkcode fetchToken}, with its `refresh_token`.
 * @param options The client authentication, scopes, and the options of every request.
 * @throws {OAuthClientError} `invalid_argument`: no `refresh_token`. Other codes as for
 * {@linkcode fetchToken}.
 * @see RFC 6749, section 6; RFC 9700, section 4.14.2.
 *
 * @example Refresh at a server that does not rotate refresh tokens
 * ```ts
 * import { publicClient, refreshToken } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const token = await refreshToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   { refresh_token: "r1" },
 *   {
 *     client: publicClient("c1"),
 *     fetch: () => Promise.resolve(Response.json({ access_token: "new" })),
 *   },
 * );
 * assertEquals([token.access_token, token.refresh_token], ["new", "r1"]);
 * ```
 *
 * @category Messages of the protocol
 */
export async function refreshToken(
  serverMetadata: ServerMetadata,
  token: Pick<
    Token,
    | "refresh_token"
    | "refresh_expires_at"
    | "scope"
    | "authorization_details"
  >,
  options?: RefreshTokenOptions,
): Promise<Token> {
  const context = grantContextOf(options);
  return await refreshWith(
    context,
    serverMetadata,
    token,
    requestedOf(options ?? {}),
  );
}

export async function refreshWith(
  context: GrantContext,
  serverMetadata: TokenServer,
  token: Parameters<typeof refreshToken>[1],
  requested: Requested,
  further?: Readonly<Record<string, string>>,
): Promise<Token> {
  const { refresh_token = "", refresh_expires_at } = token;
  const form = buildRefreshTokenBody({
    ...requested,
    refreshToken: refresh_token,
  });
  const body = withFurther(form, further);
  const fresh = await tokenWith(context, serverMetadata, body);
  // A response without a scope grants the requested one (RFC 6749, section 5.1).
  const scope = body.get("scope") ?? token.scope;
  const details = requested.authorizationDetails?.length
    ? [...requested.authorizationDetails]
    : token.authorization_details;
  const isSame = (fresh.refresh_token ?? refresh_token) === refresh_token;
  const keepsExpiry = isSame && refresh_expires_at !== undefined;
  return {
    refresh_token,
    ...(keepsExpiry && { refresh_expires_at }),
    ...(scope && { scope }),
    ...(details && { authorization_details: details }),
    ...fresh,
  };
}
