/** When the user may be asked to sign in. */

import { scopesWithout } from "../../core/_scope_values.ts";
import { adviceFor } from "../../core/advice.ts";
import { isOAuthClientError } from "../../core/errors.ts";
import { mergeScopes } from "../../core/scopes.ts";
import { fork, secretsIn } from "../../http/_context.ts";
import { errorOf, words } from "../../http/_error.ts";
import { type INeed, tokensOf } from "./_need.ts";
import type { IRenewal } from "../_fetch_context.ts";
import type { ISession } from "../../session/session.ts";

/**
 * Fails with `sign_in_required` if a session requires the user, who must not be asked
 * now. What is missing is kept for `authorize()`.
 */
export function requireAsking(
  need: INeed,
  stored: ISession | undefined,
  { store, resource, discovery, context, asking, authorize }: IRenewal,
): void {
  if (authorize?.needsUser === false || need.isWanted) return;
  const { memory } = store;
  memory.lacks(asking, need);
  const cause = memory.leftWith(store.last);
  if (asking.signInOn === "call" && cause === undefined) return;
  const own = fork(context, [
    ...need.sent ?? [],
    ...tokensOf(stored, need.refused),
  ]);
  const required = need.requiredScopes ?? need.challengedScope;
  const scopes = scopesWithout(
    secretsIn(own),
    mergeScopes(stored?.scopes, required),
  );
  const { authorizationServer, serverMetadata } = discovery;
  const message = words`The user has to sign in for ${{
    url: resource,
  }}: call authorize()`;
  throw errorOf(own, "sign_in_required", message, {
    reason: need.reason,
    resource: resource.href,
    issuer: serverMetadata?.issuer ?? stored?.issuer ??
      (authorizationServer && String(authorizationServer)),
    ...(scopes.length > 0 && { scopes }),
    cause,
  });
}

/** Codes of errors after which the next sign-in may succeed, whatever the advice is. */
const UNFINISHED_CODES: readonly string[] = [
  "popup_blocked",
  "popup_closed",
  "redirected",
  // Such as by the network's own sign-in page.
  "redirect_refused",
];

/**
 * Checks whether the user has seen a sign-in for nothing: left it, or come back with an
 * error that the next sign-in would end with too. A request that has an
 * `OAuthClientErrorRequest` is rejected by the server.
 */
export function isLeft(error: unknown, isShown: boolean): boolean {
  if (isOAuthClientError(error)) {
    const { code, request } = error;
    return code === "expired" ||
      (error.error === "access_denied" && request === undefined) ||
      (isShown && !UNFINISHED_CODES.includes(code) &&
        adviceFor(error).action !== "retry");
  }
  return isShown && error instanceof Error && error.name === "AbortError";
}
