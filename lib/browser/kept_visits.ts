/** Sign-ins of redirected users, stored until they come back. */

import { isObject } from "../core/_members.ts";
import { parseUrl } from "../core/_url.ts";
import type { PendingAuthorization } from "../flows/sign_in.ts";

/**
 * The part of a `Storage`, such as `sessionStorage`, that
 * {@linkcode createRedirectReceiver} uses.
 */
export interface RedirectStorage {
  /** The number of values. */
  readonly length: number;
  /** Returns the key of a value by its number. */
  key(index: number): string | null;
  /** Returns a value. */
  getItem(key: string): string | null;
  /** Sets a value. */
  setItem(key: string, value: string): void;
  /** Deletes a value. */
  removeItem(key: string): void;
}

/** A stored sign-in. */
export interface KeptVisit {
  readonly pending: PendingAuthorization;
  /** URL of the page that the user left. */
  readonly from: string;
  /** When the user left, in milliseconds since the Unix epoch. */
  readonly at: number;
}

const PREFIX = "oauth-helper:visit:";

/** An older sign-in was abandoned, or its code has expired. */
const LIFETIME_MS = 3_600_000;

function parseVisit(text: string | null): KeptVisit | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    const isVisit = isObject(value) && isObject(value.pending) &&
      typeof value.from === "string" && typeof value.at === "number";
    return isVisit ? value as unknown as KeptVisit : undefined;
  } catch {
    return undefined;
  }
}

/** Deletes old and unreadable sign-ins. */
function removeOldVisits(storage: RedirectStorage, now: number): void {
  const keys = Array.from(
    { length: storage.length },
    (_, index) => storage.key(index) ?? "",
  );
  for (const key of keys) {
    if (!key.startsWith(PREFIX)) continue;
    const { at = 0 } = parseVisit(storage.getItem(key)) ?? {};
    if (Math.abs(now - at) > LIFETIME_MS) storage.removeItem(key);
  }
}

/** Stores a sign-in by its `state`. */
export function keepVisit(storage: RedirectStorage, visit: KeptVisit): void {
  removeOldVisits(storage, visit.at);
  const key = PREFIX + visit.pending.state;
  storage.setItem(key, JSON.stringify(visit));
}

/**
 * Returns and deletes the sign-in that a URL responds to, so that it is used once. The
 * URL must contain its `state` and the path of its redirect URI.
 */
export function takeVisit(
  storage: RedirectStorage,
  url: string,
  now: number,
): KeptVisit | undefined {
  const { origin, pathname, searchParams } = new URL(url);
  const key = PREFIX + (searchParams.get("state") ?? "");
  const visit = parseVisit(storage.getItem(key));
  const redirectUri = parseUrl(visit?.pending.redirectUri ?? "");
  const isHere = redirectUri?.origin === origin &&
    redirectUri.pathname === pathname;
  if (isHere) storage.removeItem(key);
  removeOldVisits(storage, now);
  return isHere ? visit : undefined;
}
