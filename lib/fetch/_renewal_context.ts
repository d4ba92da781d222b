/** The context of a fetch: what its calls and renewals use. */

import type { IDiscovery } from "../discovery/discover.ts";
import type { Authorize } from "../flows/flow.ts";
import type { ITokenRules } from "../session/_bearer.ts";
import type { IGrantContext } from "../token/_grant_context.ts";
import type { IAsking } from "./_memory.ts";
import type { SharedStore } from "./_shared_store.ts";

/** What a renewal uses of its fetch. */
export interface IRenewal {
  readonly resource: URL;
  readonly store: SharedStore;
  /** Without it, sessions are only refreshed. */
  readonly authorize: Authorize | undefined;
  readonly rules: ITokenRules;
  readonly discovery: IDiscovery;
  readonly asking: IAsking;
  /**
   * The context of the fetch, without a signal. Each operation has a fork of it, as
   * what is noted in it would stay.
   */
  readonly context: IGrantContext;
}
