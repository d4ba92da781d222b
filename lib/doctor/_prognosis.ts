/** The findings of a diagnosis, and the errors that stop a client. */

import { isMembers } from "../core/_members.ts";
import {
  type AssumedDocument,
  assumedDocumentOf,
  assumptionsOf,
  isOfTrust,
} from "./_assumptions.ts";
import type { Facts } from "./_facts.ts";
import type { Survey } from "./_probe.ts";
import { CHALLENGE_RULES } from "./rules/_challenge.ts";
import { DOCUMENT_RULES } from "./rules/_documents.ts";
import { IDENTIFIER_RULES } from "./rules/_identifiers.ts";
import { REACH_RULES } from "./rules/_reach.ts";
import { applyAll, type Rule } from "./rules/_rule.ts";
import { SERVER_RULES } from "./rules/_server.ts";
import { SESSION_RULES } from "./rules/_session.ts";
import { SIGN_IN_RULES } from "./rules/_sign_in.ts";
import { type Remedies, retry } from "./_survey.ts";
import { isError, isStopping, optionsOf } from "./_verdict.ts";
import type {
  DiagnoseOptions,
  DiagnosisAssumption,
  DiagnosisOption,
  Finding,
} from "./diagnosis.ts";

const RULES: readonly Rule[] = [
  ...REACH_RULES,
  ...CHALLENGE_RULES,
  ...DOCUMENT_RULES,
  ...IDENTIFIER_RULES,
  ...SERVER_RULES,
  ...SIGN_IN_RULES,
  ...SESSION_RULES,
];

const SEVERITIES = ["error", "warning", "info"] as const;

/** By severity; errors that no option fixes come first. */
function sorted(findings: readonly Finding[]): Finding[] {
  const rank = ({ severity, options }: Finding) =>
    severity === "error" && !options ? -1 : SEVERITIES.indexOf(severity);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

export const findingsOf = (facts: Facts) => sorted(applyAll(RULES, facts));

/** Equal for two findings about the same problem. */
const findingKey = ({ id, url }: Finding) => `${id} ${url}`;

/**
 * Adds findings that only appear with a client's options. Without a request, discovery
 * may fail because of these options.
 */
export function joined(
  findings: readonly Finding[],
  later: readonly Finding[],
): Finding[] {
  const known = findings.map(findingKey);
  const further = later.filter((one) =>
    !known.includes(findingKey(one)) && one.id !== "discovery_failed"
  );
  return sorted([...findings, ...further]);
}

/** The options that a diagnosis can test without the caller. */
function remediesOf(
  given: DiagnoseOptions,
  options: readonly DiagnosisOption[],
): Remedies {
  const remedies: Remedies = {};
  for (const { name, value } of options) {
    if (name === "allowHttp" || name === "assumePkce") remedies[name] = true;
    if (name === "trustedIssuers" && isMembers(value)) {
      remedies[name] = { ...given[name], ...value } as Record<string, string>;
    }
  }
  return remedies;
}

/** The errors that stop a client, and the options that fix them. */
export interface Prognosis {
  /** The facts with the options; without them if they do not help. */
  readonly facts: Facts;
  readonly findings: readonly Finding[];
  /** The facts with all assumptions. */
  readonly last: Facts;
  /** The assumptions that reveal all findings. */
  readonly assumed: readonly DiagnosisAssumption[];
  readonly errors: readonly Finding[];
  readonly options: DiagnosisOption[];
  /** Whether the sign-in is skipped, because only the caller may set its options. */
  readonly isLeftOut?: boolean;
}

function assuming(
  assumed: readonly DiagnosisAssumption[],
  findings: readonly Finding[],
): Finding[] {
  return findings.map((one) =>
    assumed.length > 0 ? { ...one, assumed: [...assumed] } : one
  );
}

/** Adds a sign-in's findings to the findings before it. */
export function withFindings(
  { findings, assumed }: Prognosis,
  later: readonly Finding[],
): Finding[] {
  const of = (finding: Finding) =>
    findings.find((one) => findingKey(one) === findingKey(finding));
  return later.flatMap((one) => {
    const before = of(one);
    return before
      ? { ...one, ...(before.assumed && { assumed: before.assumed }) }
      : assuming(assumed, [one]);
  });
}

/** How many times discovery runs again. */
const MAX_TRIES = 5;

/**
 * Runs discovery again, with the errors' options, and with a document that contains one
 * fault: one error can hide another. This only requests documents.
 */
export async function prognosisOf(
  survey: Survey,
  facts: Facts,
): Promise<Prognosis> {
  let left = findingsOf(facts);
  let findings = left;
  let options = optionsOf(facts, findings);
  let last = facts;
  let isBroken = false;
  let document: AssumedDocument | undefined;
  let assumed: DiagnosisAssumption[] = [];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    isBroken ||= left.some((one) => isError(one) && !one.options);
    if (!isBroken && !left.some(isStopping)) {
      return { facts: last, last, findings, assumed, errors: [], options };
    }
    const known = assumed.length;
    document ??= assumedDocumentOf(last);
    assumed = assumptionsOf(findings, options, document);
    if (assumed.length === known) break;
    const remedies = remediesOf(facts.options, options);
    last = await retry(survey, facts, { ...remedies, document });
    left = findingsOf(last);
    // Only sign-ins use PKCE.
    findings = joined(findings, assuming(assumed.filter(isOfTrust), left));
    options = optionsOf(last, left, options);
  }
  return {
    facts,
    last,
    findings,
    assumed,
    errors: findings.filter(isError),
    options: [],
  };
}
