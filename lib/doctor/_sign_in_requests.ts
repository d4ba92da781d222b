/** The requests of a sign-in: their transport, and the step that each belongs to. */

import type { IDpop } from "../client/dpop.ts";
import type { RequestPurpose } from "../http/request_options.ts";
import type { IGrantContext } from "../token/_grant_context.ts";
import type { DiagnosisStepName } from "./diagnosis.ts";
import { type ISurvey, trialOf } from "./_probe.ts";

/** The step that a request of a flow belongs to. */
const STEPS: Partial<Record<RequestPurpose, DiagnosisStepName>> = {
  registration: "registration",
  pushed_authorization: "pushed_authorization",
  device_authorization: "device_authorization",
  token: "token",
  revocation: "revocation",
};

/** How the requests of a sign-in are made. */
export interface ISignInRequests {
  /** The context of the flow. */
  readonly context: IGrantContext;
  /** The step of the last request or visit. */
  step: DiagnosisStepName;
  /** Sets the step of token requests, and whether a client would make them. */
  as(step: DiagnosisStepName, isExtra?: boolean): void;
}

/** Returns how the requests of a sign-in are made; each is recorded. */
export function requestsOf(
  survey: ISurvey,
  dpop: IDpop | undefined,
): ISignInRequests {
  const { options, recorder } = survey;
  const { allowUrl = () => true } = survey.transport;
  let tokenStep: DiagnosisStepName = "token";
  let extra = false;
  const fetchAs = (isExtra: boolean) =>
    recorder.fetchFor(() => requests.step, { isExtra });
  const usual = fetchAs(false);
  const further = fetchAs(true);
  const requests: ISignInRequests = {
    step: "registration",
    as(step, isExtra = false) {
      requests.step = tokenStep = step;
      extra = isExtra;
    },
    context: {
      ...trialOf(survey, (...request) => (extra ? further : usual)(...request)),
      allowUrl(url, purpose) {
        const step = STEPS[purpose] ?? requests.step;
        requests.step = step === "token" ? tokenStep : step;
        return allowUrl(url, purpose);
      },
      client: undefined,
      dpop,
      headers: undefined,
      now: options.now ?? Date.now,
    },
  };
  return requests;
}
