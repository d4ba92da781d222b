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
  readonly apis: FetchSharing | undefined;
  readonly rules: TokenRules;
  readonly discovery: Discovery;
  readonly promptPolicy: PromptPolicy;
  readonly sending: Sending;
  readonly tokenRequired: boolean;
  /**
   * The fetch's context, without a signal. Each operation forks it, because its notes
   * would stay.
   */
  readonly context: GrantContext;
}

export interface FetchSharing extends Sharing {
  /**
   * Returns the API's receiver of events. Fails unless a fetch with these options can
   * share.
   */
  receiverOf(
    resource: URL,
    options: AuthorizedFetchOptions,
  ): OnEvent | undefined;
  /** Fails if a sign-in at this server would replace another server's session. */
  requireServer(
    context: Context,
    found: SharedServer,
    api: ApiContext,
  ): Promise<void>;
  /**
   * Returns the session to refresh. Before an API's first token, fails unless its own
   * metadata names the same server.
   */
  check(
    session: StoredSession,
    need: Need,
    api: ApiContext,
  ): Promise<StoredSession>;
}
