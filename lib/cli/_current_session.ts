/** The session that a command uses: the kept one, or one that replaces it. */

import type { ISession } from "../session/session.ts";
import type { IHost } from "./_host.ts";
import { storeOf } from "./_place.ts";
import { isCurrent, type ResourceArguments } from "./_wanted_session.ts";

/** The session of a command. */
export interface ICurrentSession {
  readonly session: ISession;
  /** Whether it was kept, and needed neither a refresh nor a sign-in. */
  readonly isKept: boolean;
}

/** Returns the session; refreshes it, or has the user sign in, where necessary. */
export async function currentSession(
  given: ResourceArguments,
  host: IHost,
): Promise<ICurrentSession> {
  const store = await storeOf(given, host);
  const session = await store.load();
  if (session && isCurrent(session, given)) {
    return { session, isKept: true };
  }
  // All imports above load in a third of the time of this one.
  const { renewedSession } = await import("./_renewed_session.ts");
  return {
    session: await renewedSession(given, { store, host }),
    isKept: false,
  };
}
