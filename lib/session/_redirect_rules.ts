/** Where a resource may redirect a request, and what is sent there. */

import { type IUrlRules, quoteUrl, requireSafeUrl } from "../core/_url.ts";
import { underSignal } from "../http/_clock.ts";
import type { IRequestOptions } from "../http/request_options.ts";

/** Rules for redirects to another origin. */
export interface IRedirectRules extends IUrlRules {
  readonly allowUrl: IRequestOptions["allowUrl"];
}

/** Why a redirect is not followed. */
export interface IRedirectRefusal {
  readonly problem: string;
  readonly cause?: unknown;
}

/** Removes the header fields that another origin must not receive. */
export function removePrivateFields(headers: Headers): void {
  for (const name of [...headers.keys()]) {
    if (!/^(accept(-.*)?|range|user-agent)$/.test(name)) headers.delete(name);
  }
}

/** Returns why a request must not be sent to another origin; undefined if it may. */
export async function redirectRefusal(
  target: URL,
  method: string,
  { allowUrl, ...rules }: IRedirectRules,
  signal: AbortSignal | undefined,
): Promise<IRedirectRefusal | undefined> {
  const to = `to another origin (${quoteUrl(target.origin)})`;
  if (!/^(GET|HEAD)$/i.test(method)) {
    return { problem: `${to}, which a ${method} does not follow` };
  }
  try {
    requireSafeUrl("the URL", target, rules);
  } catch (error) {
    return { problem: `${to}: ${(error as Error).message}` };
  }
  if (!allowUrl) return undefined;
  let cause: unknown;
  try {
    const isAllowed = await underSignal(
      signal,
      async () => await allowUrl(new URL(target), "resource"),
    );
    if (isAllowed === true) return undefined;
  } catch (thrown) {
    signal?.throwIfAborted();
    cause = thrown;
  }
  return { problem: `${to}: allowUrl did not return true`, cause };
}
