import { configurationOf } from "../client/client_configuration.ts";
import type { Client, KnownClient } from "../client/known_client.ts";
import type { SharedRequest } from "./_sharing.ts";
import type { PendingMark } from "./_pending_mark.ts";
import type { FlowRequest } from "./flow.ts";
import type { Session } from "../session/session.ts";

export interface FlowClient {
  readonly client: Client;
  /**
   * Its source: `named` by the caller, `kept` in the session, or `new`. A named client
   * is neither marked nor discarded, and the server is not queried about it.
   */
  readonly origin: "named" | "kept" | "new";
  /**
   * Whether the library has registered it, and the user may have to consent again for a
   * refresh token.
   */
  readonly needsConsent?: boolean | undefined;
  /** For kept clients only. */
  readonly mark?: PendingMark | undefined;
}

/**
 * Adds the members that delete a session's client, unless the caller set the client. A
 * web server's sessions share that client, and any of them could delete it.
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

/** The clients of sign-ins that the fetch remembers; only events change it. */
interface ClientMemory {
  /**
   * The client of a sign-in that the user declined. Read when a client is needed,
   * because a wrapper may call the flow again.
   */
  readonly client: KnownClient | undefined;
  clientChosen(client: KnownClient): void;
}

export interface Registration {
  readonly mark?: PendingMark | undefined;
  /** Called before the user sees something. */
  readonly shown?: (() => void) | undefined;
  readonly shared?: SharedRequest | undefined;
  readonly memory?: ClientMemory | undefined;
}

/** Only a fetch passes this. */
export function knownRegistrationOf(
  { internal = {} }: FlowRequest,
): Registration {
  return internal;
}
