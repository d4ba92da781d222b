/** Gathers the facts of a diagnosis: the library's own discovery, and what is beside it. */

import { isMembers, type Members, withoutNulls } from "../core/_members.ts";
import { isLoopback, parseUrl } from "../core/_url.ts";
import { findChallenges } from "../core/challenge.ts";
import { OAuthClientError } from "../core/errors.ts";
import {
  discover,
  type IAuthorizationContext,
  type IDiscovery,
} from "../discovery/discover.ts";
import { type ICandidate, search } from "../discovery/_search.ts";
import {
  resourceCandidates,
  serverCandidates,
} from "../discovery/_strict_search.ts";
import { mergeHeaders } from "../http/_request.ts";
import type { ITransport } from "../http/_transport.ts";
import type { RequestPurpose } from "../http/request_options.ts";
import { probeCors } from "./_cors.ts";
import type {
  IDocument,
  IFacts,
  IProbe,
  ResourceDocument,
  ServerDocument,
} from "./_facts.ts";
import type { DiagnosisStepName, IDiagnoseOptions } from "./diagnosis.ts";
import { attempt, type ISurvey, probe } from "./_probe.ts";
import { Recorder } from "./_recorder.ts";
import { register } from "./_registration.ts";
import { seal } from "./_seal.ts";

/** A request of MCP without any effect on its servers. */
const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** Requests the resource without a token. */
async function probeResource(survey: ISurvey): Promise<IProbe> {
  const { target, options, recorder } = survey;
  const url = target.href;
  const accept = { Accept: "application/json, text/event-stream" };
  const purpose = "resource_metadata";
  const fetchAs = (isExtra: boolean) =>
    recorder.fetchFor(() => "resource", { isExtra, readsBody: false });
  const first = await probe(survey, purpose, fetchAs(false), {
    url,
    headers: mergeHeaders(accept, options.headers),
    method: "GET",
  });
  // A server of MCP need not accept GET, and then it responds with 405. Some of them
  // protect nothing but POST.
  const { status, headers } = first.response ?? {};
  if (status !== 405 || headers?.get("WWW-Authenticate")) return first;
  const second = await probe(survey, purpose, fetchAs(true), {
    url,
    // Without the caller's header fields: with credentials, a POST could have an
    // effect on a server that is not one of MCP.
    headers: { ...accept, "Content-Type": "application/json" },
    body: PING,
    method: "POST",
  });
  const { response } = second;
  return response?.status === 401 || response?.ok ? second : first;
}

/** Fetches one candidate, or repeats what discovery fetched. */
async function readDocument<Metadata>(
  survey: ISurvey,
  name: Extract<DiagnosisStepName, RequestPurpose>,
  candidate: ICandidate<Metadata>,
): Promise<IDocument<Metadata> | undefined> {
  const { recorder, transport } = survey;
  const { url } = candidate;
  const isUsed = recorder.find(name, url) !== undefined;
  if (!isUsed && !recorder.isAlive(url)) return undefined;
  let json: unknown;
  const check = (document: unknown, finalUrl: string) => {
    json = document;
    return candidate.check(document, finalUrl);
  };
  const fetch = recorder.fetchFor(() => name, { isExtra: true, repeats: true });
  const { result, error } = await attempt(
    survey,
    () =>
      search(
        name,
        [{ ...candidate, rules: survey.rules, check }],
        { ...transport, fetch },
      ),
  );
  // A search without a function of the caller ends in errors of this library alone.
  const found = error ??
    result?.attempts[0]?.error as OAuthClientError | undefined;
  const { cause } = found ?? {};
  const isTimeout = cause instanceof OAuthClientError &&
    cause.code === "timeout";
  return {
    url,
    // Discovery came to it, but must not request it.
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
  candidates: () => ICandidate<Metadata>[],
): Promise<IDocument<Metadata>[]> {
  const { result = [] } = await attempt(
    survey,
    () => Promise.resolve().then(candidates),
  );
  const documents: IDocument<Metadata>[] = [];
  for (const candidate of result) {
    const document = await readDocument(survey, name, candidate);
    if (document) documents.push(document);
  }
  return documents;
}

/** Runs the library's own discovery, with a record of its requests. */
async function runDiscovery(
  { target, options, transport, recorder }: ISurvey,
  headers: { get(name: string): string | null } | undefined,
): Promise<IAuthorizationContext> {
  let name: RequestPurpose = "resource_metadata";
  const { allowUrl = () => true } = transport;
  const discovery = {
    challenge: headers && { headers },
    sameOriginHeaders: options.headers,
    additionalHeaders: options.additionalHeaders,
    resourceMatch: options.resourceMatch,
    authorizationServer: options.authorizationServer,
    selectAuthorizationServer: undefined,
    trustedIssuers: options.trustedIssuers,
    preferredServerMetadataUrl: options.preferredServerMetadataUrl,
    offlineAccess: options.offlineAccess,
    allowHttp: options.allowHttp,
  } satisfies Record<keyof IDiscovery, unknown>;
  return await discover(target, discovery, {
    ...transport,
    allowUrl(url, purpose) {
      name = purpose;
      return allowUrl(url, purpose);
    },
    fetch: recorder.fetchFor(() => name as DiagnosisStepName),
  });
}

/** Selects the best document: the first accepted, else the first JSON object. */
function bestOf(
  documents: readonly (ResourceDocument | ServerDocument)[],
): Members | undefined {
  const best = documents.find(({ metadata }) => metadata) ??
    documents.find(({ json }) => isMembers(json));
  const members = best && withoutNulls(best.json);
  return isMembers(members) ? members : undefined;
}

function serversIn(resource: Members | undefined): string[] {
  return [resource?.authorization_servers].flat()
    .filter((server) => typeof server === "string");
}

/** Requests the authorization endpoint that a client would have to assume. */
async function probeAssumed(
  survey: ISurvey,
  context: IAuthorizationContext | undefined,
): Promise<IProbe | undefined> {
  const url = context?.serverMetadata.authorization_endpoint;
  if (context?.serverMetadataUrl !== undefined || url === undefined) {
    return undefined;
  }
  const fetch = survey.recorder.fetchFor(() => "authorization_endpoint", {
    isExtra: true,
    readsBody: false,
  });
  const purpose = "authorization_server_metadata";
  const get = { url, headers: {}, method: "GET" };
  return await probe(survey, purpose, fetch, get);
}

/** Gathers the facts of a diagnosis. */
export async function takeSurvey(
  target: URL,
  options: IDiagnoseOptions,
  transport: ITransport,
): Promise<IFacts> {
  const { now = Date.now, onRequest, authorizationServer } = options;
  const recorder = new Recorder({
    fetch: transport.fetch,
    maxBytes: transport.maxBytes,
    now,
    // A server may name a URL that repeats what it has received.
    onRequest: (request) => onRequest?.(seal(request, transport.secrets)),
  });
  const named = authorizationServer === undefined
    ? undefined
    : parseUrl(String(authorizationServer));
  const rules = {
    allowHttp: options.allowHttp,
    allowLoopback: isLoopback(target) ||
      (named !== undefined && isLoopback(named)),
  };
  const survey = { target, options, transport, recorder, rules };

  const resourceProbe = await probeResource(survey);
  const { headers } = resourceProbe.response ?? {};
  const challengeHeader = headers?.get("WWW-Authenticate") ?? "";
  const challenges = findChallenges(challengeHeader);
  const challenge = challenges.find(({ params }) => params.resource_metadata) ??
    challenges[0];
  const { result: context, error: failure } = await attempt(
    survey,
    () => runDiscovery(survey, headers),
  );

  const resourceDocuments = authorizationServer === undefined
    ? await readDocuments(
      survey,
      "resource_metadata",
      () =>
        resourceCandidates({
          target,
          rules,
          resourceMetadataUrl: challenge?.params.resource_metadata,
          resourceMatch: options.resourceMatch,
          sameOriginHeaders: options.headers,
        }),
    )
    : [];
  const resource = bestOf(resourceDocuments);
  const servers = serversIn(resource);
  const issuer = authorizationServer === undefined
    ? servers[0] ?? target.origin
    : String(authorizationServer);
  const serverDocuments = await readDocuments(
    survey,
    "authorization_server_metadata",
    () =>
      serverCandidates({
        issuer,
        rules,
        trustedIssuers: options.trustedIssuers,
        preferredUrl: options.preferredServerMetadataUrl,
        additionalHeaders: options.additionalHeaders,
      }),
  );
  const server = bestOf(serverDocuments);
  return {
    target,
    options,
    probe: resourceProbe,
    challengeHeader,
    challenges,
    challenge,
    ...(context && { context }),
    ...(failure && { failure }),
    resourceDocuments,
    resource,
    servers,
    issuer,
    serverDocuments,
    server,
    assumed: await probeAssumed(survey, context),
    corsProbes: await probeCors(survey, context, resourceProbe, [
      resourceDocuments.find(({ metadata }) => metadata),
      serverDocuments.find(({ metadata }) => metadata),
    ]),
    registration: await register(survey, context),
    exchanges: recorder.exchanges,
  };
}
