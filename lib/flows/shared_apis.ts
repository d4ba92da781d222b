import type { FlowOptions } from "./flow.ts";

/**
 * The request for one of several APIs that share a sign-in. Its `scopes` are requested
 * together with the flow's; other members replace options of the flow.
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
