/** Whether the user may be prompted to sign in. */

import { adviceFor } from "../../core/advice.ts";
import {
  isOAuthClientError,
  type OAuthClientError,
} from "../../core/errors.ts";
import type { Authorize } from "../../flows/flow.ts";
import type { INeed } from "./_need.ts";

/** When a fetch may prompt; one object for each fetch. */
export interface IPromptPolicy {
  /** Which functions may prompt: each call, or `authorize()` only. */
  readonly signInOn: "call" | "authorize";
}

/** What is known when a sign-in is considered; what is not known yet is absent. */
export interface IPromptFacts {
  readonly authorize: Pick<Authorize, "needsUser"> | undefined;
  /** Whether a URL that rejects the token may lead to a sign-in. */
  readonly mayLeadToSignIn?: boolean;
  readonly signInOn?: IPromptPolicy["signInOn"];
  /** The error of the sign-in that the user abandoned, if none came after it. */
  readonly abandoned?: unknown;
  /** The error by which the server has put this sign-in off. */
  readonly putOff?: OAuthClientError | undefined;
}

/**
 * Returns whether a sign-in may start, and the user be prompted; the first row that
 * applies. Asked when a response requires a sign-in, under the lock after a refresh, after
 * the discovery, and before a page is shown: each time with what is known by then.
 *
 * | the flow        | the sign-in                | known                                | prompt     |
 * | --------------- | -------------------------- | ------------------------------------ | ---------- |
 * | any             | by a call, or a first click | the server has put it off           | `put_off`  |
 * | needs no user   | any                        | any                                  | `yes`      |
 * | any             | any                        | the URL rejects the token, and may not lead to a sign-in | `given_up` |
 * | no `authorize`  | any                        | any                                  | `no_flow`  |
 * | any             | the user asked for it      | any                                  | `yes`      |
 * | any             | by a call                  | `signInOn` is `authorize`            | `click`    |
 * | any             | by a call                  | the user abandoned the last sign-in  | `click`    |
 * | any             | by a call                  | any other                            | `yes`      |
 *
 * `click`: only `authorize()` may prompt. The receivers of `./native` also queue the pages
 * of one machine.
 */
export function promptFor(
  { reason, isUserInitiated }: Pick<INeed, "reason" | "isUserInitiated">,
  { authorize, mayLeadToSignIn = true, ...facts }: IPromptFacts,
): "yes" | "put_off" | "given_up" | "no_flow" | "click" {
  if (facts.putOff && !isUserInitiated && reason !== "fresh") return "put_off";
  if (authorize?.needsUser === false) return "yes";
  if (!mayLeadToSignIn) return "given_up";
  if (!authorize) return "no_flow";
  const isClickNeeded = facts.signInOn === "authorize" ||
    facts.abandoned !== undefined;
  return isUserInitiated || !isClickNeeded ? "yes" : "click";
}

/** Codes of errors after which the next sign-in may succeed, whatever the advice is. */
const UNFINISHED_CODES: readonly string[] = [
  "popup_blocked",
  "popup_closed",
  "redirected",
  // Such as by the network's own sign-in page.
  "redirect_refused",
];

/**
 * Checks whether the user abandoned a sign-in, or saw one that ended with an error that the
 * next one would end with too. An error with a `request` is of the server, not of the user.
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
