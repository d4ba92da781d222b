/** Which options a fetch has: TypeScript knows, and a program in JavaScript is told. */

import { invalidArgument } from "../core/_arguments.ts";
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
  const names: readonly string[] = FETCH_OPTIONS;
  for (const name in options) {
    const isSet = options[name as keyof IAuthorizedFetchOptions] !== undefined;
    if (!isSet || names.includes(name)) continue;
    throw invalidArgument(
      `options.${name}`,
      `in the flow, such as codeFlow, or one of ${names.join(", ")}`,
    );
  }
  return options;
}
