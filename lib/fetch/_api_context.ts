/** What a fetch has of its API: what its calls and renewals use. */

import type { Discovery } from "../discovery/discover.ts";
import type { SharedServer, Sharing } from "../flows/_sharing.ts";
import type { Flow } from "../flows/flow.ts";
import type { TokenRules } from "../session/_bearer.ts";
import type { GrantContext } from "../token/_grant_context.ts";
import type { Sending } from "./call/_resource_request.ts";
import type { PromptPolicy } from "./policy/_decisions.ts";
import type { Need } from "./policy/_need.ts";
import type { SessionKeeper } from "./keeper/_session_keeper.ts";
import type { AuthorizedFetchOptions } from "./authorized_fetch_options.ts";
import type { Context } from "../http/_context.ts";
import type { OnEvent } from "../http/events.ts";
import type { StoredSession } from "../session/session.ts";

export interface ApiContext {
  readonly resource: URL;
  readonly keeper: SessionKeeper;
  /** Without it, sessions are only refreshed. */
  readonly flow: Flow | undefined;
  /** Set if several APIs share the sign-in. */
  readonly apis: FetchSharing | undefined;
  readonly rules: TokenRules;
  readonly discovery: Discovery;
  readonly promptPolicy: PromptPolicy;
  readonly sending: Sending;
  readonly tokenRequired: boolean;
  /**
   * The context of the fetch, without a signal. Each operation has a fork of it, as
   * what is noted in it would stay.
   */
  readonly context: GrantContext;
}

/** An object of `sharedSignIn`. */
export interface FetchSharing extends Sharing {
  /**
   * Fails unless a fetch with these options can share; returns its receiver of events,
   * which name the API.
   */
  receiverOf(
    resource: URL,
    options: AuthorizedFetchOptions,
  ): OnEvent | undefined;
  /** Fails if a sign-in at this server would end the stored one, at another server. */
  requireServer(
    context: Context,
    found: SharedServer,
    api: ApiContext,
  ): Promise<void>;
  /**
   * Returns the session to refresh. Fails before the first token of an API is requested,
   * unless its own metadata names the same server.
   */
  check(
    session: StoredSession,
    need: Need,
    api: ApiContext,
  ): Promise<StoredSession>;
}
