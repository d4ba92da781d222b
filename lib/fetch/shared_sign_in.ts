/**
 * One sign-in for several APIs of one authorization server.
 *
 * @module
 */

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

/** What may be set for an API; the compiler reports one that is missing. */
const API_OPTIONS: Record<keyof SharedApi, true> = {
  scopes: true,
  resourceIndicator: true,
  parameters: true,
  tokenParameters: true,
};

/** Returns copies: what the caller changes later must not change a sign-in. */
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
 * Has several APIs of one authorization server share a sign-in: for the option `apis` of
 * {@linkcode createAuthorizedFetch}. Create a fetch for each API, with this object and the
 * same store.
 *
 * - The user signs in once: the request names all APIs (RFC 8707, section 2.1) and their
 *   scopes. The store has one session, with one refresh token and an access token for
 *   each API. A refresh names one API.
 * - Before the first token of an API is requested, and before each sign-in, the metadata
 *   of the API must name the same server.
 * - A step-up of one API keeps the tokens of the others. `revoke()` of any fetch ends
 *   the session for all.
 * - If the server declines to share (`invalid_target`), the event `sharing_refused` says
 *   so, and each API signs in by itself, once. A refresh token that the server rejected
 *   for an API is deleted.
 * - If a server knows an API by its scopes or by another parameter than `resource`, set
 *   `resourceIndicator`, `parameters` and `tokenParameters` of the API.
 *
 * @param apis The APIs, by the identifier of their resource: the `resource` of their
 * metadata, or the URL that you create the fetch with.
 * @throws {OAuthClientError} `invalid_argument`: an option is not valid. A fetch with
 * `apis` throws it without `store`, with `bearer: "id_token"`, with a flow that needs no
 * user, and with another `dpop` than the other fetches of the store.
 * @see RFC 8707, section 2.
 *
 * @example One sign-in for a calendar and mail
 * ```ts
 * import {
 *   createAuthorizedFetch,
 *   deviceFlow,
 *   memoryStore,
 *   sharedSignIn,
 * } from "@oauth-helper/client";
 *
 * const calendarUrl = "https://calendar.example/v1";
 * const mailUrl = "https://mail.example/v1";
 * const options = {
 *   store: memoryStore(),
 *   apis: sharedSignIn({
 *     [calendarUrl]: { scopes: ["calendar.read"] },
 *     [mailUrl]: { scopes: ["mail.read"] },
 *   }),
 *   flow: deviceFlow({
 *     clientMetadata: { client_name: "My client" },
 *     show: ({ verification_uri, user_code }) =>
 *       console.log(`Open ${verification_uri} and enter ${user_code}`),
 *   }),
 * };
 * export const calendar = createAuthorizedFetch(calendarUrl, options);
 * export const mail = createAuthorizedFetch(mailUrl, options);
 * ```
 *
 * @category Sessions
 */
export function sharedSignIn(
  apis: Readonly<Record<string, SharedApi>>,
): SharedSignIn {
  return new SignInSharing(copyOf(apis));
}
