/** Where a resource may redirect a request to, and what is sent there. */

import { type IUrlRules, quoteUrl, requireSafeUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import { requirePermission } from "../http/_request.ts";
import type { ITransport } from "../http/_transport.ts";
import { isCovered } from "./_covered_urls.ts";

/** Rules for redirects to another origin. */
export interface IRedirectRules
  extends IUrlRules, Pick<ITransport, "allowUrl" | "sent"> {
  /** URLs of the API: a redirect from one to another does not leave the API. */
  readonly covered: readonly URL[];
}

/** Checks whether a redirect leads to another origin, unless both URLs are covered. */
export function leavesApi(
  from: URL,
  to: URL,
  { covered }: IRedirectRules,
): boolean {
  return from.origin !== to.origin &&
    !(isCovered(from, covered) && isCovered(to, covered));
}

/** Fails unless a request may be sent to another origin. */
export async function requireRedirect(
  target: URL,
  method: string,
  rules: IRedirectRules,
): Promise<void> {
  const code = "redirect_refused";
  if (!/^(GET|HEAD)$/i.test(method)) {
    const message = `a ${method} does not follow it to ${quoteUrl(target)}`;
    throw new OAuthClientError(code, message);
  }
  requireSafeUrl("the URL", target, rules);
  const { href: url } = target;
  const request = { url, purpose: "resource", headers: {} } as const;
  await requirePermission(request, rules);
}

/** Removes the header fields that another origin must not receive. */
export function removePrivateFields(headers: Headers): void {
  for (const name of [...headers.keys()]) {
    if (!/^(accept(-.*)?|range|user-agent)$/.test(name)) headers.delete(name);
  }
}
