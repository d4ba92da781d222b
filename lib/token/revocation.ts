import { requireNonEmptyString } from "../core/_arguments.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import type { FormRequestOptions } from "./form_options.ts";
import { formOf } from "./_form.ts";
import { postForm } from "./_form_post.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";

/** Options of {@linkcode revokeToken}. */
export interface RevokeTokenOptions extends Omit<FormRequestOptions, "dpop"> {
  /** The type of the token, which helps some servers to find the token. */
  tokenTypeHint?:
    | "access_token"
    | "refresh_token"
    | (string & Record<never, never>)
    | undefined;
}

/**
 * Revokes one token; {@linkcode revokeSession} revokes both tokens of a session. With a
 * refresh token, most servers also revoke the access tokens of the same grant.
 *
 * An unknown token counts as revoked. The revocation endpoint may be the token
 * endpoint: some servers distinguish the requests by their parameters.
 *
 * @param serverMetadata Metadata with a `revocation_endpoint`.
 * @param token The access token or the refresh token.
 * @param options The client authentication, and the options of every request.
 * @throws {OAuthClientError} `unsupported`: no `revocation_endpoint`. `oauth_error`:
 * the server returned an error, such as `unsupported_token_type`. `unexpected_status`:
 * with 503 the token is still valid; retry after `retryAfterSeconds`. Other codes as
 * for {@linkcode fetchToken}.
 * @see RFC 7009, sections 2.1 and 2.2.
 *
 * @example Revoke a token when the user signs out
 * ```ts
 * import { publicClient, revokeToken } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const revoked: (string | null)[] = [];
 * await revokeToken(
 *   {
 *     issuer: "https://as.example",
 *     revocation_endpoint: "https://as.example/revoke",
 *   },
 *   "r3fresh",
 *   {
 *     client: publicClient("c1"),
 *     tokenTypeHint: "refresh_token",
 *     // Replaces the server.
 *     fetch: (_url, { body }) => {
 *       revoked.push(new URLSearchParams(body).get("token"));
 *       return Promise.resolve(new Response());
 *     },
 *   },
 * );
 * assertEquals(revoked, ["r3fresh"]);
 * ```
 *
 * @category Messages of the protocol
 */
export async function revokeToken(
  serverMetadata: ServerMetadata,
  token: string,
  options?: RevokeTokenOptions,
): Promise<void> {
  const { tokenTypeHint } = options ?? {};
  const context = grantContextOf(options);
  await revokeWith(context, serverMetadata, token, tokenTypeHint);
}

export async function revokeWith(
  context: GrantContext,
  serverMetadata: ServerMetadata,
  token: string,
  tokenTypeHint: string | undefined,
): Promise<void> {
  const form = formOf({
    token: requireNonEmptyString("token", token),
    token_type_hint: tokenTypeHint,
  });
  // A revocation request contains no proof.
  const unproven = { ...context, dpop: undefined };
  await postForm(unproven, serverMetadata, "revocation_endpoint", form);
}
