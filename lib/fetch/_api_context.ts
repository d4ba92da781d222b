/** What a fetch has of its API: what its calls and renewals use. */

import type { IDiscovery } from "../discovery/discover.ts";
import type { ISharedServer, ISharing } from "../flows/_sharing.ts";
import type { Authorize } from "../flows/flow.ts";
import type { ITokenRules } from "../session/_bearer.ts";
import type { IGrantContext } from "../token/_grant_context.ts";
import type { ISending } from "./call/_resource_request.ts";
import type { IPromptPolicy } from "./policy/_decisions.ts";
import type { INeed } from "./policy/_need.ts";
import type { SessionKeeper } from "./keeper/_session_keeper.ts";
import type { IAuthorizedFetchOptions } from "./authorized_fetch_options.ts";
import type { IContext } from "../http/_context.ts";
import type { OnEvent } from "../http/events.ts";
import type { ISession } from "../session/session.ts";

export interface IApiContext {
  readonly resource: URL;
  readonly keeper: SessionKeeper;
  /** Without it, sessions are only refreshed. */
  readonly authorize: Authorize | undefined;
  /** Set if several APIs share the sign-in. */
  readonly apis: IFetchSharing | undefined;
  readonly rules: ITokenRules;
  readonly discovery: IDiscovery;
  readonly promptPolicy: IPromptPolicy;
  readonly sending: ISending;
  readonly tokenRequired: boolean;
  /**
   * The context of the fetch, without a signal. Each operation has a fork of it, as
   * what is noted in it would stay.
   */
  readonly context: IGrantContext;
}

/** An object of `sharedSignIn`. */
export interface IFetchSharing extends ISharing {
  /**
   * Fails unless a fetch with these options can share; returns its receiver of events,
   * which name the API.
   */
  receiverOf(
    resource: URL,
    options: IAuthorizedFetchOptions,
  ): OnEvent | undefined;
  /** Fails if a sign-in at this server would end the stored one, at another server. */
  requireServer(
    context: IContext,
    found: ISharedServer,
    api: IApiContext,
  ): Promise<void>;
  /**
   * Returns the session to refresh. Fails before the first token of an API is requested,
   * unless its own metadata names the same server.
   */
  check(
    session: ISession,
    need: INeed,
    api: IApiContext,
  ): Promise<ISession>;
}
