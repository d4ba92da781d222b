/** Requests that were repeated, as one. */

import type { IDiagnosisStep } from "./diagnosis.ts";

/** Requests with the same result, one after the other. */
export interface IJoinedStep {
  /** The first of them. */
  readonly step: IDiagnosisStep;
  /** How many there are. */
  readonly count: number;
  /** Where they are in the list of steps. */
  readonly indices: readonly number[];
}

/** Joins requests that were repeated, such as the polls of a device flow. */
export function joinSteps(steps: readonly IDiagnosisStep[]): IJoinedStep[] {
  const joined: IJoinedStep[] = [];
  const keyOf = ({ name, url, status, result }: IDiagnosisStep) =>
    [name, url, status, result].join(" ");
  steps.forEach((step, index) => {
    const last = joined.at(-1);
    if (!last || keyOf(last.step) !== keyOf(step)) {
      joined.push({ step, count: 1, indices: [index] });
      return;
    }
    const { step: first, count, indices } = last;
    joined[joined.length - 1] = {
      step: first,
      count: count + 1,
      indices: [...indices, index],
    };
  });
  return joined;
}
