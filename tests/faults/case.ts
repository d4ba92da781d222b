/** What a case of the fault table is made of. */

import type { NetworkReason } from "../../mod.ts";
import type { Play } from "./fault_server.ts";

export type Library = typeof import("../../mod.ts");

/** The network functions, and nothing else. */
export const OPERATIONS = [
  "fetchResourceMetadata",
  "fetchAuthorizationServerMetadata",
  "discoverAuthorization",
  "fetchDynamicRegistration",
  "registerClient",
  "fetchToken",
  "fetchDeviceAuthorization",
  "pollDeviceToken",
  "requestBackchannelAuthentication",
  "fetchIdJag",
  "redeemIdJag",
] as const;

export type OperationName = typeof OPERATIONS[number];

/** The functions that send GET requests only. */
export const GETS = [
  "fetchResourceMetadata",
  "fetchAuthorizationServerMetadata",
  "discoverAuthorization",
] as const satisfies OperationName[];

/** The functions that send POST requests only. */
export const POSTS = OPERATIONS.slice(GETS.length);

export interface World {
  /** Origin of the server that requests go to. */
  readonly here: string;
  /** Origin of another server, which no request should reach. */
  readonly elsewhere: string;
  /** Its signal is passed to every operation. */
  readonly controller: AbortController;
}

/** Arguments of an operation that are not the usual ones. */
export interface Input {
  /** The resource, instead of `/mcp` at the server. */
  target?: string;
  resourceMetadataUrl?: string;
  /** The issuer, instead of the origin of the server. */
  issuer?: string;
  /** Further members of the metadata that names the endpoints. */
  metadata?: Record<string, unknown>;
  /** Further members of the device authorization that is polled for. */
  authorization?: Record<string, unknown>;
}

/** What an operation ends with: exactly one of the first four members. */
export interface Outcome {
  /** Code of an OAuthClientError; several where runtimes differ. */
  code?: string | readonly string[];
  /** The same for every failure in an AggregateError, or its name. */
  each?: string | readonly string[];
  reason?: true;
  /** Checks what was returned. */
  // deno-lint-ignore no-explicit-any
  result?: (result: any, world: World) => boolean;
  /** How many failures there are in an AggregateError. */
  failures?: number;
  /** Members of the error, or of each failure; undefined for none. */
  members?: Record<string, unknown>;
  networkReason?: NetworkReason;
  /** Either this or a correct result, where runtimes differ. */
  orResult?: Outcome["result"];
}

export interface Case {
  readonly operation: OperationName;
  readonly fault: string;
  readonly play?: Play;
  /** What the other server plays. */
  readonly playElsewhere?: Play;
  /**
   * The server is closed, uses TLS (with a certificate that has expired), or listens
   * on another IP address.
   */
  readonly server?: "gone" | "tls" | "expired tls" | "[::1]";
  readonly input?: (world: World) => Input;
  readonly options?: (world: World) => Record<string, unknown>;
  /** How often the operation runs at once; 1 when absent. */
  readonly times?: number;
  readonly outcome: Outcome;
  /** Requests that the server sees; several where runtimes differ. */
  readonly requests: number | readonly number[];
  /** Requests that the other server sees; 0 when absent. */
  readonly requestsElsewhere?: number;
  /** Redirects are followed, so a discovery makes more requests than attempts. */
  readonly hops?: true;
  /** Strings that no message may contain, beside the secrets. */
  readonly forbidden?: readonly string[];
}

export function nameOf({ operation, fault, outcome }: Case): string {
  const { code, each, reason } = outcome;
  const label = (labels: string | readonly string[]) =>
    [labels].flat().join(" or ");
  const does = code
    ? `fails with ${label(code)}`
    : each
    ? `fails with ${label(each)} at each URL`
    : reason
    ? "ends with the reason"
    : "returns a result";
  return `${operation}() ${does} (${fault})`;
}
