import { isMembers } from "../core/_members.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { StoredSession } from "../session/session.ts";
import { requireVersion } from "../session/_version.ts";

function hasStrings(value: unknown, ...names: string[]): boolean {
  return isMembers(value) &&
    names.every((name) => typeof value[name] === "string");
}

function hasStringsOrNone(value: unknown, ...names: string[]): boolean {
  return isMembers(value) &&
    names.every((name) => typeof (value[name] ?? "") === "string");
}

function isTokenOrNone(token: unknown): boolean {
  return token === undefined ||
    (hasStrings(token, "access_token", "token_type") &&
      hasStringsOrNone(token, "refresh_token", "id_token", "scope"));
}

/** The token and scopes of a session, or of another API in it. */
function hasGrant({ token, scopes }: Record<string, unknown>): boolean {
  return isTokenOrNone(token) && Array.isArray(scopes) &&
    scopes.every((one) => typeof one === "string");
}

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

/** Checks the members that other functions rely on. */
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
 * Reads a session from an object or JSON. The value is secret: no message contains it,
 * and errors have no `cause`, because `JSON.parse` quotes its input.
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
 * Checks whether a stored value is still the session that `load` returned. Another
 * program may have formatted the JSON differently.
 */
export function isStill(former: StoredSession | null, value: unknown): boolean {
  try {
    const stored = typeof value === "string" ? JSON.parse(value) : value;
    return JSON.stringify(stored ?? null) === JSON.stringify(former);
  } catch {
    return false;
  }
}
