/** Whether a sign-in may use the stored session's client, and its mark. */

import { isSameIssuer } from "../core/_issuer.ts";
import { underSignal } from "../http/_clock.ts";
import { isKnownWith } from "../token/client_check.ts";
import type { Need } from "./policy/_need.ts";
import type { ApiContext } from "./_api_context.ts";
import { loadStored } from "./keeper/_session_keeper.ts";
import { replaceSession } from "./_usable_session.ts";
import {
  isClientRefused,
  type PendingMark,
  showsClient,
} from "../flows/_pending_mark.ts";
import type { PendingAuthorization } from "../flows/pending_authorization.ts";
import { type Internal, internalOf } from "../session/_internal.ts";
import { clientIn, serverOf } from "../session/_parties.ts";
import type { StoredSession } from "../session/session.ts";

interface StoredMark extends PendingMark {
  /** Waits for the last write: the lock must be held until then. */
  written(): Promise<void> | undefined;
}

function marked(session: StoredSession): StoredSession {
  const internal: Internal = { ...session.internal, isUserAway: true };
  return { ...session, internal };
}

/** Returns the mark of a stored, unmarked session's client. */
function storedMark(session: StoredSession, api: ApiContext): StoredMark {
  let lastWrite: Promise<void> | undefined;
  const put = (next: StoredSession) =>
    lastWrite = replaceSession(session, next, api).catch(() => {});
  return {
    write: () => put(marked(session)),
    remove: () => put(session),
    written: () => lastWrite,
  };
}

export async function markAfterFailure(
  api: ApiContext,
  { client }: PendingAuthorization,
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isMarked = isClientRefused(error);
  if (!isMarked && !showsClient(error)) return;
  const { keeper } = api;
  const stored = await underSignal(signal, () => loadStored(api));
  if (!stored || stored.client?.client_id !== client?.client_id) return;
  const { isUserAway = false, ...internal } = internalOf(stored);
  const isSettled = isUserAway === isMarked;
  if (isSettled || (isMarked && isNamed(stored, api))) return;
  const next = isMarked ? marked(stored) : { ...stored, internal };
  await keeper.lockedIfFree(() => replaceSession(stored, next, api), signal);
}

function isNamed(
  { issuer, client }: StoredSession,
  api: ApiContext,
): boolean {
  const { context, flow } = api;
  const { knownClients = [] } = flow ?? {};
  return context.client !== undefined ||
    knownClients.some((known) =>
      known.client_id === client?.client_id &&
      isSameIssuer(known.issuer, issuer)
    );
}

interface StoredClient {
  readonly known?: StoredSession | undefined;
  readonly mark?: StoredMark | undefined;
}

/**
 * Checks whether a sign-in may use the stored session's client: the caller set it, or
 * it is unmarked and the token endpoint does not reject it.
 */
export async function storedClient(
  session: StoredSession,
  { reason, isUserInitiated }: Need,
  api: ApiContext,
): Promise<StoredClient> {
  if (isNamed(session, api)) return { known: session };
  const client = clientIn(session);
  // An assertion's session contains no client.
  if (!client || internalOf(session).isUserAway) return {};
  const known = { known: session, mark: storedMark(session, api) };
  // Its token has just been accepted, unless signIn() comes later.
  if (reason === "step_up" && !isUserInitiated) return known;
  try {
    const isKnown = await isKnownWith(api.context, serverOf(session), client);
    return isKnown === false ? {} : known;
  } catch {
    // The client needs credentials that the flow may have.
    return known;
  }
}
