/** Gathers the facts of a diagnosis, by the library's own discovery and further requests. */

import { requireStringMembers } from "../core/_arguments.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { isMembers, type Members, withoutNulls } from "../core/_members.ts";
import { isLoopback, parseUrl } from "../core/_url.ts";
import { findChallenges } from "../core/challenge.ts";
import { identifierOf } from "../discovery/_identifiers.ts";
import {
  discover,
  type IAuthorizationContext,
  type IDiscovery,
} from "../discovery/discover.ts";
import { mergeHeaders } from "../http/_request.ts";
import { type IContext, secretsIn } from "../http/_context.ts";
import type { RequestPurpose } from "../http/request_options.ts";
import { probeCors } from "./_cors.ts";
import {
  acceptedOf,
  type IAssumed,
  type IFacts,
  type IProbe,
  type ISignInFacts,
  isMismatch,
  type ResourceDocument,
  type ServerDocument,
} from "./_facts.ts";
import type {
  DiagnosisStepName,
  IDiagnoseOptions,
  IDiagnosisOption,
} from "./diagnosis.ts";
import { attempt, type ISurvey, PING, probe, trialOf } from "./_probe.ts";
import { readResource, readServer } from "./_read_documents.ts";
import { Recorder } from "./_recorder.ts";
import { register } from "./_registration.ts";
import { seal } from "./_seal.ts";
import { signIn } from "./_sign_in.ts";

/** The statuses of a GET that say nothing about a POST. */
const UNDECIDED = [400, 404, 405, 406];

/**
 * Checks whether a response without a challenge leaves open what a POST would receive.
 * A page is what a person sees who opens the URL of an MCP server.
 */
function isUndecided({ response }: IProbe): boolean {
  const { status = 0, ok = false, headers } = response ?? {};
  if (headers?.get("WWW-Authenticate")) return false;
  return UNDECIDED.includes(status) ||
    (ok && /\bhtml\b/i.test(headers?.get("Content-Type") ?? ""));
}

/** Requests the resource without a token. */
async function probeResource(survey: ISurvey): Promise<IProbe> {
  const { target, options } = survey;
  const accept = { Accept: "application/json, text/event-stream" };
  const about = {
    name: "resource",
    purpose: "resource_metadata",
    url: target.href,
  } as const;
  const headers = mergeHeaders(accept, options.headers);
  const first = await probe(survey, { ...about, headers });
  // An MCP server need not accept GET: it then responds with 405, or as its framework
  // does to an unknown route. Many require a token for POST only.
  if (!isUndecided(first)) return first;
  const second = await probe(survey, {
    ...about,
    isExtra: true,
    // Without the caller's header fields: with credentials, a POST could have an
    // effect on a server that is not an MCP server.
    headers: { ...accept, "Content-Type": "application/json" },
    body: PING,
    method: "POST",
  });
  const { response } = second;
  if (!response || isUndecided(second)) return first;
  // Any other response to the POST than to a person's GET may be that of a form.
  const isAnswer = response.ok || response.status === 401 ||
    !first.response?.ok;
  return isAnswer ? second : first;
}

/** Runs the library's own discovery, with a record of its requests. */
async function runDiscovery(
  survey: ISurvey,
  headers: { get(name: string): string | null } | undefined,
  authorizationServer: string | URL | undefined,
): Promise<IAuthorizationContext> {
  const { target, options, recorder } = survey;
  let name: RequestPurpose = "resource_metadata";
  const { allowUrl = () => true } = survey.transport;
  // If the target is an authorization server, its responses are recorded already.
  const fetch = recorder.fetchFor(() => name as DiagnosisStepName, {
    repeats: true,
  });
  const discovery = {
    challenge: headers && { headers },
    sameOriginHeaders: options.headers,
    additionalHeaders: options.additionalHeaders,
    resourceMatch: options.resourceMatch,
    trustedResources: options.trustedResources,
    authorizationServer,
    serverMetadata: undefined,
    selectAuthorizationServer: undefined,
    trustedIssuers: options.trustedIssuers,
    preferredServerMetadataUrl: options.preferredServerMetadataUrl,
    // As flows do.
    offlineAccess: options.offlineAccess ?? true,
  } satisfies Record<keyof IDiscovery, unknown>;
  return await discover(
    {
      ...trialOf(survey, fetch),
      allowUrl(url, purpose) {
        name = purpose;
        return allowUrl(url, purpose);
      },
    },
    target,
    discovery,
  );
}

/** Selects the best document: the first accepted one, or the first JSON object. */
function bestOf(
  documents: readonly (ResourceDocument | ServerDocument)[],
): Members | undefined {
  const best = acceptedOf(documents) ??
    documents.find(({ json }) => isMembers(json));
  const members = best && withoutNulls(best.json);
  return isMembers(members) ? members : undefined;
}

function serversIn(resource: Members | undefined): string[] {
  return [resource?.authorization_servers].flat()
    .filter((server) => typeof server === "string");
}

/** Requests the endpoints that a client would have to assume. */
async function probeAssumed(
  survey: ISurvey,
  context: IAuthorizationContext | undefined,
): Promise<IAssumed | undefined> {
  const { serverMetadataUrl, serverMetadata } = context ?? {};
  const { authorization_endpoint, registration_endpoint } = serverMetadata ??
    {};
  if (
    serverMetadataUrl !== undefined || authorization_endpoint === undefined ||
    registration_endpoint === undefined
  ) {
    return undefined;
  }
  const get = (
    name: "authorization_endpoint" | "registration_endpoint",
    url: string,
  ) => probe(survey, { name, purpose: "authorization_server_metadata", url });
  return {
    authorization: await get("authorization_endpoint", authorization_endpoint),
    registration: await get("registration_endpoint", registration_endpoint),
  };
}

/**
 * Checks whether a target that is not a resource is an authorization server: its own
 * well-known URLs have its metadata, or that of all tenants of its host. Metadata of
 * another server does not count, as resources publish copies of it.
 */
function publishesServer(
  { origin }: URL,
  documents: readonly ServerDocument[],
): boolean {
  return documents.some((document) => {
    const { issuer } = isMembers(document.json) ? document.json : {};
    const isTemplate = String(issuer).startsWith(`${origin}/{`);
    return document.metadata !== undefined ||
      (isMismatch(document) && isTemplate);
  });
}

/** Gathers facts, by requests or from earlier responses. */
async function gather(survey: ISurvey, probe: IProbe): Promise<IFacts> {
  const { target, options, recorder, isReplay } = survey;
  const { authorizationServer } = options;
  const { headers } = probe.response ?? {};
  const challengeHeader = headers?.get("WWW-Authenticate") ?? "";
  const challenges = findChallenges(challengeHeader);
  const challenge = challenges.find(({ params }) => params.resource_metadata) ??
    challenges[0];
  const discovered = await attempt(
    survey,
    () => runDiscovery(survey, headers, authorizationServer),
  );
  const published = authorizationServer === undefined
    ? await readResource(survey, challenge?.params.resource_metadata)
    : [];

  const isResource = authorizationServer !== undefined ||
    probe.response?.status === 401 || challenges.length > 0 ||
    published.some(({ json }) => isMembers(json)) || target.search !== "";
  const own = identifierOf(target);
  const isServer = !isResource &&
    publishesServer(target, await readServer(survey, own));
  const { result: context, error: failure } = isServer
    ? await attempt(survey, () => runDiscovery(survey, undefined, own))
    : discovered;

  const resourceDocuments = isServer ? [] : published;
  const resource = bestOf(resourceDocuments);
  const servers = serversIn(resource);
  // The discovery uses the next server if the first does not respond.
  const used = servers.find((server) =>
    isSameIssuer(server, context?.issuer ?? "")
  );
  const issuer = isServer
    ? own
    : authorizationServer === undefined
    ? used ?? servers[0] ?? target.origin
    : String(authorizationServer);
  const serverDocuments = await readServer(survey, issuer);
  return {
    target,
    options,
    isServer,
    probe,
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
    server: bestOf(serverDocuments),
    assumed: probe.response?.ok
      ? undefined
      : await probeAssumed(survey, context),
    corsProbes: isReplay || !options.browser
      ? []
      : await probeCors(survey, context, isServer ? undefined : probe, [
        acceptedOf(resourceDocuments),
        acceptedOf(serverDocuments),
      ]),
    registration: isReplay ? undefined : await register(survey, context),
    exchanges: recorder.exchanges,
  };
}

/** The options that a diagnosis tries by itself. */
export type Remedies = Pick<
  IDiagnoseOptions,
  "allowHttp" | "assumePkce" | "trustedIssuers" | "trustedResources"
>;

/** The facts of a diagnosis, and functions that continue with them. */
export interface ISurveyResult {
  readonly facts: IFacts;
  /** Returns the facts that result from the same responses with more options. */
  readonly retry: (remedies: Remedies) => Promise<IFacts>;
  /** Signs a user in, with the facts and the options by which a client continues. */
  readonly signIn: (
    facts: IFacts,
    needed: readonly IDiagnosisOption[],
  ) => Promise<ISignInFacts | undefined>;
}

/** Throws if an option is not an object of strings. */
export function requireStrings(
  { headers, additionalHeaders, trustedIssuers, trustedResources }:
    IDiagnoseOptions,
): void {
  requireStringMembers("headers", headers);
  requireStringMembers("additionalHeaders", additionalHeaders);
  requireStringMembers("trustedIssuers", trustedIssuers);
  requireStringMembers("trustedResources", trustedResources);
}

/** Gathers the facts of a diagnosis. */
export async function takeSurvey(
  target: URL,
  options: IDiagnoseOptions,
  transport: IContext,
): Promise<ISurveyResult> {
  const { now = Date.now, onRequest, authorizationServer } = options;
  const recorder = new Recorder({
    fetch: transport.fetch,
    maxBytes: transport.maxBytes,
    now,
    // A server may name a URL that contains values it has received.
    onRequest: (request) => onRequest?.(seal(request, secretsIn(transport))),
  });
  const named = authorizationServer === undefined
    ? undefined
    : parseUrl(String(authorizationServer));
  const rules = {
    allowHttp: options.allowHttp,
    allowLoopback: isLoopback(target) ||
      (named !== undefined && isLoopback(named)),
  };
  const survey = {
    target,
    options,
    transport,
    recorder,
    rules,
    isReplay: false,
  };
  const probe = await probeResource(survey);
  const facts = await gather(survey, probe);
  return {
    facts,
    signIn: (facts, needed) =>
      signIn(
        {
          ...survey,
          options: facts.options,
          rules: { ...rules, allowHttp: facts.options.allowHttp },
        },
        facts,
        needed,
      ),
    retry(remedies) {
      const changed = { ...options, ...remedies };
      return gather({
        ...survey,
        options: changed,
        rules: { ...rules, allowHttp: changed.allowHttp },
        // No request is made, so that the caller need not be asked.
        transport: { ...transport, allowUrl: undefined },
        recorder: recorder.replay(),
        isReplay: true,
      }, probe);
    },
  };
}
