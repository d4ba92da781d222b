/** The reason why a sign-in failed, for the rules about it. */

import { type IFacts, type ISignInFacts, sentence } from "./_facts.ts";
import type { IExchange } from "./_recorder.ts";
import type { ISighting } from "./_rules.ts";
import { lastOf } from "./_sign_in_steps.ts";
import type { DiagnosisStepName } from "./diagnosis.ts";

/** Returns the failure of a flow at one of these steps. */
export function failureAt({ signIn }: IFacts, ...steps: DiagnosisStepName[]) {
  const { failure } = signIn ?? {};
  return failure && steps.includes(failure.step) ? failure : undefined;
}

/** Checks whether a response is an HTML page, where a client expects JSON. */
export function isPage({ response, text = "" }: IExchange): boolean {
  return /^\s*<(!doctype|html)/i.test(text) ||
    /\bhtml\b/i.test(response?.headers?.get("Content-Type") ?? "");
}

/** Checks whether a sign-in has failed as the server wants tokens bound to a key. */
export function needsDpop(signIn: ISignInFacts | undefined): boolean {
  return !signIn?.hasDpop &&
    ["invalid_dpop_proof", "use_dpop_nonce"].includes(
      signIn?.failure?.error.error ?? "",
    );
}

/** Checks whether another finding gives the reason why a flow failed. */
export function isExplained(facts: IFacts, step: DiagnosisStepName): boolean {
  const exchange = lastOf(facts.exchanges, step);
  const { error } = facts.signIn?.failure ?? {};
  return needsDpop(facts.signIn) ||
    ["network_error", "timeout"].includes(error?.code ?? "") ||
    (exchange !== undefined && isPage(exchange));
}

/** Describes a failure as a sighting. */
export const saying = (
  failure: ReturnType<typeof failureAt>,
): ISighting | undefined =>
  failure &&
  { message: sentence(failure.error), at: failure.step };
