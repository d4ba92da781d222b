/** The client of a sign-in, and what a flow learns about it from the fetch. */

import { configurationOf } from "../client/client_configuration.ts";
import type { Client, KnownClient } from "../client/known_client.ts";
import type { SharedRequest } from "./_sharing.ts";
import type { PendingMark } from "./_pending_mark.ts";
import type { FlowRequest } from "./flow.ts";
import type { Session } from "../session/session.ts";

export interface FlowClient {
  readonly client: Client;
  /**
   * Where it comes from: `named` by the caller; `kept` in the session from an earlier
   * sign-in; or `new`. A named client is neither marked nor discarded, and the server
   * is not asked about it.
   */
  readonly origin: "named" | "kept" | "new";
  /**
   * Whether the library has registered it, and the user may have to consent again for a
   * refresh token.
   */
  readonly needsConsent?: boolean | undefined;
  /** Only of a client that is kept. */
  readonly mark?: PendingMark | undefined;
}

/**
 * Returns a session with what deletes its client, unless the caller has set the client:
 * the sessions of a web server share one, and any of them could delete it.
 */
export function withConfiguration(
  session: Session,
  { client, origin }: FlowClient,
): Session {
  const configuration = configurationOf(client);
  const { client: stored } = session;
  return stored && origin !== "named" && configuration.registration_access_token
    ? { ...session, client: { ...stored, ...configuration } }
    : session;
}

/** What the fetch remembers of the clients of sign-ins; written by the event only. */
interface ClientMemory {
  /**
   * The client of a sign-in that the user has denied. Read when a client is needed: a
   * function that wraps a flow may call the flow again.
   */
  readonly client: KnownClient | undefined;
  clientChosen(client: KnownClient): void;
}

/** What a flow learns from the fetch about registrations, and the fetch from the flow. */
export interface Registration {
  /** The mark of the client of the session of the request. */
  readonly mark?: PendingMark | undefined;
  /** Called before the user sees something. */
  readonly shown?: (() => void) | undefined;
  /** Set if several APIs share the sign-in. */
  readonly shared?: SharedRequest | undefined;
  readonly memory?: ClientMemory | undefined;
}

/** Other callers of a flow than a fetch pass nothing. */
export function knownRegistrationOf(
  { internal = {} }: FlowRequest,
): Registration {
  return internal;
}
