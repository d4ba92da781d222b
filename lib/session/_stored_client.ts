/** Where the client of a sign-in comes from, and whether it may be used again. */

import { configurationOf } from "../client/client_configuration.ts";
import type { Client } from "../client/known_client.ts";
import { isKnownWith } from "../token/client_check.ts";
import type { INeed } from "./_renewal_reason.ts";
import type { IRenewal } from "./_usable_session.ts";
import {
  isNamed,
  type IStoredMark,
  type IVisitMark,
  storedMark,
} from "./_visit_mark.ts";
import type { ISession } from "./session.ts";

/** The client of a sign-in. */
export interface IFlowClient {
  readonly client: Client;
  /**
   * Where it comes from: `named` by the caller; `kept` in the session from an earlier
   * sign-in; or `new`. A named client is neither marked nor discarded, and the server
   * is not asked about it.
   */
  readonly origin: "named" | "kept" | "new";
  /** Whether the library has registered it, and there was no token for it yet. */
  readonly isUnproven?: boolean | undefined;
  /** The mark of a client that is kept. */
  readonly mark?: IVisitMark | undefined;
}

/**
 * Returns a session with what deletes its client, unless the caller has set the client:
 * the sessions of a web server share one, and any of them could delete it.
 */
export function withConfiguration(
  session: ISession,
  { client, origin }: IFlowClient,
): ISession {
  const own = configurationOf(client);
  return origin !== "named" && own.registration_access_token
    ? { ...session, client: { ...session.client, ...own } }
    : session;
}

/** What is known of the client of a stored session. */
export interface IStoredClient {
  /** The session, if its client may be used for a sign-in. */
  readonly known?: ISession | undefined;
  /** The mark of the client of `known`, unless the caller has set the client. */
  readonly mark?: IStoredMark | undefined;
}

/**
 * Checks whether the client of a stored session may be used for a sign-in: a client
 * that the caller has set, or one without a mark that the token endpoint does not
 * refuse.
 */
export async function storedClient(
  session: ISession,
  { reason, isWanted }: INeed,
  renewal: IRenewal,
): Promise<IStoredClient> {
  const { client, serverMetadata, isUserAway } = session;
  if (isNamed(session, renewal)) return { known: session };
  // Sessions of an assertion alone, and some of version 0.14, have no client.
  if (client.client_id === "" || isUserAway) return {};
  const known = { known: session, mark: storedMark(session, renewal) };
  // Its token has just been accepted; not if authorize() comes later.
  if (reason === "step_up" && !isWanted) return known;
  try {
    const isKnown = await isKnownWith(renewal.context, serverMetadata, client);
    return isKnown === false ? {} : known;
  } catch {
    // The client needs credentials that the flow may have.
    return known;
  }
}
