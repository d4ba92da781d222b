/** Which options a fetch has. */

import { requireNames } from "../core/_arguments.ts";
import type { IAuthorizedFetchOptions } from "./authorized_fetch_options.ts";

/** The options of a fetch. */
export const FETCH_OPTIONS = [
  "additionalHeaders",
  "allowHttp",
  "allowUrl",
  "alsoFor",
  "apis",
  "authorizationServer",
  "authorize",
  "bearer",
  "client",
  "dpop",
  "fetch",
  "maxBytes",
  "now",
  "onEvent",
  "resourceMatch",
  "sameOriginHeaders",
  "serverMetadata",
  "signInOn",
  "skewSeconds",
  "store",
  "timeoutMs",
  "tokenRequired",
  "trustedIssuers",
  "userAgent",
] as const satisfies readonly (keyof IAuthorizedFetchOptions)[];

/** Returns the options of a fetch; fails if one is set that a fetch does not have. */
export function fetchOptionsOf(
  options: IAuthorizedFetchOptions,
): IAuthorizedFetchOptions {
  requireNames(
    options,
    FETCH_OPTIONS,
    "createAuthorizedFetch",
    "it in the flow, such as codeFlow, or ",
  );
  return options;
}
