/**
 * The token request (RFC 6749, section 3.2), and what becomes of its answer.
 *
 * @module
 */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import { joinScopes } from "./_form.ts";
import {
  postForm,
  type ReplyMembers,
  secondsMember,
  textMember,
} from "./_form_request.ts";
import type { IFormRequestOptions } from "../client/authentication.ts";
import { quoteServerText } from "../http/_response.ts";
import { getClaimsFromJWT } from "../core/jwt_claims.ts";
import { buildRefreshTokenBody, type ITokenBodyOptions } from "./grant_body.ts";
import type {
  IAuthorizationServerMetadata,
  IAuthorizationTokenResponse,
} from "../core/types.ts";

/** A token endpoint's answer, made fit for keeping. */
export interface IToken extends IAuthorizationTokenResponse {
  /** When the token expires, in seconds since the Unix epoch. */
  expires_at?: number;
  /** Whatever else the server said. */
  [member: string]: unknown;
}

/** Options of {@linkcode fetchToken}. */
export interface IFetchTokenOptions extends IFormRequestOptions {
  /** The time in milliseconds since the Unix epoch; `Date.now` when absent. */
  now?: (() => number) | undefined;
}

/** The members of an answer, with those repaired that servers get wrong. */
function toToken(members: ReplyMembers, now: () => number): IToken {
  const { expires_in: _, expires_at, refresh_token, scope, id_token, ...rest } =
    members;
  const expiresIn = secondsMember(members, "expires_in");
  const texts = Object.entries({ refresh_token, scope, id_token })
    .filter(([, value]) => typeof value === "string" && value !== "");
  return {
    ...rest,
    ...(Number.isFinite(expires_at) && { expires_at: expires_at as number }),
    access_token: textMember(members, "access_token") ?? "",
    // RFC 6749 requires a type, some servers forget it, and all mean this one.
    token_type: textMember(members, "token_type") || "Bearer",
    ...Object.fromEntries(texts),
    ...(expiresIn !== undefined && {
      expires_in: expiresIn,
      expires_at: Math.floor(now() / 1000 + expiresIn),
    }),
  };
}

/**
 * Asks for a token with a body of one of the `build...Body` functions.
 *
 * The answer is read as real servers give it: an `error` counts at any status; a
 * form is read as a form; a missing `token_type` means `Bearer`; `expires_in` may
 * be a number in digits, and is dropped when it is neither; members that are
 * `null` are dropped; members unknown here are kept. `expires_at` is stamped on
 * receipt.
 *
 * @param serverMetadata The server with its `token_endpoint`.
 * @param body The form; it is not changed.
 * @param options The client's authentication, DPoP, and what every request takes.
 * @throws {OAuthClientError} `server_error`: the server refused; see `error`,
 * `error_description` and `errorResponse`. `unexpected_status`: it failed without
 * a reason. `invalid_response`: no `access_token`, or one that is not bound to the
 * DPoP key. `issuer_mismatch`: the client belongs to another issuer.
 * `unsupported`: no `token_endpoint`. `url_refused`: the endpoint is not https, nor
 * http on loopback. `network_error`: no reply came. `invalid_argument`: an argument
 * has the wrong type.
 * @see RFC 6749, sections 5.1 and 5.2; RFC 9449, section 5.
 *
 * @example A service asks for its own token
 * ```ts
 * import {
 *   buildClientCredentialsBody,
 *   clientSecretBasic,
 *   fetchToken,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const token = await fetchToken(
 *   {
 *     issuer: "https://as.example",
 *     token_endpoint: "https://as.example/token",
 *     response_types_supported: [],
 *   },
 *   buildClientCredentialsBody({ scopes: ["read"] }),
 *   {
 *     client: clientSecretBasic("c1", "s3cret", { issuer: "https://as.example" }),
 *     now: () => 1_000_000,
 *     // Stands in for the server.
 *     fetch: () =>
 *       Promise.resolve(
 *         Response.json({ access_token: "t0ken", expires_in: "3600" }),
 *       ),
 *   },
 * );
 * assertEquals(token.token_type, "Bearer");
 * assertEquals(token.expires_at, 4600);
 * ```
 */
export async function fetchToken(
  serverMetadata: IAuthorizationServerMetadata,
  body: URLSearchParams,
  options: IFetchTokenOptions = {},
): Promise<IToken> {
  const { now = Date.now, ...formOptions } = requireObject("options", options);
  // Looked at now, and not once there is a token to lose.
  requireArgument(typeof now === "function", "options.now", "a function");
  return await postForm(
    serverMetadata,
    "token_endpoint",
    body,
    formOptions,
    (members, reply, url) => {
      if (!textMember(members, "access_token")) {
        throw reply.error(
          "invalid_response",
          `The reply of ${quoteServerText(url)} holds no access_token`,
        );
      }
      const token = toToken(members, now);
      // RFC 9449, section 5: such a token would be of use to whoever finds it.
      // `N_A` comes with what is no access token (RFC 8693, section 2.2.1).
      if (options.dpop && !/^(dpop|n_a)$/i.test(token.token_type)) {
        throw reply.error(
          "invalid_response",
          `The reply of ${
            quoteServerText(url)
          } holds a token that is not bound to the DPoP ` +
            `key: its token_type is ${reply.quote(token.token_type)}`,
        );
      }
      return token;
    },
  );
}

/** Options of {@linkcode refreshToken}. */
export interface IRefreshTokenOptions
  extends IFetchTokenOptions, ITokenBodyOptions {}

/**
 * Refreshes a token. What the answer leaves out, the old one supplies: a server
 * that does not rotate returns no refresh token, and the old one stays in use.
 *
 * An `invalid_grant` in the error's `error` means that the refresh token is of no
 * more use; a `network_error` or an `unexpected_status` says nothing about it.
 * Two refreshes with one token at a time can cost both: see
 * {@linkcode createSingleFlight}.
 *
 * @param token What {@linkcode fetchToken} returned, with its `refresh_token`.
 * @throws {OAuthClientError} `invalid_argument`: no `refresh_token`. Else as
 * {@linkcode fetchToken}.
 * @see RFC 6749, section 6; RFC 9700, section 4.14.2.
 *
 * @example Refresh at a server that does not rotate
 * ```ts
 * import { publicClient, refreshToken } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const token = await refreshToken(
 *   {
 *     issuer: "https://as.example",
 *     token_endpoint: "https://as.example/token",
 *     response_types_supported: [],
 *   },
 *   { refresh_token: "r1" },
 *   {
 *     client: publicClient("c1"),
 *     fetch: () => Promise.resolve(Response.json({ access_token: "new" })),
 *   },
 * );
 * assertEquals([token.access_token, token.refresh_token], ["new", "r1"]);
 * ```
 */
export async function refreshToken(
  serverMetadata: IAuthorizationServerMetadata,
  token: Pick<IToken, "refresh_token" | "scope">,
  options: IRefreshTokenOptions = {},
): Promise<IToken> {
  const { refresh_token = "", scope } = requireObject("token", token);
  const { resource, scopes, parameters, ...rest } = requireObject(
    "options",
    options,
  );
  const body = buildRefreshTokenBody({
    refreshToken: refresh_token,
    resource,
    scopes,
    parameters,
  });
  const fresh = await fetchToken(serverMetadata, body, rest);
  // RFC 6749, section 5.1: no scope in the answer means the one asked for.
  const asked = scopes?.length ? joinScopes(scopes) : scope;
  return { refresh_token, ...(asked && { scope: asked }), ...fresh };
}

/** Options of {@linkcode isTokenExpired}. */
export interface IIsTokenExpiredOptions {
  /** Seconds before the end at which a token counts as expired; 30 when absent. */
  skew?: number | undefined;
  /**
   * Takes the `exp` of an access token that is a JWT as a hint where the server
   * did not say how long the token lives.
   */
  readJwt?: boolean | undefined;
  /** The time in milliseconds since the Unix epoch; `Date.now` when absent. */
  now?: (() => number) | undefined;
}

function jwtExpiry(accessToken: string): unknown {
  try {
    return getClaimsFromJWT(accessToken).exp;
  } catch {
    return undefined;
  }
}

/**
 * Whether a token has expired or is about to. A token of unknown lifetime counts
 * as good: the resource will tell.
 *
 * @see RFC 6749, section 5.1 (`expires_in`).
 *
 * @example Before a call
 * ```ts
 * import { isTokenExpired } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const token = { access_token: "t", expires_at: 1000 };
 * assertEquals(isTokenExpired(token, { now: () => 900_000 }), false);
 * assertEquals(isTokenExpired(token, { now: () => 980_000 }), true);
 * ```
 */
export function isTokenExpired(
  token: Pick<IToken, "access_token" | "expires_at">,
  options: IIsTokenExpiredOptions = {},
): boolean {
  const { skew = 30, readJwt = false, now = Date.now } = requireObject(
    "options",
    options,
  );
  const { access_token, expires_at } = requireObject("token", token);
  const expiresAt = typeof expires_at === "number"
    ? expires_at
    : readJwt && jwtExpiry(access_token);
  return typeof expiresAt === "number" && now() / 1000 >= expiresAt - skew;
}
