/** The form of a rule, of which there is one for each kind of finding. */

import type { Members } from "../core/_members.ts";
import { scopesFrom } from "../core/_scope_values.ts";
import { missingScopes } from "../core/scopes.ts";
import {
  type AnyDocument,
  headerOf,
  type IFacts,
  list,
  membersOf,
  severityAt,
  shown,
} from "./_facts.ts";
import { excerptOf, exchangeFor } from "./_excerpts.ts";
import type { IExchange } from "./_recorder.ts";
import { lastOf } from "./_sign_in_steps.ts";
import type {
  DiagnosisStepName,
  FindingSeverity,
  IDiagnosisOption,
  IFinding,
} from "./diagnosis.ts";

/** What a rule has found. The members replace those of the rule. */
export interface ISighting
  extends Partial<Omit<IFinding, "id" | "standard" | "step" | "excerpt">> {
  message: string;
  /** The request that shows it, or the last one of a step; that for `url` when absent. */
  at?: DiagnosisStepName | IExchange;
}

/** A kind of finding. */
export interface IRule {
  readonly id: string;
  /** @default "warning" */
  readonly severity?: FindingSeverity;
  readonly standard: string;
  readonly operator: string;
  readonly client?: string;
  /** Whether the rule counts only if no other has found an error. */
  readonly isFallback?: true;
  readonly find: (facts: IFacts) => ISighting | undefined;
}

/** Applies a rule. */
export function apply(rule: IRule, facts: IFacts): IFinding[] {
  const sighting = rule.find(facts);
  if (!sighting) return [];
  const { id, severity = "warning", standard, operator, client } = rule;
  const { at, ...seen } = sighting;
  const exchange = typeof at === "string"
    ? lastOf(facts.exchanges, at)
    : at ?? exchangeFor(facts, id, seen.url);
  const url = seen.url ?? exchange?.url;
  const excerpt = exchange &&
    excerptOf(facts, id, exchange);
  return [{
    id,
    severity,
    standard,
    operator,
    ...(client !== undefined && { client }),
    ...seen,
    ...(url !== undefined && { url }),
    ...(exchange && { step: facts.exchanges.indexOf(exchange) }),
    ...(excerpt && { excerpt }),
  }];
}

/** Returns the scopes that a server has left out, if it names those that it grants. */
export function withheldScopes(
  wanted: readonly string[],
  scope: unknown,
): string[] {
  const granted = scopesFrom(scope);
  return granted.length > 0 ? missingScopes(wanted, granted) : [];
}

/** Adds the options with which a client continues, if it stops without them. */
export function liftedBy(
  sighting: ISighting | undefined,
  ...options: IDiagnosisOption[]
): ISighting | undefined {
  const { severity = "error" } = sighting ?? {};
  return sighting && severity === "error" && options.length > 0
    ? { ...sighting, options }
    : sighting;
}

/** Describes the documents that a test finds: the worst, and how many there are. */
export function findDocument<Document extends AnyDocument>(
  facts: IFacts,
  documents: readonly Document[],
  test: (document: Document) => string | false | undefined,
  hasSeverity = false,
): ISighting | undefined {
  const found = documents.flatMap((document) => {
    const message = test(document);
    const severity = severityAt(facts, document);
    return message ? [{ message, severity, document }] : [];
  });
  const worst = found.find(({ severity }) => severity === "error") ??
    found.find(({ document }) => document.isUsed) ?? found[0];
  if (!worst) return undefined;
  const more = found.length - 1;
  return {
    message: worst.message + (more > 0 ? ` (${more} more like this)` : ""),
    url: worst.document.url,
    ...(hasSeverity && { severity: worst.severity }),
  };
}

/** Returns the media type of a response. */
export function mediaTypeOf(document: AnyDocument): string {
  return headerOf(document, "Content-Type").toLowerCase().split(";", 1)
    .join().trim();
}

/** The members that a client depends on, and that two documents should share. */
const SHARED = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "code_challenge_methods_supported",
  "token_endpoint_auth_methods_supported",
  "resource",
  "authorization_servers",
];

function differences(a: Members, b: Members): string[] {
  return SHARED.filter((name) =>
    JSON.stringify(a[name] ?? null) !== JSON.stringify(b[name] ?? null)
  );
}

/** Finds documents about one identifier that differ. */
export function findDisagreement(
  facts: IFacts,
  documents: readonly AnyDocument[],
  identifier: string,
): ISighting | undefined {
  const [first, ...others] = documents.filter(({ metadata }) => metadata);
  const members = first && membersOf(first);
  if (!members) return undefined;
  return findDocument(facts, others, (document) => {
    const other = membersOf(document);
    if (!other || other[identifier] !== members[identifier]) return undefined;
    const names = differences(members, other);
    return names.length > 0 &&
      `This document differs from ${shown(first.url)} in ${list(names)}.`;
  });
}
