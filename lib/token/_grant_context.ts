import { requireArgument, requireObject } from "../core/_arguments.ts";
import type { Dpop } from "../client/dpop.ts";
import type { Client } from "../client/known_client.ts";
import { type Context, contextOf } from "../http/_context.ts";
import type { FormRequestOptions } from "./form_options.ts";

/**
 * The context of an operation, with its client, key and additional header fields. All
 * are for one server.
 */
export interface GrantContext extends Context {
  readonly client: Client | undefined;
  readonly dpop: Dpop | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

export function grantContextOf(
  options: FormRequestOptions & { now?: (() => number) | undefined } = {},
): GrantContext {
  const { client, dpop, headers } = requireObject("options", options);
  const isDpop = dpop === undefined ||
    typeof dpop?.createProof === "function";
  requireArgument(isDpop, "options.dpop", "the result of createDpop");
  return { ...contextOf(options), client, dpop, headers };
}
