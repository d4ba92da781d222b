/** Reads the metadata documents that discovery requests, and those that it does not. */

import { OAuthClientError } from "../core/errors.ts";
import { type ICandidate, search } from "../discovery/_search.ts";
import {
  type IResourceSearch,
  resourceCandidate,
  resourceUrls,
  serverCandidate,
  serverUrls,
} from "../discovery/_strict_search.ts";
import type { RequestPurpose } from "../http/request_options.ts";
import type { IDocument, ResourceDocument, ServerDocument } from "./_facts.ts";
import type { DiagnosisStepName } from "./diagnosis.ts";
import { attempt, type ISurvey, trialOf } from "./_probe.ts";

/** Fetches one candidate, or repeats what discovery fetched. */
async function readDocument<Metadata>(
  survey: ISurvey,
  name: Extract<DiagnosisStepName, RequestPurpose>,
  url: string,
  candidate: ICandidate<Metadata>,
): Promise<IDocument<Metadata> | undefined> {
  const { recorder } = survey;
  if (!recorder.find(name, url) && !recorder.isAlive(url)) return undefined;
  let json: unknown;
  let otherUrl: string | undefined;
  const check = (document: unknown, finalUrl: string) => {
    const verdict = candidate.check(document, finalUrl);
    ({ otherUrl } = verdict);
    json = document;
    // It is requested with the others.
    return { ...verdict, otherUrl: undefined };
  };
  const fetch = recorder.fetchFor(() => name, { isExtra: true, repeats: true });
  const { result, error } = await attempt(
    survey,
    () =>
      search(
        trialOf(survey, fetch),
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
    exchange: recorder.findLast(name, url),
    metadata: result?.metadata,
    error: isTimeout ? cause : found,
    json,
    otherUrl,
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
  const known = documents.map(({ url }) => url);
  const others = documents.flatMap(({ otherUrl = [] }) => otherUrl)
    .filter((url) => !known.includes(url));
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
