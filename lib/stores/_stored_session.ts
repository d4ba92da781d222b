/** How stores read the values that they have written. */

import { isMembers } from "../core/_members.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { StoredSession } from "../session/session.ts";
import { requireVersion } from "../session/_version.ts";

/** Checks whether the members of a value are strings. */
function hasStrings(value: unknown, ...names: string[]): boolean {
  return isMembers(value) &&
    names.every((name) => typeof value[name] === "string");
}

/** Checks whether the members of a value are strings, or absent. */
function hasStringsOrNone(value: unknown, ...names: string[]): boolean {
  return isMembers(value) &&
    names.every((name) => typeof (value[name] ?? "") === "string");
}

/** Checks a token, which may be absent. */
function isTokenOrNone(token: unknown): boolean {
  return token === undefined ||
    (hasStrings(token, "access_token", "token_type") &&
      hasStringsOrNone(token, "refresh_token", "id_token", "scope"));
}

/** Checks the token and the scopes of a session, or of another API in it. */
function hasGrant({ token, scopes }: Record<string, unknown>): boolean {
  return isTokenOrNone(token) && Array.isArray(scopes) &&
    scopes.every((one) => typeof one === "string");
}

/** Checks the members of `internal` that functions rely on. */
function isInternal(value: unknown): boolean {
  return value === undefined ||
    (isMembers(value) && hasStringsOrNone(value, "redirectUriOnRefresh") &&
      (value.resourceIndicator === false ||
        hasStringsOrNone(value, "resourceIndicator")) &&
      (value.idJag === undefined || hasStrings(value.idJag, "assertion")));
}

function isApi(value: unknown): boolean {
  return isMembers(value) && hasGrant(value) && isInternal(value.internal);
}

/** Checks the members that functions rely on when they use a session. */
function isSession(value: unknown): value is StoredSession {
  if (!isMembers(value) || value.version !== 1) return false;
  const { client, token, apis, server, internal } = value;
  return hasStrings(value, "issuer", "resource") &&
    isMembers(server) && hasStringsOrNone(server, "token_endpoint") &&
    (client === undefined
      ? token !== undefined
      : hasStrings(client, "client_id")) &&
    hasGrant(value) && isInternal(internal) &&
    (apis === undefined ||
      (isMembers(apis) && Object.values(apis).every(isApi)));
}

/**
 * Returns a stored session, given as an object or as JSON; undefined without a value.
 * The value is a secret: it is not in the message of an error. An error has no `cause`,
 * as the errors of `JSON.parse` quote their input.
 *
 * @param value The stored value; undefined and `null` mean that there is no session.
 * @param place The store and the key, for messages.
 */
export function readSession(
  value: unknown,
  place: string,
): StoredSession | undefined {
  if (value === undefined || value === null) return undefined;
  let session: unknown = value;
  if (typeof value === "string") {
    try {
      session = JSON.parse(value);
    } catch {
      session = undefined;
    }
  }
  if (isMembers(session)) requireVersion(session, place);
  if (isSession(session)) return session;
  throw new OAuthClientError(
    "invalid_session",
    `Value in ${place} is not a session. It was left as it is; ` +
      "delete it to sign in again",
  );
}

/**
 * Checks whether a stored value, given as an object or as JSON, is what `load` returned,
 * or none if `null`. Another program may have written the JSON in another form.
 */
export function isStill(former: StoredSession | null, value: unknown): boolean {
  try {
    const stored = typeof value === "string" ? JSON.parse(value) : value;
    return JSON.stringify(stored ?? null) === JSON.stringify(former);
  } catch {
    return false;
  }
}
