import { requireNonEmptyString, requireObject } from "../core/_arguments.ts";
import { GRANT_TYPE_CIBA } from "../core/constants.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { clientIdOf } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import { errorOf, literal, words } from "../http/_error.ts";
import { formWith, requestedOf, withFurther } from "./_form.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";
import { type Polled, pollForToken, requireExpiry } from "./_polling.ts";
import type { BackchannelAuthentication } from "./backchannel_authentication.ts";
import type { TokenBodyOptions } from "./form_options.ts";
import { checkIdToken } from "./id_token.ts";
import type { PollOptions } from "./poll_options.ts";
import type { FetchTokenOptions, Token, TokenServer } from "./token.ts";

const AUTH_REQ_ID_CLAIM = "urn:openid:params:jwt:claim:auth_req_id";

/** Options of {@linkcode pollBackchannelToken}. */
export interface PollBackchannelTokenOptions
  extends FetchTokenOptions, TokenBodyOptions, PollOptions {
  /** The client and its credentials, as in the authentication request. */
  client: Client;
}

/**
 * Polls for the token until the user has responded, with the same intervals and limits
 * as {@linkcode pollDeviceToken}.
 *
 * The response must contain an ID token that passes {@linkcode checkIdToken}. Its claim
 * `urn:openid:params:jwt:claim:auth_req_id`, if present, must match the request. A
 * server may keep a poll open until the user responds; CIBA suggests 30 seconds. Such a
 * server needs a longer `timeoutMs`.
 *
 * @param serverMetadata Metadata with a `token_endpoint`.
 * @param authentication The result of {@linkcode requestBackchannelAuthentication}.
 * @param options The same client authentication; `signal` stops polling at once.
 * @throws {OAuthClientError} `expired`: the request has expired. `oauth_error`: the
 * server rejected the request, with `access_denied` if the user declined.
 * `invalid_id_token`: there is no ID token, or a check fails. Other codes as for
 * {@linkcode fetchToken}.
 * @see OpenID Connect CIBA Core 1.0, sections 10.1 and 11.
 *
 * @example Poll until the user has responded
 * ```ts
 * import {
 *   clientSecretBasic,
 *   isOAuthClientError,
 *   pollBackchannelToken,
 * } from "@oauth-helper/client";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const responses = [
 *   Response.json({ error: "authorization_pending" }, { status: 400 }),
 *   Response.json({ error: "access_denied" }, { status: 400 }),
 * ];
 * try {
 *   const token = await pollBackchannelToken(
 *     {
 *       issuer: "https://as.example",
 *       token_endpoint: "https://as.example/token",
 *     },
 *     {
 *       auth_req_id: "r1",
 *       expires_in: 120,
 *       expires_at: Math.floor(Date.now() / 1000) + 120,
 *     },
 *     {
 *       client: clientSecretBasic("agent", "s3cret"),
 *       // These replace the server and the timer.
 *       fetch: () => Promise.resolve(responses.shift()!),
 *       delay: () => Promise.resolve(),
 *     },
 *   );
 *   console.log(token.id_token);
 * } catch (error) {
 *   // The user has refused.
 *   assert(isOAuthClientError(error));
 *   assertEquals(error.error, "access_denied");
 * }
 * ```
 *
 * @category Messages of the protocol
 */
export async function pollBackchannelToken(
  serverMetadata: ServerMetadata,
  authentication: BackchannelAuthentication,
  options: PollBackchannelTokenOptions,
): Promise<Token> {
  const { client, onPending, delay } = options;
  requireObject("options.client", client);
  return await backchannelTokenWith(
    { ...grantContextOf(options), client },
    serverMetadata,
    authentication,
    { requested: requestedOf(options), onPending, delay },
  );
}

export async function backchannelTokenWith(
  context: GrantContext & { readonly client: Client },
  serverMetadata: TokenServer,
  authentication: BackchannelAuthentication,
  { onPending, delay, requested, further }: Polled,
): Promise<Token> {
  const { auth_req_id, expires_at, interval } = requireObject(
    "authentication",
    authentication,
  );
  requireExpiry("authentication.expires_at", expires_at);
  const form = formWith({
    grant_type: GRANT_TYPE_CIBA,
    auth_req_id: requireNonEmptyString("auth_req_id", auth_req_id),
  }, requested);
  const body = withFurther(form, further);
  const { issuer } = serverMetadata;
  const token = await pollForToken(context, serverMetadata, body, {
    expires_at,
    interval,
    onPending,
    delay,
    expiry: words`The authentication request at ${{
      url: issuer,
    }} expired before the user had responded`,
  });
  const invalid = (problem: string) =>
    errorOf(
      context,
      "invalid_id_token",
      words`Invalid ID token: ${literal(problem)}`,
    );
  if (token.id_token === undefined) throw invalid("it is missing");
  const claims = await checkIdToken(token.id_token, {
    issuer,
    clientId: clientIdOf(context.client),
    accessToken: token.access_token,
    now: context.now,
  });
  const { [AUTH_REQ_ID_CLAIM]: id = auth_req_id } = claims;
  if (id === auth_req_id) return token;
  throw invalid("its auth_req_id does not match the request");
}
