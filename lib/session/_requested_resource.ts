import { requireArgument } from "../core/_arguments.ts";
import { parseUrl, urlString } from "../core/_url.ts";
import { internalOf } from "./_internal.ts";

/** False for a server that rejects resource indicators. */
export function requestedResource(
  { resource, internal }: {
    readonly resource: string;
    readonly internal?: object | undefined;
  },
): string | false {
  return internalOf({ internal }).resourceIndicator ?? resource;
}

/**
 * Checks the option `resourceIndicator`: an absolute URI without a fragment (RFC 8707,
 * section 2).
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
