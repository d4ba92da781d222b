/** The requests of a sign-in: their transport, and the step that each belongs to. */

import type { IDpop } from "../client/dpop.ts";
import { fetchWith } from "../http/_context.ts";
import type { IFetch, RequestPurpose } from "../http/request_options.ts";
import type { ISessionOptions } from "../session/session.ts";
import type { DiagnosisStepName } from "./diagnosis.ts";
import type { ISurvey } from "./_probe.ts";

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
  /** The client options of the functions of sessions. */
  readonly session: ISessionOptions & { fetch: IFetch };
  /** The step of the last request or visit. */
  step: DiagnosisStepName;
  /** Sets the step of token requests, and whether a client would make them. */
  as(step: DiagnosisStepName, isExtra?: boolean): void;
}

/** Returns how the requests of a sign-in are made; each is recorded. */
export function requestsOf(
  { options, transport, recorder }: ISurvey,
  dpop: IDpop | undefined,
): ISignInRequests {
  const { allowUrl = () => true, sent, userAgent } = transport;
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
    session: {
      fetch: fetchWith(
        (url, init) => (extra ? further : usual)(url, init),
        { sent, userAgent },
      ),
      signal: transport.signal,
      timeoutMs: transport.timeoutMs,
      maxBytes: transport.maxBytes,
      allowUrl(url, purpose) {
        const step = STEPS[purpose] ?? requests.step;
        requests.step = step === "token" ? tokenStep : step;
        return allowUrl(url, purpose);
      },
      allowHttp: options.allowHttp,
      dpop,
      now: options.now,
    },
  };
  return requests;
}
