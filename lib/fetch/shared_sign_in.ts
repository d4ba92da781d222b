import {
  requireArgument,
  requireHttpUrl,
  requireNames,
  requireObject,
} from "../core/_arguments.ts";
import { requireScopes } from "../core/_scope_values.ts";
import type { SharedApi, SharedSignIn } from "../flows/shared_apis.ts";
import { namedIndicator } from "../session/_requested_resource.ts";
import type { SharedApis } from "./_shared_request.ts";
import { SignInSharing } from "./_shared_sign_in.ts";

/** The compiler reports a missing option. */
const API_OPTIONS: Record<keyof SharedApi, true> = {
  scopes: true,
  resourceIndicator: true,
  parameters: true,
  tokenParameters: true,
};

/** Returns copies, so that later changes by the caller have no effect. */
function copyOf(apis: SharedApis): SharedApis {
  const entries = Object.entries(requireObject("apis", apis));
  requireArgument(
    entries.length > 0,
    "apis",
    "an object with a key for each API",
  );
  return Object.fromEntries(entries.map(([name, given]) => {
    const place = `apis[${JSON.stringify(name)}]`;
    requireHttpUrl(`The key of ${place}`, name);
    const api = requireObject(place, given);
    requireNames(api, Object.keys(API_OPTIONS), place);
    if (api.scopes !== undefined) requireScopes(`${place}.scopes`, api.scopes);
    namedIndicator(api.resourceIndicator);
    return [name, JSON.parse(JSON.stringify(api))];
  }));
}

/**
 * Lets several APIs of one authorization server share a sign-in.
 *
 * Create a fetch for each API, with this object as `apis` and the same store. See
 * `docs/several-apis.md` in the package.
 *
 * @param apis The APIs, by the `resource` of their metadata or the URL of their fetch.
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid.
 * @see RFC 8707, section 2.
 * @example One sign-in for a calendar and mail
 * ```ts
 * import { sharedSignIn } from "@oauth-helper/client";
 *
 * export const apis = sharedSignIn({
 *   "https://calendar.example/v1": { scopes: ["calendar.read"] },
 *   "https://mail.example/v1": { scopes: ["mail.read"] },
 * });
 * ```
 * @category Sessions
 */
export function sharedSignIn(
  apis: Readonly<Record<string, SharedApi>>,
): SharedSignIn {
  return new SignInSharing(copyOf(apis));
}
