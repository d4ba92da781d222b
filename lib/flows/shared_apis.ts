/**
 * Several APIs of one server, which share a sign-in.
 *
 * @module
 */

import type { FlowOptions } from "./flow.ts";

/**
 * What is requested for one of several APIs that share a sign-in. Its `scopes` are
 * requested together with the scopes of the flow; other members replace options of the
 * flow.
 *
 * @category Sessions
 */
export interface SharedApi extends
  Pick<
    FlowOptions,
    "scopes" | "resourceIndicator" | "parameters" | "tokenParameters"
  > {}

/**
 * Several APIs that share a sign-in, from `sharedSignIn`.
 *
 * @category Sessions
 */
export interface SharedSignIn {
  /** The identifiers of their resources. */
  readonly resources: readonly string[];
}
