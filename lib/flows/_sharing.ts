import type { AuthorizationContext } from "../discovery/discover.ts";
import type { Context } from "../http/_context.ts";
import type { Session, SessionApi, StoredSession } from "../session/session.ts";
import type { FlowOptions } from "./flow.ts";
import type { SharedSignIn } from "./shared_apis.ts";

export interface Others {
  readonly apis: Readonly<Record<string, SessionApi>>;
  /** Their scopes and resource indicators, in the authorization request. */
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** Whether this sign-in excludes them. */
  readonly isAlone?: true | undefined;
}

export interface SharedRequest {
  /** The scopes of all APIs, for a registration. */
  readonly scopes: readonly string[];
  /** Returns a flow's options for the sign-in's own API. */
  ownOf<T extends OwnOptions>(options: T): T;
  /** Returns the other APIs, given the flow's common options. */
  othersOf(options: OwnOptions): Others;
  aloneOf(options: OwnOptions): Others;
  /** Signs in for all APIs; if the server rejects that, for one API. */
  sessionOf<T = Session>(
    options: OwnOptions,
    signIn: (others?: Others) => Promise<T>,
  ): Promise<T>;
}

export type OwnOptions = Pick<
  FlowOptions,
  "scopes" | "resourceIndicator" | "parameters" | "tokenParameters"
>;

export interface SharedNeed {
  readonly reason: string;
  readonly mayRefresh: boolean;
}

export interface SharedServer extends Pick<AuthorizationContext, "resource"> {
  readonly serverMetadata: { readonly issuer: string };
}

/** Members of a `sharedSignIn` object that other folders use. */
export interface Sharing extends SharedSignIn {
  /**
   * Starts a sign-in. Fails if it would replace another server's sign-in.
   *
   * @param session The API's previous session, or its remaining part.
   */
  begin(
    context: Context,
    found: SharedServer,
    session: StoredSession | null | undefined,
    need?: SharedNeed,
  ): SharedRequest;
  /** Adds the kept parts of the previous session to a new one. */
  end(
    session: Session,
    former: StoredSession | undefined,
    need?: SharedNeed,
  ): Session;
  /** Returns a session with another of its APIs in front. */
  viewOf(session: StoredSession, resource: string | URL): StoredSession;
  /** Checks whether two URLs belong to the same API, or to none. */
  isOf(one: string | URL, url: string | URL): boolean;
  /**
   * Updates a session's replacement with tokens that were stored for other APIs
   * meanwhile.
   */
  rebased(
    session: StoredSession | undefined,
    former: StoredSession,
    current: StoredSession,
  ): StoredSession | undefined;
  /** Returns the remaining session if the server rejects a refresh for this API. */
  separatedAfter(
    error: unknown,
    session: StoredSession,
  ): StoredSession | undefined;
  /** Removes the tokens after their refresh token was used or revoked. */
  withoutTokens(session: StoredSession): StoredSession;
}
