/** The reason why a sign-in failed, for the rules about it. */

import type { IFacts, ISignInFacts } from "./_facts.ts";
import type { IExchange } from "./_recorder.ts";
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

/** Checks whether another finding says why a flow failed. */
export function isExplained({ signIn, exchanges }: IFacts): boolean {
  const { failure, callback } = signIn ?? {};
  if (!failure) return true;
  const { step, error } = failure;
  const { code } = error;
  const exchange = lastOf(exchanges, step);
  const isBlocked = exchange?.response?.status === 403 && isPage(exchange);
  return isBlocked || needsDpop(signIn) || error.error === "access_denied" ||
    ["network_error", "timeout", "invalid_id_token"].includes(code) ||
    (step === "authorization" && (!callback || code === "issuer_mismatch"));
}
