/** Reads the metadata documents that discovery requests, and those that it does not. */

import { isMembers } from "../core/_members.ts";
import { OAuthClientError } from "../core/errors.ts";
import { parentUrlOf } from "../discovery/_identifiers.ts";
import { type ICandidate, search } from "../discovery/_search.ts";
import {
  type IResourceSearch,
  resourceCandidate,
  resourceUrls,
  serverCandidate,
  serverUrls,
} from "../discovery/_strict_search.ts";
import { fork } from "../http/_context.ts";
import type { RequestPurpose } from "../http/request_options.ts";
import {
  type IDocument,
  isMismatch,
  type ResourceDocument,
  type ServerDocument,
} from "./_facts.ts";
import type { DiagnosisStepName } from "./diagnosis.ts";
import { attempt, type ISurvey } from "./_probe.ts";

/** Fetches one candidate, or repeats what discovery fetched. */
async function readDocument<Metadata>(
  survey: ISurvey,
  name: Extract<DiagnosisStepName, RequestPurpose>,
  url: string,
  candidate: ICandidate<Metadata>,
): Promise<IDocument<Metadata> | undefined> {
  const { recorder, transport } = survey;
  const earlier = recorder.find(name, url);
  if (!earlier && !recorder.isAlive(url)) return undefined;
  const isUsed = earlier !== undefined && recorder.isUsed(earlier);
  let json: unknown;
  const check = (document: unknown, finalUrl: string) => {
    json = document;
    // The URL of a parent is requested with the others.
    return { ...candidate.check(document, finalUrl), otherUrl: undefined };
  };
  const fetch = recorder.fetchFor(() => name, { isExtra: true, repeats: true });
  const { result, error } = await attempt(
    survey,
    () =>
      search(
        { ...fork(transport), fetch },
        name,
        [url],
        () => ({ ...candidate, rules: survey.rules, check }),
      ),
  );
  // Without a callback of the caller, a search throws only errors of this library.
  const found = error ??
    result?.attempts[0]?.error as OAuthClientError | undefined;
  const { cause } = found ?? {};
  const isTimeout = cause instanceof OAuthClientError &&
    cause.code === "timeout";
  return {
    url,
    // Discovery did not request it, as its URL is not allowed.
    isUsed: isUsed || found?.code === "url_refused",
    exchange: recorder.findLast(name, url),
    metadata: result?.metadata,
    error: isTimeout ? cause : found,
    json,
  };
}

async function readDocuments<Metadata>(
  survey: ISurvey,
  name: Extract<DiagnosisStepName, RequestPurpose>,
  urls: () => string[],
  candidateFor: (url: string) => ICandidate<Metadata>,
): Promise<IDocument<Metadata>[]> {
  const { result = [] } = await attempt(
    survey,
    () => Promise.resolve().then(urls),
  );
  const documents: IDocument<Metadata>[] = [];
  for (const url of result) {
    const candidate = candidateFor(url);
    const document = await readDocument(survey, name, url, candidate);
    if (document) documents.push(document);
  }
  return documents;
}

/** Returns the well-known URL of the parent resource of a document, if that is accepted. */
function otherUrlOf(
  document: ResourceDocument,
  { target, resourceMatch }: IResourceSearch,
): string | undefined {
  const { resource } = isMembers(document.json) ? document.json : {};
  return isMismatch(document) && resourceMatch !== "exact" &&
      typeof resource === "string"
    ? parentUrlOf(resource, target)
    : undefined;
}

/** Reads the documents where the metadata of the resource may be. */
export async function readResource(
  survey: ISurvey,
  resourceMetadataUrl: string | undefined,
): Promise<ResourceDocument[]> {
  const { target, rules, options } = survey;
  const name = "resource_metadata";
  const where: IResourceSearch = {
    target,
    rules,
    resourceMetadataUrl,
    resourceMatch: options.resourceMatch,
    trustedResources: options.trustedResources,
    sameOriginHeaders: options.headers,
  };
  const documents = await readDocuments(
    survey,
    name,
    () => resourceUrls(where),
    (url) => resourceCandidate(url, where),
  );
  const others = documents.map((document) => otherUrlOf(document, where))
    .filter((url) => url !== undefined)
    .filter((url) => !documents.some((document) => document.url === url));
  return [
    ...documents,
    ...await readDocuments(
      survey,
      name,
      () => [...new Set(others)],
      (url) => resourceCandidate(url, where),
    ),
  ];
}

/** Reads the documents where the metadata of an authorization server may be. */
export function readServer(
  survey: ISurvey,
  issuer: string,
): Promise<ServerDocument[]> {
  const { rules, options } = survey;
  const where = {
    issuer,
    rules,
    trustedIssuers: options.trustedIssuers,
    preferredUrl: options.preferredServerMetadataUrl,
    additionalHeaders: options.additionalHeaders,
  };
  return readDocuments(
    survey,
    "authorization_server_metadata",
    () => serverUrls(where),
    (url) => serverCandidate(url, where),
  );
}
