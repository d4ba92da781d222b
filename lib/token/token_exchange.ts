import { requireObject } from "../core/_arguments.ts";
import { stringMember } from "../core/_members.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { errorOf, words } from "../http/_error.ts";
import { requestedOf } from "./_form.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";
import {
  buildTokenExchangeBody,
  type BuildTokenExchangeBodyOptions,
} from "./grant_body.ts";
import {
  type FetchTokenOptions,
  type Token,
  type TokenServer,
  tokenWith,
} from "./token.ts";

/** Options of {@linkcode exchangeToken}. */
export interface ExchangeTokenOptions
  extends FetchTokenOptions, BuildTokenExchangeBodyOptions {}

/**
 * A token from a token exchange.
 *
 * @category Messages of the protocol
 */
export interface ExchangedToken extends Token {
  /** Token type identifier of the issued token, such as {@linkcode TOKEN_TYPE_ACCESS_TOKEN}. */
  issued_token_type: string;
}

/**
 * Exchanges a token for another one, for example for a downstream service. With
 * `actorToken`, the subject delegates to the actor. Otherwise, the holder of the new
 * token impersonates the subject.
 *
 * For an ID-JAG use {@linkcode fetchIdJag}, which also checks its claims.
 *
 * @param serverMetadata Metadata with a `token_endpoint`.
 * @param options The tokens, the requested token, the client authentication, DPoP, and
 * the options of every request.
 * @returns The token of any type, in `access_token`. The `token_type` `N_A` means that
 * it is not an access token.
 * @throws {OAuthClientError} `invalid_response`: `issued_token_type` is missing, or is
 * not the requested type. Other codes as for {@linkcode fetchToken} and
 * {@linkcode buildTokenExchangeBody}.
 * @see RFC 8693, sections 2.1 and 2.2.
 *
 * @example Call a service behind this one on behalf of the user
 * ```ts
 * import {
 *   clientSecretBasic,
 *   exchangeToken,
 *   TOKEN_TYPE_ACCESS_TOKEN,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { access_token } = await exchangeToken(
 *   { issuer: "https://as.example", token_endpoint: "https://as.example/token" },
 *   {
 *     client: clientSecretBasic("orders", "s3cret"),
 *     subjectToken: "t0ken-of-the-user",
 *     subjectTokenType: TOKEN_TYPE_ACCESS_TOKEN,
 *     requestedTokenType: TOKEN_TYPE_ACCESS_TOKEN,
 *     audience: "billing",
 *     // Replaces the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(Response.json({
 *         access_token: `t0ken-for-${new URLSearchParams(body).get("audience")}`,
 *         issued_token_type: TOKEN_TYPE_ACCESS_TOKEN,
 *         token_type: "Bearer",
 *       })),
 *   },
 * );
 * assertEquals(access_token, "t0ken-for-billing");
 * ```
 *
 * @category Messages of the protocol
 */
export async function exchangeToken(
  serverMetadata: ServerMetadata,
  options: ExchangeTokenOptions,
): Promise<ExchangedToken> {
  const { requestedTokenType } = requireObject("options", options);
  const body = buildTokenExchangeBody({
    ...requestedOf(options),
    subjectToken: options.subjectToken,
    subjectTokenType: options.subjectTokenType,
    requestedTokenType,
    audience: options.audience,
    actorToken: options.actorToken,
    actorTokenType: options.actorTokenType,
  });
  const context = grantContextOf(options);
  return await exchangeWith(context, serverMetadata, body);
}

export async function exchangeWith(
  context: GrantContext,
  serverMetadata: TokenServer,
  body: URLSearchParams,
): Promise<ExchangedToken> {
  const requestedTokenType = body.get("requested_token_type");
  const token = await tokenWith(context, serverMetadata, body);
  const issued_token_type = stringMember(token, "issued_token_type");
  const isRequested = issued_token_type !== undefined &&
    (!requestedTokenType || issued_token_type === requestedTokenType);
  if (!isRequested) {
    const { token_endpoint: url } = serverMetadata;
    throw errorOf(
      context,
      "invalid_response",
      words`Token exchange at ${{ url }} returned no issued_token_type, or not \
the requested one`,
      { url },
    );
  }
  return { ...token, issued_token_type };
}
