/**
 * What to do after a failure.
 *
 * @module
 */

import { standardCode } from "./_hints.ts";
import { isUnanswered } from "./_quote.ts";
import {
  isOAuthClientError,
  type OAuthClientError,
  type OAuthClientErrorCode,
  type OAuthClientErrorRequest,
} from "./errors.ts";

/**
 * The actions of {@linkcode adviceFor}.
 *
 * @category Errors
 */
export type AdviceAction =
  | "retry"
  | "reauthorize"
  | "reregister"
  | "ask_user"
  | "give_up";

/**
 * The result of {@linkcode adviceFor}.
 *
 * @category Errors
 */
export interface Advice {
  /** What to do. */
  action: AdviceAction;
  /** Seconds to wait before a retry, if the server sent them. */
  retryAfterSeconds?: number;
}

/** Actions, each with the codes that cause it. */
type ActionTable = readonly (readonly [AdviceAction, readonly string[]])[];

/** Error codes that mean something else after certain requests. */
const BY_REQUEST: Readonly<Record<OAuthClientErrorRequest, ActionTable>> = {
  refresh: [
    ["reauthorize", [
      // GitHub sends the first, and LemonLDAP::NG the last.
      "bad_refresh_token",
      "invalid_refresh_token",
      "invalid_request",
    ]],
  ],
  // The server has rejected neither the user nor a known client.
  registration: [
    ["give_up", ["access_denied", "invalid_client", "unauthorized_client"]],
  ],
  silent_authorization: [["reauthorize", ["consent_required"]]],
  // A policy denies it: another user or client would not help.
  assertion: [
    ["give_up", [
      "access_denied",
      "consent_required",
      "invalid_client",
      "unauthorized_client",
    ]],
  ],
  // The user has not been asked.
  authorization: [["give_up", ["access_denied"]]],
};

/** Error codes of servers, after any other request. */
const BY_ERROR: ActionTable = [
  ["retry", [
    "authorization_pending",
    "server_error",
    "slow_down",
    "temporarily_unavailable",
    "use_dpop_nonce",
  ]],
  ["reauthorize", [
    "account_selection_required",
    "expired_token",
    "insufficient_user_authentication",
    "interaction_required",
    "invalid_grant",
    "login_required",
  ]],
  ["reregister", ["invalid_client", "unauthorized_client"]],
  ["ask_user", [
    "access_denied",
    "consent_required",
    "unmet_authentication_requirements",
  ]],
];

/** Codes of errors that have no error code of a server. */
const BY_CODE: ActionTable = [
  [
    "reauthorize",
    [
      "expired",
      "invalid_authorization_response",
      "invalid_id_jag",
      "invalid_session",
    ] satisfies OAuthClientErrorCode[],
  ],
  [
    "ask_user",
    [
      "popup_blocked",
      "popup_closed",
      "sign_in_required",
      "timeout",
    ] satisfies OAuthClientErrorCode[],
  ],
];

function actionIn(
  table: ActionTable | undefined,
  code = "",
): AdviceAction | undefined {
  return table?.find(([, codes]) => codes.includes(standardCode(code)))?.[0];
}

/** Checks whether a status says that the same request may succeed later. */
export function isTemporary(status = 0): boolean {
  // RFC 9110, section 15.5.9; RFC 8470, section 5.2; RFC 6585, section 4.
  return status >= 500 || [408, 425, 429].includes(status);
}

/** Checks whether a request that got no response may get one later. */
function mayRespond(
  { code, url, networkReason: reason }: OAuthClientError,
): boolean {
  // Without a URL, the user took too long.
  return code === "timeout"
    ? url !== undefined
    : code === "network_error" && !reason?.startsWith("certificate");
}

/** Errors that `fetch` threw because the caller's own request got no response. */
const unanswered = /* @__PURE__ */ new WeakSet<object>();

/** Notes what `fetch` threw for a request of the caller, whose error is not replaced. */
export function noteUnanswered(thrown: unknown): void {
  if (isUnanswered(thrown)) unanswered.add(Object(thrown));
}

/**
 * Checks whether an error says nothing about what was sent: there was no response, or
 * only a temporary one.
 */
export function isOutage(error: unknown): boolean {
  return isOAuthClientError(error) &&
    (error.code === "network_error" || adviceFor(error).action === "retry");
}

/** Returns the action that depends on which request failed, if there is one. */
function actionByRequest(
  { request, error, status = 0, errorResponse }: OAuthClientError,
): AdviceAction | undefined {
  if (!request) return undefined;
  if (request !== "refresh" || error !== undefined) {
    return actionIn(BY_REQUEST[request], error);
  }
  if (status !== 400 && status !== 401) return undefined;
  // A page comes from a proxy, which has not asked the server.
  if (errorResponse === undefined) return "retry";
  // glewlwyd responds to a dead refresh token with 400 and no body; Supabase with
  // other JSON. Gateways do that too, when they reject something else.
  return Object.keys(errorResponse).length > 0 ? undefined : "reauthorize";
}

/**
 * Returns what to do after a failure, by the first row of this table that applies. What
 * stands alone, or after a colon, is the `error` of the server. A certificate is a
 * `networkReason` of `certificate` or `certificate_expired`, or the same of what `fetch`
 * threw in your own call of an authorized fetch.
 *
 * | failure                                                              | action        |
 * | -------------------------------------------------------------------- | ------------- |
 * | `status` is 408, 425, 429 or 5xx, whatever the `error` is            | `retry`       |
 * | `code` is `network_error`, unless `networkReason` is a certificate   | `retry`       |
 * | `code` is `timeout`, and there is a `url`                            | `retry`       |
 * | `request` is `refresh`: `bad_refresh_token`, `invalid_refresh_token` | `reauthorize` |
 * | `request` is `refresh`: `invalid_request`                            | `reauthorize` |
 * | `request` is `refresh`: 400 or 401, the body is empty or `{}`        | `reauthorize` |
 * | `request` is `refresh`: 400 or 401, the body is not JSON             | `retry`       |
 * | `request` is `registration`: `access_denied`                         | `give_up`     |
 * | `request` is `registration`: `invalid_client`, `unauthorized_client` | `give_up`     |
 * | `request` is `silent_authorization`: `consent_required`              | `reauthorize` |
 * | `request` is `assertion`: `access_denied`, `consent_required`        | `give_up`     |
 * | `request` is `assertion`: `invalid_client`, `unauthorized_client`    | `give_up`     |
 * | `request` is `authorization`: `access_denied`                        | `give_up`     |
 * | `authorization_pending`, `slow_down`, `server_error`                 | `retry`       |
 * | `temporarily_unavailable`, `use_dpop_nonce`                          | `retry`       |
 * | `invalid_grant`, `expired_token`, `login_required`                   | `reauthorize` |
 * | `interaction_required`, `account_selection_required`                 | `reauthorize` |
 * | `insufficient_user_authentication`                                   | `reauthorize` |
 * | `invalid_client`, `unauthorized_client`                              | `reregister`  |
 * | `access_denied`, `consent_required`                                  | `ask_user`    |
 * | `unmet_authentication_requirements`                                  | `ask_user`    |
 * | `code` is `expired` or `invalid_authorization_response`              | `reauthorize` |
 * | `code` is `invalid_session`, with a `sessionVersion`                 | `give_up`     |
 * | `code` is `invalid_id_jag` or `invalid_session`                      | `reauthorize` |
 * | `code` is `popup_blocked` or `popup_closed`                          | `ask_user`    |
 * | `code` is `sign_in_required` or `timeout`                            | `ask_user`    |
 * | `code` is `discovery_failed`, and an attempt leads to `retry`        | `retry`       |
 * | your own call got no response, unless because of a certificate       | `retry`       |
 * | anything else, including errors of other libraries                   | `give_up`     |
 *
 * `incorrect_client_credentials`, which GitHub sends, counts as `invalid_client`.
 *
 * - `retry`: send the same request again later; tokens and registrations may still be
 *   valid.
 * - `reauthorize`: discard the token or code, and start a new authorization.
 * - `reregister`: discard the client as well, and register or select another one.
 * - `ask_user`: the user declined or failed to sign in; ask before a new authorization.
 * - `give_up`: a retry fails the same way until you change the request, the
 *   configuration or the server.
 *
 * @param error What a function of this library, or an authorized fetch, threw.
 * @returns The action, and for `retry` the `retryAfterSeconds` of the error.
 * @see RFC 6749, sections 4.1.2.1 and 5.2; RFC 8628, section 3.5; OpenID Connect Core
 * 1.0, section 3.1.2.6.
 *
 * @example React to a failed refresh
 * ```ts
 * import { adviceFor, OAuthClientError } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * function explain(error: unknown): string {
 *   const { action, retryAfterSeconds = 5 } = adviceFor(error);
 *   switch (action) {
 *     case "retry":
 *       return `Try again in ${retryAfterSeconds} seconds`;
 *     case "reauthorize":
 *     case "reregister":
 *       return "Please sign in again";
 *     case "ask_user":
 *       return "Access was denied. Try again?";
 *     case "give_up":
 *       throw error;
 *   }
 * }
 * const error = new OAuthClientError("unexpected_status", "Busy", {
 *   status: 503,
 *   retryAfterSeconds: 30,
 * });
 * assertEquals(explain(error), "Try again in 30 seconds");
 * ```
 *
 * @category Errors
 */
export function adviceFor(error: unknown): Advice {
  if (!isOAuthClientError(error)) {
    return { action: unanswered.has(error as object) ? "retry" : "give_up" };
  }
  const { status, attempts = [], retryAfterSeconds, sessionVersion } = error;
  // A new sign-in would end what another version of the library has stored.
  const code = sessionVersion === undefined ? error.code : undefined;
  const action =
    (isTemporary(status) || mayRespond(error)
      ? "retry"
      : actionByRequest(error)) ??
      actionIn(BY_ERROR, error.error) ?? actionIn(BY_CODE, code) ??
      (attempts.some((one) => adviceFor(one.error).action === "retry")
        ? "retry"
        : "give_up");
  return {
    action,
    ...(action === "retry" && retryAfterSeconds !== undefined &&
      { retryAfterSeconds }),
  };
}
