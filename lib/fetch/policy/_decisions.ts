/**
 * The next step for a session, a pure table for each question: before a call, after a
 * response, in a renewal, after a failed refresh, and before a prompt.
 */

import { adviceFor, isOutage } from "../../core/advice.ts";
import {
  isOAuthClientError,
  type OAuthClientError,
} from "../../core/errors.ts";
import type { Flow } from "../../flows/flow.ts";
import { areRequestable } from "../../core/_scope_values.ts";
import { mergeScopes, missingScopes } from "../../core/scopes.ts";
import { bearerOf, expires, type TokenRules } from "../../session/_bearer.ts";
import { type Attempt, type Need, reasonFor } from "./_need.ts";
import {
  isRefreshUseless,
  mayAnotherTokenHelp,
  type Rejection,
  type TokenRecords,
} from "./_rejections.ts";
import type { StoredSession } from "../../session/session.ts";

type MaybeSession = StoredSession | undefined;

interface Deciding {
  readonly rules: TokenRules;
  readonly flow: Pick<Flow, "needsUser"> | undefined;
}

/** Checks whether a session, perhaps renewed by another caller, meets the need. */
export function fits(
  session: MaybeSession,
  { reason, refused, requiredScopes }: Need,
  rules: TokenRules,
): boolean {
  const token = bearerOf(session, rules);
  return session !== undefined && token !== undefined &&
    token !== refused && reason !== "fresh" &&
    !expires(session, "now", rules) &&
    missingScopes(requiredScopes, session.scopes).length === 0;
}

/** Returns a stored session with its token, unless the token has expired. */
export function unexpired(
  session: MaybeSession,
  rules: TokenRules,
): Attempt {
  const isExpired = session !== undefined && expires(session, "now", rules);
  const token = isExpired ? undefined : bearerOf(session, rules);
  return { session, token, source: "store" };
}

export interface Start {
  readonly isRequired: boolean;
  /** The URL of the call; undefined for `signIn()`. */
  readonly url?: URL;
  readonly isUserInitiated?: boolean | undefined;
}

/**
 * Returns a call's need before it is sent; the first row that applies. `early`: the
 * token is still valid, and is used if the renewal fails.
 *
 * | the stored session | the call | needs |
 * | --- | --- | --- |
 * | without a refresh token | without `flow` | nothing |
 * | none, or without a token | requires a session | `no_session` |
 * | without a token, with the refresh token of several APIs | any | `no_session` |
 * | none, or without a token | any other | nothing |
 * | its token is known to be rejected here | requires a session | `refused` |
 * | its token has expired | any | `expired` |
 * | its token expires soon, with a refresh token | any | `expired`, `early` |
 * | its token expires soon | requires a session, and needs no user, or the user wants it | `expired`, `early` |
 * | any other | any | nothing |
 */
export function needAtStart(
  session: MaybeSession,
  { isRequired, url, isUserInitiated }: Start,
  { rules, flow, keeper: { memory } }:
    & Deciding
    & { readonly keeper: { readonly memory: TokenRecords } },
): { need?: Need; isEarly?: boolean } {
  const refused = bearerOf(session, rules);
  const hasRefresh = session?.token?.refresh_token !== undefined;
  if (!hasRefresh && !flow) return {};
  const common = { refused, mayRefresh: true, isUserInitiated };
  if (!session || !refused) {
    const isNeeded = isRequired || (hasRefresh && session?.apis);
    return isNeeded ? { need: { ...common, reason: "no_session" } } : {};
  }
  if (isRequired && mayAnotherTokenHelp(memory, refused, url)) {
    const mayRefresh = !(isUserInitiated && isRefreshUseless(memory, refused));
    return { need: { ...common, reason: reasonFor(refused), mayRefresh } };
  }
  const isEarly = !expires(session, "now", rules);
  // No call with a valid token waits for the user.
  const mayWait = isUserInitiated || flow?.needsUser === false;
  const mayBeEarly = hasRefresh || (isRequired && mayWait);
  return !isEarly || (mayBeEarly && expires(session, "soon", rules))
    ? { need: { ...common, reason: "expired" }, isEarly }
    : {};
}

/** A renewal's step for the session that it finds under the lock. */
export type Step = "use" | "refresh" | "ask";

/**
 * Returns a renewal's step; the first row that applies. `ask` calls `flow`.
 *
 * | the session | step |
 * | --- | --- |
 * | another valid token than the rejected one, with the scopes | `use` |
 * | any, and the scopes are more than can be requested | `use` |
 * | a refresh token and a client, and a refresh may help | `refresh` |
 * | the same, with another token than the rejected one; unless the user must sign in | `refresh` |
 * | any other | `ask` |
 */
export function stepOf(
  session: MaybeSession,
  need: Need,
  { rules, hasClient }: { rules: TokenRules; hasClient: boolean },
): Step {
  const { reason, refused, requiredScopes } = need;
  // Another call may have added scopes in the meantime.
  const scopes = mergeScopes(session?.scopes, requiredScopes);
  const isTooMuch = requiredScopes !== undefined && !areRequestable(scopes);
  if (fits(session, need, rules) || isTooMuch) return "use";
  const isNewSignIn = reason === "fresh" || reason === "step_up";
  // Another process may have stored a session that has expired since.
  const isOther = bearerOf(session, rules) !== refused && !isNewSignIn;
  const mayRefresh = (need.mayRefresh || isOther) && hasClient &&
    session?.token?.refresh_token;
  return mayRefresh ? "refresh" : "ask";
}

export interface Arrival extends Pick<Deciding, "flow"> {
  readonly rejection: Pick<Rejection, "isRepeated"> | undefined;
  /** Whether its URL may cause a sign-in; for some URLs, a new token is no better. */
  mayLeadToSignIn(): boolean;
  /**
   * Whether the request cannot be sent again: its body is gone, the session was revoked
   * meanwhile, or there were three renewals.
   */
  readonly isLast: boolean;
}

/**
 * Returns a call's reaction to a response; the first row that applies. `refresh` is a
 * renewal without a prompt.
 *
 * | the response | the call | answer |
 * | --- | --- | --- |
 * | another session would not help | any | `return` |
 * | any | cannot be sent again | `return` |
 * | rejects a token that was rejected when new | without `flow` | `return` |
 * | any other, or its URL may cause a sign-in | any; or `flow` needs no user | `renew` |
 * | rejects the token | a refresh may help | `refresh` |
 * | rejects the token | any other | `return` |
 */
export function answerTo(
  need: Need | undefined,
  { session }: Pick<Attempt, "session">,
  { flow, rejection, mayLeadToSignIn, isLast }: Arrival,
): "return" | "renew" | "refresh" {
  if (!need || isLast) return "return";
  // Otherwise each call of a rejected user would refresh the token.
  if (!flow && rejection?.isRepeated) return "return";
  const prompt = promptFor(need, {
    flow,
    mayLeadToSignIn: !rejection || mayLeadToSignIn(),
  });
  if (prompt !== "given_up") return "renew";
  const hasRefresh = session?.token?.refresh_token !== undefined;
  return need.mayRefresh && hasRefresh ? "refresh" : "return";
}

/** Codes of failed refreshes without a status after which a sign-in may help. */
const MENDED_CODES: readonly string[] = [
  // The stored token endpoint has moved. A sign-in discovers the new one. By
  // `UNFINISHED_CODES`, it may be repeated if it also meets the redirect.
  "redirect_refused",
  "invalid_id_token",
  // The client is registered with another server than the session.
  "issuer_mismatch",
];

/**
 * Returns the part of a session that remains after a failed refresh; the first row that
 * applies. `error`: the failure is temporary, or a sign-in does not resolve it.
 *
 * | the error of the refresh | when | remains |
 * | --- | --- | --- |
 * | not from this library | always | `error` |
 * | 500 with `server_error` | the token is rejected, or expired | `all` |
 * | a page in place of JSON, with 400 or 401 | the user wants a sign-in | `all` |
 * | with the advice `retry` | otherwise | `error` |
 * | without a status, but for `MENDED_CODES` | always | `error` |
 * | with the advice `reregister` | always | `nothing` |
 * | with the advice `reauthorize`; `invalid_id_token` | always | `client` |
 * | any other: the endpoint may have moved | always | `all` |
 */
export function remainsAfter(
  error: unknown,
  { reason, isUserInitiated }: Pick<Need, "reason" | "isUserInitiated">,
  isExpired: boolean,
): "error" | "all" | "client" | "nothing" {
  if (!isOAuthClientError(error)) return "error";
  const { action } = adviceFor(error);
  const { status, code } = error;
  // Some servers respond like this to each dead refresh token.
  const isServerError = status === 500 && error.error === "server_error";
  const isNeeded = reason !== "expired" || isExpired;
  if (isServerError && isNeeded) return "all";
  // From a proxy, or a server without JSON: each later refresh may return it.
  const isPage = code === "unexpected_status" &&
    (status === 400 || status === 401);
  if (isPage && isUserInitiated && action === "retry") return "all";
  const mayBeMended = status !== undefined || MENDED_CODES.includes(code);
  if (action === "retry" || !mayBeMended) return "error";
  if (action === "reregister") return "nothing";
  // This refresh token has been used: to the server, a second use may look like theft.
  const isUsed = code === "invalid_id_token";
  return action === "reauthorize" || isUsed ? "client" : "all";
}

/** User-related codes that no call with a valid token fails with. */
const TOLERATED_CODES: readonly string[] = ["sign_in_required", "timeout"];

/** Checks whether a valid token is used after a failed renewal. */
export function isTolerable(error: unknown): boolean {
  return isOutage(error) ||
    (isOAuthClientError(error) && TOLERATED_CODES.includes(error.code));
}

export interface PromptPolicy {
  /** Which functions may prompt: each call, or `signIn()` only. */
  readonly signInOn: "call" | "signIn";
}

export interface PromptFacts {
  readonly flow: Pick<Flow, "needsUser"> | undefined;
  /** Whether a URL that rejects the token may cause a sign-in. */
  readonly mayLeadToSignIn?: boolean;
  readonly signInOn?: PromptPolicy["signInOn"];
  /** The error of the sign-in that the user abandoned, unless another one followed. */
  readonly abandoned?: unknown;
  readonly putOff?: OAuthClientError | undefined;
}

/**
 * Returns whether a sign-in may start and prompt; the first row that applies. Called
 * after a response, under the lock after a refresh, after the discovery, and before a
 * prompt: each time with the known facts.
 *
 * | the flow | the sign-in | known | prompt |
 * | --- | --- | --- | --- |
 * | any | by a call | the server has put it off | `put_off` |
 * | needs no user | any | any | `yes` |
 * | any | any | the URL rejects the token, and may not cause a sign-in | `given_up` |
 * | no `flow` | any | any | `no_flow` |
 * | any | by `signIn()` | any | `yes` |
 * | any | by a call | `signInOn` is `signIn` | `click` |
 * | any | by a call | the user abandoned the last sign-in | `click` |
 * | any | by a call | any other | `yes` |
 *
 * `click`: only `signIn()` may prompt. The receivers of `./native` also queue the pages
 * of one machine.
 */
export function promptFor(
  { isUserInitiated }: Pick<Need, "isUserInitiated">,
  facts: PromptFacts,
): "yes" | "put_off" | "given_up" | "no_flow" | "click" {
  if (facts.putOff && !isUserInitiated) return "put_off";
  if (facts.flow?.needsUser === false) return "yes";
  if (facts.mayLeadToSignIn === false) return "given_up";
  if (!facts.flow) return "no_flow";
  const isClickNeeded = facts.signInOn === "signIn" ||
    facts.abandoned !== undefined;
  return isUserInitiated || !isClickNeeded ? "yes" : "click";
}

/** Codes of errors after which the next sign-in may succeed, whatever the advice. */
const UNFINISHED_CODES: readonly string[] = [
  "popup_blocked",
  "popup_closed",
  "redirected",
  // Such as by the network's own sign-in page, which concerns neither the user nor the
  // server.
  "redirect_refused",
];

/**
 * Checks whether the user abandoned a sign-in, or saw one fail with an error that would
 * recur. Errors with a `request` are the server's, not the user's.
 */
export function isAbandoned(error: unknown, isShown: boolean): boolean {
  if (isOAuthClientError(error)) {
    const { code, request } = error;
    return code === "expired" ||
      (error.error === "access_denied" && request === undefined) ||
      (isShown && !UNFINISHED_CODES.includes(code) &&
        adviceFor(error).action !== "retry");
  }
  return isShown && error instanceof Error && error.name === "AbortError";
}
