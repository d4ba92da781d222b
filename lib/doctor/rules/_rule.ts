import type { Members } from "../../core/_members.ts";
import { scopesFrom } from "../../core/_scope_values.ts";
import { missingScopes } from "../../core/scopes.ts";
import { excerptOf, exchangeFor } from "./_excerpts.ts";
import {
  acceptedOf,
  allDocuments,
  type AnyDocument,
  type Facts,
  membersOf,
  severityAt,
  shown,
} from "../_facts.ts";
import type { Exchange } from "../_recorder.ts";
import { lastOf } from "../sign_in/_steps.ts";
import type {
  DiagnosisOption,
  DiagnosisStepName,
  Finding,
  FindingHint,
  FindingSeverity,
} from "../diagnosis.ts";

/** A rule's result. Its members replace the rule's. */
export interface Sighting
  extends Partial<Omit<Finding, "id" | "step" | "excerpt" | "hints">> {
  message: string;
  hints?: readonly FindingHint[] | undefined;
  /**
   * The request that shows it, or a step's last request; by default the request of
   * `url`.
   */
  at?: DiagnosisStepName | Exchange;
  shows?: readonly string[];
  /** Whether it counts only without any other error. */
  isFallback?: true;
}

/** A sighting, or only its sentence; anything else is no sighting. */
export type Found = Sighting | string | false | undefined;

/** A kind of finding. A comment next to its `id` names a source. */
export interface Rule {
  readonly id: string;
  /** @default "warning" */
  readonly severity?: FindingSeverity;
  readonly standard: string;
  readonly operator: string;
  readonly client?: string;
  readonly hints?: readonly FindingHint[];
  /** Its subject: metadata is passed to `find`, and its URL is shown. */
  readonly about?: "resource" | "server_metadata";
  /** The step whose last request shows it. */
  readonly at?: DiagnosisStepName;
  readonly shows?: readonly string[];
  readonly find: (facts: Facts, members: Members) => Found | Found[];
}

function subjectUrlOf(facts: Facts, { about }: Rule): string | undefined {
  const { target, serverDocuments } = facts;
  if (about === "resource") return target.href;
  return about &&
    (acceptedOf(serverDocuments) ?? serverDocuments.find(membersOf))?.url;
}

/** For a resource whose server the user knows. */
export const KNOWN_SERVER: FindingHint = {
  option: "authorizationServer",
  text: "set authorizationServer, if it is known",
};

/** For a server that registers no client. */
export const REGISTERED_CLIENT: FindingHint = {
  option: "client",
  text: "set client to one that the operator has registered",
};

/** Applies a rule; returns its sightings, each with its finding. */
function apply(
  rule: Rule,
  facts: Facts,
): { finding: Finding; isFallback: boolean }[] {
  const { id, severity = "warning", standard, operator, client } = rule;
  const members = rule.about === "server_metadata" ? facts.server : {};
  if (!members) return [];
  return [rule.find(facts, members)].flat().flatMap((found) => {
    if (!found) return [];
    const sighting = typeof found === "string" ? { message: found } : found;
    const {
      at = rule.at,
      shows = rule.shows,
      url: named,
      isFallback = false,
      hints = rule.hints ?? [],
      ...seen
    } = sighting;
    const about = named ?? subjectUrlOf(facts, rule);
    const exchange = typeof at === "string"
      ? lastOf(facts.exchanges, at)
      : at ?? exchangeFor(facts, about);
    const url = about ?? exchange?.url;
    const excerpt = exchange && excerptOf(facts, shows, exchange);
    const finding = {
      id,
      severity,
      standard,
      operator,
      ...(client !== undefined && { client }),
      ...seen,
      ...(hints[0] && { hints: [...hints] }),
      ...(url !== undefined && { url }),
      ...(exchange && { step: facts.exchanges.indexOf(exchange) }),
      ...(excerpt && { excerpt }),
    };
    return [{ finding, isFallback }];
  });
}

export function applyAll(rules: readonly Rule[], facts: Facts): Finding[] {
  const found = rules.flatMap((rule) => apply(rule, facts));
  const isExplained = found.some(({ finding, isFallback }) =>
    !isFallback && finding.severity === "error"
  );
  return found.filter(({ isFallback }) => !isFallback || !isExplained)
    .map(({ finding }) => finding);
}

/** Returns the scopes that a server lists as granted, but did not grant. */
export function withheldScopes(
  wanted: readonly string[],
  scope: unknown,
): string[] {
  const granted = scopesFrom(scope);
  return granted.length > 0 ? missingScopes(wanted, granted) : [];
}

/** Adds the options with which a client continues, if it stops without them. */
export function liftedBy(
  sighting: Sighting | undefined,
  ...options: DiagnosisOption[]
): Sighting | undefined {
  const { severity = "error" } = sighting ?? {};
  return sighting && severity === "error" && options.length > 0
    ? { ...sighting, options }
    : sighting;
}

/**
 * Returns the option that accepts an issuer for another; none for an issuer with a
 * fragment or with unprintable characters.
 */
function trustedIssuer(named: string, claimed: unknown): DiagnosisOption[] {
  const isPlain = typeof claimed === "string" && !claimed.includes("#") &&
    [named, claimed].every((one) => shown(one, 500) === one);
  return isPlain
    ? [{ name: "trustedIssuers", value: { [named]: claimed } }]
    : [];
}

/** Adds how a client continues that knows two issuers to be one server. */
export function liftedByTrust(
  sighting: Sighting | undefined,
  named: string,
  claimed: unknown,
): Sighting | undefined {
  const options = trustedIssuer(named, claimed);
  const [{ value } = {}] = options;
  return liftedBy(
    sighting && {
      ...sighting,
      client:
        "A server that claims another server's identity may be trying to " +
        "steal its codes and tokens.",
      hints: [{
        option: "trustedIssuers",
        ...(value !== undefined && { value }),
        text: "only if you know that both are the same server, set " +
          `trustedIssuers: { "${shown(named)}": "${shown(claimed)}" }`,
      }],
    },
    ...options,
  );
}

/** Describes the documents that match: the worst, and their number. */
export function findDocument(
  facts: Facts,
  test: (document: AnyDocument, facts: Facts) => string | false | undefined,
  of?: "resourceDocuments" | "serverDocuments",
): (Sighting & { url: string }) | undefined {
  const documents = of ? facts[of] : allDocuments(facts);
  const found = documents.flatMap((document: AnyDocument) => {
    const message = test(document, facts);
    const severity = severityAt(facts, document);
    return message ? [{ message, severity, url: document.url }] : [];
  });
  const worst = found.find(({ severity }) => severity === "error") ?? found[0];
  const more = found.length - 1;
  return worst && {
    ...worst,
    message: worst.message + (more > 0 ? ` (${more} more like this)` : ""),
  };
}
