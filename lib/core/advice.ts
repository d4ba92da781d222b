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
 * - `retry`: send the same request again later; tokens and registrations may still be
 *   valid.
 * - `reauthorize`: discard the token or code, and start a new authorization.
 * - `reregister`: discard the client as well, and register or select another one.
 * - `ask_user`: the user declined or failed to sign in; start again only if the user
 *   wants to.
 * - `give_up`: a retry fails the same way until you change the request, the
 *   configuration or the server.
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

type ActionTable = readonly (readonly [AdviceAction, readonly string[]])[];

/** Error codes whose meaning depends on the request. */
const BY_REQUEST: Readonly<Record<OAuthClientErrorRequest, ActionTable>> = {
  refresh: [
    ["reauthorize", [
      // GitHub sends the first, and LemonLDAP::NG the last.
      "bad_refresh_token",
      "invalid_refresh_token",
      "invalid_request",
    ]],
  ],
  // The error concerns neither the user nor a known client.
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
  // The user was not prompted.
  authorization: [["give_up", ["access_denied"]]],
};

/** Error codes after any other request. */
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

/** For errors without a server's error code. */
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

/** Checks whether the same request may succeed later. */
export function isTemporary(status = 0): boolean {
  // RFC 9110, section 15.5.9; RFC 8470, section 5.2; RFC 6585, section 4.
  return status >= 500 || [408, 425, 429].includes(status);
}

function mayRespond(
  { code, url, networkReason: reason }: OAuthClientError,
): boolean {
  // Without a URL, the user took too long.
  return code === "timeout"
    ? url !== undefined
    : code === "network_error" && !reason?.startsWith("certificate");
}

/** Errors that `fetch` threw for the caller's own request. */
const unanswered = /* @__PURE__ */ new WeakSet<object>();

/**
 * Notes an error that `fetch` threw for the caller's request. The caller receives it
 * unchanged.
 */
export function noteUnanswered(thrown: unknown): void {
  if (isUnanswered(thrown)) unanswered.add(Object(thrown));
}

/**
 * Checks whether an error is a temporary failure, which does not concern the content of
 * the request.
 */
export function isOutage(error: unknown): boolean {
  return isOAuthClientError(error) &&
    (error.code === "network_error" || adviceFor(error).action === "retry");
}

function actionByRequest(
  { request, error, status = 0, errorResponse }: OAuthClientError,
): AdviceAction | undefined {
  if (!request) return undefined;
  if (request !== "refresh" || error !== undefined) {
    return actionIn(BY_REQUEST[request], error);
  }
  if (status !== 400 && status !== 401) return undefined;
  // A page comes from a proxy: the server did not answer.
  if (errorResponse === undefined) return "retry";
  // glewlwyd answers a dead refresh token with 400 and no body, Supabase with other
  // JSON. Gateways also send other JSON.
  return Object.keys(errorResponse).length > 0 ? undefined : "reauthorize";
}

/**
 * Returns what to do after a failure: one of five {@linkcode AdviceAction | actions}.
 *
 * `docs/errors.md` in the package contains the table of all failures.
 *
 * @param error The value that a function of this library, or an authorized fetch,
 * threw.
 * @returns The action, and for `retry` the `retryAfterSeconds` of the error.
 * @see RFC 6749, sections 4.1.2.1 and 5.2; RFC 8628, section 3.5.
 * @example Wait before a retry
 * ```ts
 * import { adviceFor, OAuthClientError } from "@oauth-helper/client";
 *
 * const busy = new OAuthClientError("unexpected_status", "Busy", { status: 503 });
 * const { action, retryAfterSeconds = 5 } = adviceFor(busy);
 * if (action === "retry") console.log(`Try again in ${retryAfterSeconds} s`);
 * ```
 * @category Errors
 */
export function adviceFor(error: unknown): Advice {
  if (!isOAuthClientError(error)) {
    return { action: unanswered.has(error as object) ? "retry" : "give_up" };
  }
  const { status, attempts = [], retryAfterSeconds, sessionVersion } = error;
  // A new sign-in would overwrite another version's session.
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
