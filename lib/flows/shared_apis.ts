/**
 * Several APIs of one server, which share a sign-in.
 *
 * @module
 */

import type { IFlowOptions } from "./flow.ts";

/**
 * What is requested for one of several APIs that share a sign-in. Its `scopes` are
 * requested together with the scopes of the flow; other members replace options of the
 * flow.
 *
 * @category Sessions
 */
export interface ISharedApi extends
  Pick<
    IFlowOptions,
    "scopes" | "resource" | "parameters" | "tokenParameters"
  > {}

/**
 * Several APIs that share a sign-in, from `sharedSignIn`.
 *
 * @category Sessions
 */
export interface ISharedSignIn {
  /** The identifiers of their resources. */
  readonly resources: readonly string[];
}
