/** Assumptions by which a diagnosis continues after a fault. */

import { isMembers, type Members } from "../core/_members.ts";
import {
  type Facts,
  isLost,
  isMismatch,
  membersOf,
  type ResourceDocument,
  shown,
} from "./_facts.ts";
import type {
  DiagnosisAssumption,
  DiagnosisOption,
  Finding,
} from "./diagnosis.ts";

/** A document that counts as the resource's metadata, although it is not. */
export interface AssumedDocument {
  readonly url: string;
  readonly json: Members;
  readonly assumption: DiagnosisAssumption;
}

/** Checks whether only a document's resource is wrong or missing. */
function isNearly(document: ResourceDocument): boolean {
  const members = membersOf(document);
  return members !== undefined && document.metadata === undefined &&
    (isMismatch(document) || Array.isArray(members.authorization_servers));
}

/**
 * Returns the document that one fault keeps from being the resource's metadata: a wrong
 * or missing `resource`, or a place where no client looks.
 */
export function assumedDocumentOf(facts: Facts): AssumedDocument | undefined {
  const { target, resourceDocuments, appended, failure } = facts;
  const [first] = resourceDocuments;
  const read = (
    finding: string,
    source: string,
    members: Members,
    url: string,
  ): AssumedDocument => ({
    url,
    json: { ...members, resource: target.href },
    assumption: {
      finding,
      message: `The document at ${shown(source)} is the metadata of ${
        shown(target.href)
      }.`,
    },
  });
  const near = failure && resourceDocuments.find(isNearly);
  const members = near && membersOf(near);
  if (members) {
    const isOther = isMismatch(near) && typeof members.resource === "string";
    const finding = isOther ? "resource_mismatch" : "metadata_unusable";
    return read(finding, near.url, members, near.url);
  }
  return appended && first && isLost(facts)
    ? read("no_resource_metadata", appended.url, appended.json, first.url)
    : undefined;
}

/** Checks whether an assumption affects who receives sent values. */
export const isOfTrust = ({ finding }: DiagnosisAssumption) =>
  finding !== "pkce_not_listed";

function sentenceOf({ name, value }: DiagnosisOption): string | undefined {
  if (name === "allowHttp") return "URLs with http, or on loopback, are safe.";
  if (name === "assumePkce") return "The server supports PKCE with S256.";
  if (name !== "trustedIssuers" || !isMembers(value)) return undefined;
  const pairs = Object.entries(value).map(([named, claimed]) =>
    `${shown(named)} and ${shown(claimed)} are the same server.`
  );
  return pairs.join(" ");
}

export function assumptionsOf(
  findings: readonly Finding[],
  options: readonly DiagnosisOption[],
  document: AssumedDocument | undefined,
): DiagnosisAssumption[] {
  const ofOptions = options.flatMap((option) => {
    const message = sentenceOf(option);
    const finding = findings.find((one) =>
      one.options?.some(({ name }) => name === option.name)
    );
    return message && finding ? [{ finding: finding.id, message }] : [];
  });
  return [...(document ? [document.assumption] : []), ...ofOptions];
}
