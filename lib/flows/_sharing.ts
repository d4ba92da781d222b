/** What a flow knows of a sign-in that several APIs share. */

import type { IAuthorizationContext } from "../discovery/discover.ts";
import type { IContext } from "../http/_context.ts";
import type { ISession, ISessionApi } from "../session/session.ts";
import type { IFlowOptions } from "./flow.ts";
import type { ISharedSignIn } from "./shared_apis.ts";

/** The other APIs of a sign-in. */
export interface IOthers {
  readonly apis: Readonly<Record<string, ISessionApi>>;
  /** Their scopes and resource indicators, in the authorization request. */
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** Whether they have no part in this sign-in. */
  readonly isAlone?: true | undefined;
}

/** A sign-in for one of several APIs that the others share. */
export interface ISharedRequest {
  /** The scopes of all APIs, for a registration. */
  readonly scopes: readonly string[];
  /** Returns the options of a flow for the API that the sign-in is for. */
  ownOf<T extends IOwnOptions>(options: T): T;
  /** Returns the other APIs, for the options of a flow that all share. */
  othersOf(options: IOwnOptions): IOthers;
  /** Returns the same for the one alone, after the server has rejected to share. */
  aloneOf(options: IOwnOptions): IOthers;
  /** Signs in for all APIs; if the server rejects that, for the one API alone. */
  sessionOf<T = ISession>(
    options: IOwnOptions,
    signIn: (others?: IOthers) => Promise<T>,
  ): Promise<T>;
}

/** The options of a flow that each API may have. */
export type IOwnOptions = Pick<
  IFlowOptions,
  "scopes" | "resource" | "parameters" | "tokenParameters"
>;

/** Why there is a sign-in: the members of a need that count. */
export interface ISharedNeed {
  readonly reason: string;
  readonly mayRefresh: boolean;
}

export interface ISharedServer extends Pick<IAuthorizationContext, "resource"> {
  readonly serverMetadata: { readonly issuer: string };
}

/** What an object of `sharedSignIn` does, apart from what a fetch alone needs. */
export interface ISharing extends ISharedSignIn {
  /**
   * Starts a sign-in; fails if it would end the sign-in of another server.
   *
   * @param session The previous session of the API, or what remains of it.
   */
  begin(
    context: IContext,
    found: ISharedServer,
    session: ISession | null | undefined,
    need?: ISharedNeed,
  ): ISharedRequest;
  /** Returns a new session with what is kept of the previous one. */
  end(
    session: ISession,
    former: ISession | undefined,
    need?: ISharedNeed,
  ): ISession;
  /** Returns a session with another of its APIs in front. */
  viewOf(session: ISession, resource: string | URL): ISession;
  /** Checks whether a URL is of the same API as another one, or of none. */
  isOf(one: string | URL, url: string | URL): boolean;
  /** Returns the replacement of a session, with what was stored for other APIs meanwhile. */
  rebased(
    session: ISession | undefined,
    former: ISession,
    current: ISession,
  ): ISession | undefined;
  /** Returns what is left if the server does not refresh for this API; else undefined. */
  separatedAfter(error: unknown, session: ISession): ISession | undefined;
  /** Returns a session without tokens, once its refresh token was used or revoked. */
  withoutTokens(session: ISession): ISession;
}
