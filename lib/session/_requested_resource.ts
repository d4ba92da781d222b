/** The `resource` that is sent in every request of a grant (RFC 8707). */

import { requireArgument } from "../core/_arguments.ts";
import { parseUrl, urlString } from "../core/_url.ts";

/** Returns the resource indicator of a grant; false for a server that rejects it. */
export function requestedResource(
  { resource, omitResource, resourceIndicator }: {
    readonly resource: string;
    readonly omitResource?: true | undefined;
    readonly resourceIndicator?: string | undefined;
  },
): string | false {
  return omitResource ? false : resourceIndicator ?? resource;
}

/**
 * Returns the resource indicator in the option `resource`, if there is one: an absolute
 * URI without a fragment (RFC 8707, section 2).
 */
export function namedIndicator(
  option: string | URL | false | undefined,
): string | undefined {
  if (option === undefined || option === false) return undefined;
  const indicator: unknown = urlString(option);
  requireArgument(
    typeof indicator === "string" && /^[\x21-\x7e]+$/.test(indicator) &&
      !indicator.includes("#") && parseUrl(indicator) !== undefined,
    "resourceIndicator",
    "an absolute URI without a fragment, or false",
  );
  return indicator;
}
