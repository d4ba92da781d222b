import type { Dpop } from "../../client/dpop.ts";
import type { GrantContext } from "../../token/_grant_context.ts";
import { STEPS } from "../_step_table.ts";
import type { DiagnosisStepName } from "../diagnosis.ts";
import { type Survey, trialOf } from "../_probe.ts";

/** Checks whether a purpose is also the name of a step. */
const isStep = (name: string): name is DiagnosisStepName =>
  Object.hasOwn(STEPS, name);

export interface SignInRequests {
  readonly context: GrantContext;
  /** The step of the last request or page. */
  step: DiagnosisStepName;
  as(step: DiagnosisStepName): void;
}

/** Records each request. */
export function requestsOf(
  survey: Survey,
  dpop: Dpop | undefined,
): SignInRequests {
  const { options, recorder } = survey;
  const { allowUrl = () => true } = survey.transport;
  let tokenStep: DiagnosisStepName = "token";
  const fetch = recorder.fetchFor(() => requests.step);
  const requests: SignInRequests = {
    step: "registration",
    as(step) {
      requests.step = tokenStep = step;
    },
    context: {
      ...trialOf(survey, fetch),
      allowUrl(url, purpose) {
        if (purpose === "token") requests.step = tokenStep;
        else if (isStep(purpose)) requests.step = purpose;
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
