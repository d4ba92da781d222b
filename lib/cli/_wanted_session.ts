/** Whether a command can use the kept session. */

import { isSameIssuer } from "../core/_issuer.ts";
import { missingScopes } from "../core/scopes.ts";
import { bearerOf, expires, timesOf } from "../session/_bearer.ts";
import { reaches } from "../fetch/policy/_covered_urls.ts";
import type { Session, StoredSession } from "../session/session.ts";
import type { Arguments } from "./_arguments.ts";
import { ExitCode, Failure, usageError } from "./_failure.ts";

export type ResourceArguments = Arguments & { readonly url: URL };

export function requireUrl({ url, ...given }: Arguments): ResourceArguments {
  if (!url) throw usageError("A URL is required");
  return { ...given, url };
}

/**
 * Removes a token's lifetime if it exceeds the required validity. Otherwise, the fetch
 * would renew only in its last quarter, which spares short-lived tokens.
 */
export function withMinTtl(
  session: StoredSession,
  minTtlSeconds: number,
): StoredSession {
  const { expires_in, ...token } = session.token ?? {};
  const isLong = expires_in !== undefined && minTtlSeconds < expires_in;
  return isLong ? { ...session, token: token as Session["token"] } : session;
}

export function bearerFor(
  { idToken }: Pick<Arguments, "idToken">,
): "id_token" | "access_token" {
  return idToken ? "id_token" : "access_token";
}

export function tokenFor(
  { token }: Session,
  given: Pick<Arguments, "idToken">,
): string {
  const value = token[bearerFor(given)];
  if (value !== undefined) return value;
  throw new Failure(
    ExitCode.Failed,
    "The session has no ID token",
    "Sign in with --scope openid, and the scopes that the API needs.",
  );
}

/** Returns a token's expiry in seconds since 1970, if known. */
export function expiryFor(
  { token }: Session,
  { idToken }: Pick<Arguments, "idToken">,
): number | undefined {
  return idToken ? timesOf(token.id_token).expiry : token.expires_at;
}

/** Checks whether the user no longer wants a session. */
export function isUnwanted(
  session: StoredSession,
  { fresh, scopes, clientId, issuer }: Arguments,
): boolean {
  return fresh || missingScopes(scopes?.join(" "), session.scopes).length > 0 ||
    (clientId !== undefined && clientId !== session.client?.client_id) ||
    (issuer !== undefined && !isSameIssuer(issuer, session.issuer));
}

/** Checks whether the kept session can be used unchanged. */
export function isCurrent(
  session: StoredSession,
  given: ResourceArguments,
): session is Session {
  const { url, minTtlSeconds, serverMetadata } = given;
  const rules = {
    bearer: bearerFor(given),
    skewSeconds: minTtlSeconds,
    now: Date.now,
  } as const;
  return serverMetadata === undefined && !isUnwanted(session, given) &&
    reaches(session.resource, url) && bearerOf(session, rules) !== undefined &&
    !expires(withMinTtl(session, minTtlSeconds), "soon", rules);
}
