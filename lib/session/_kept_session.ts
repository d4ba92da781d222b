/** The session of a store, also if the store has failed to save it. */

import { tokenOf } from "./_need.ts";
import type { ISession } from "./session.ts";
import type { ISessionStore } from "./store.ts";

/** A session that could not be saved. */
interface IUnsaved {
  readonly session: ISession;
  /** The access token of the session that it replaces in the store. */
  readonly replaced: string | undefined;
}

const unsavedOf = new WeakMap<ISessionStore, IUnsaved>();

/** Returns the session that is in use: the stored one, or one that replaces it. */
export async function loadKept(
  store: ISessionStore,
): Promise<ISession | undefined> {
  const stored = await store.load() ?? undefined;
  const unsaved = unsavedOf.get(store);
  // Another process may have stored a session in the meantime.
  return unsaved && unsaved.replaced === tokenOf(stored)
    ? unsaved.session
    : stored;
}

/** Stores a session, or deletes it. */
export async function saveKept(
  store: ISessionStore,
  session: ISession | undefined,
): Promise<void> {
  await store.save(session);
  unsavedOf.delete(store);
}

/**
 * Stores a refreshed session. If that fails, it is kept in memory: the refresh token of
 * the stored session may be valid no longer, and a second use of it may make the server
 * revoke all tokens of the grant (RFC 9700, section 4.14.2).
 */
export async function saveRefreshed(
  store: ISessionStore,
  session: ISession,
  replaced: string | undefined,
): Promise<void> {
  const unsaved = unsavedOf.get(store);
  try {
    await saveKept(store, session);
  } catch {
    const stored = unsaved ? unsaved.replaced : replaced;
    unsavedOf.set(store, { session, replaced: stored });
  }
}

/** Checks whether a session could not be saved. */
export function hasUnsaved(store: ISessionStore): boolean {
  return unsavedOf.has(store);
}

/** Tries again to save a session. To be called under the lock. */
export async function saveAgain(store: ISessionStore): Promise<void> {
  const unsaved = unsavedOf.get(store);
  if (!unsaved) return;
  const isCurrent =
    tokenOf(await store.load() ?? undefined) === unsaved.replaced;
  if (isCurrent) await saveRefreshed(store, unsaved.session, unsaved.replaced);
  else unsavedOf.delete(store);
}
