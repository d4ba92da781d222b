/** A command's session: the kept one, or its replacement. */

import { reaches } from "../fetch/policy/_covered_urls.ts";
import type { Session, StoredSession } from "../session/session.ts";
import type { Host } from "./_host.ts";
import { filesOf, type PlacedSessionStore, storeOf } from "./_place.ts";
import { isCurrent, type ResourceArguments } from "./_wanted_session.ts";

export interface CurrentSession {
  readonly session: Session;
  /** Whether it was kept, and needed neither a refresh nor a sign-in. */
  readonly isKept: boolean;
}

/** Returns the kept session if it is current; otherwise a renewed one. */
async function sessionFrom(
  store: PlacedSessionStore,
  kept: StoredSession | undefined,
  given: ResourceArguments,
  host: Host,
): Promise<CurrentSession> {
  if (kept && isCurrent(kept, given)) return { session: kept, isKept: true };
  // All imports above load in a third of the time of this one.
  const { renewedSession } = await import("./_renewed_session.ts");
  const session = await renewedSession(given, { store, host });
  return { session, isKept: false };
}

/** Refreshes the session, or prompts the user to sign in, if necessary. */
export async function currentSession(
  given: ResourceArguments,
  host: Host,
): Promise<CurrentSession> {
  const store = await storeOf(given, host);
  return await sessionFrom(store, await store.load(), given, host);
}

/**
 * Like `currentSession()`. If none is kept for this URL, returns the session of the
 * longest resource that covers the URL, as in the library.
 */
export async function coveringSession(
  given: ResourceArguments,
  host: Host,
): Promise<CurrentSession> {
  const store = await storeOf(given, host);
  const kept = await store.load();
  if (kept) return await sessionFrom(store, kept, given, host);
  const { sessionCovering, sessionsOf } = await import("./_session_files.ts");
  const sessions = sessionsOf(await filesOf(given, host));
  const found = sessionCovering(given.url, given.account, sessions);
  if (!found) return await sessionFrom(store, undefined, given, host);
  // It is renewed for its own URL.
  const ofFound = { ...given, url: new URL(found.url) };
  const other = await storeOf(ofFound, host, found.path);
  const current = await sessionFrom(other, found.session, ofFound, host);
  if (reaches(current.session.resource, given.url)) return current;
  const { personNeeded } = await import("./_person_needed.ts");
  throw await personNeeded(given, host);
}
