/** What a flow knows of a sign-in that several APIs share. */

import type { AuthorizationContext } from "../discovery/discover.ts";
import type { Context } from "../http/_context.ts";
import type { Session, SessionApi, StoredSession } from "../session/session.ts";
import type { FlowOptions } from "./flow.ts";
import type { SharedSignIn } from "./shared_apis.ts";

/** The other APIs of a sign-in. */
export interface Others {
  readonly apis: Readonly<Record<string, SessionApi>>;
  /** Their scopes and resource indicators, in the authorization request. */
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** Whether they have no part in this sign-in. */
  readonly isAlone?: true | undefined;
}

/** A sign-in for one of several APIs that the others share. */
export interface SharedRequest {
  /** The scopes of all APIs, for a registration. */
  readonly scopes: readonly string[];
  /** Returns the options of a flow for the API that the sign-in is for. */
  ownOf<T extends OwnOptions>(options: T): T;
  /** Returns the other APIs, for the options of a flow that all share. */
  othersOf(options: OwnOptions): Others;
  /** Returns the same for the one alone, after the server has rejected to share. */
  aloneOf(options: OwnOptions): Others;
  /** Signs in for all APIs; if the server rejects that, for the one API alone. */
  sessionOf<T = Session>(
    options: OwnOptions,
    signIn: (others?: Others) => Promise<T>,
  ): Promise<T>;
}

/** The options of a flow that each API may have. */
export type OwnOptions = Pick<
  FlowOptions,
  "scopes" | "resourceIndicator" | "parameters" | "tokenParameters"
>;

/** Why there is a sign-in: the members of a need that count. */
export interface SharedNeed {
  readonly reason: string;
  readonly mayRefresh: boolean;
}

export interface SharedServer extends Pick<AuthorizationContext, "resource"> {
  readonly serverMetadata: { readonly issuer: string };
}

/** What an object of `sharedSignIn` does, apart from what a fetch alone needs. */
export interface Sharing extends SharedSignIn {
  /**
   * Starts a sign-in; fails if it would end the sign-in of another server.
   *
   * @param session The previous session of the API, or what remains of it.
   */
  begin(
    context: Context,
    found: SharedServer,
    session: StoredSession | null | undefined,
    need?: SharedNeed,
  ): SharedRequest;
  /** Returns a new session with what is kept of the previous one. */
  end(
    session: Session,
    former: StoredSession | undefined,
    need?: SharedNeed,
  ): Session;
  /** Returns a session with another of its APIs in front. */
  viewOf(session: StoredSession, resource: string | URL): StoredSession;
  /** Checks whether a URL is of the same API as another one, or of none. */
  isOf(one: string | URL, url: string | URL): boolean;
  /** Returns the replacement of a session, with what was stored for other APIs meanwhile. */
  rebased(
    session: StoredSession | undefined,
    former: StoredSession,
    current: StoredSession,
  ): StoredSession | undefined;
  /** Returns what is left if the server does not refresh for this API; else undefined. */
  separatedAfter(
    error: unknown,
    session: StoredSession,
  ): StoredSession | undefined;
  /** Returns a session without tokens, once its refresh token was used or revoked. */
  withoutTokens(session: StoredSession): StoredSession;
}
