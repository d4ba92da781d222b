/**
 * Gathers the facts of a diagnosis, by the library's own discovery and other requests.
 */

import { requireArgument, requireStringMembers } from "../core/_arguments.ts";
import { AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH } from "../core/constants.ts";
import { withoutSlash } from "../core/_issuer.ts";
import { isMembers, type Members, withoutNulls } from "../core/_members.ts";
import { isLoopback, parseUrl } from "../core/_url.ts";
import { findChallenges } from "../core/challenge.ts";
import { challengeToFollow } from "../discovery/_strict_search.ts";
import { identifierOf } from "../discovery/_identifiers.ts";
import type { AuthorizationContext } from "../discovery/discover.ts";
import { completeMetadata } from "../discovery/_unpublished_metadata.ts";
import { mergeHeaders } from "../http/_request.ts";
import { type Context, secretsIn } from "../http/_context.ts";
import { probeCors } from "./_cors.ts";
import {
  acceptedOf,
  type Assumed,
  type Facts,
  isAssumed,
  isMismatch,
  membersOf,
  type Probe,
  type ResourceDocument,
  type ServerDocument,
} from "./_facts.ts";
import type { DiagnoseOptions } from "./diagnosis.ts";
import { discoverWith } from "./_discovery.ts";
import { PING, probe, type Survey } from "./_probe.ts";
import { Recorder } from "./_recorder.ts";
import { seal } from "./_seal.ts";

/**
 * Checks whether a response without a challenge leaves open how a POST would be
 * answered: a redirect, an error other than 401 and 429, or a page for users who open
 * an MCP server's URL.
 */
function isUndecided({ response }: Probe): boolean {
  const { status = 0, ok = false, headers } = response ?? {};
  if (headers?.get("WWW-Authenticate")) return false;
  return (status >= 300 && ![401, 429].includes(status)) ||
    (ok && /\bhtml\b/i.test(headers?.get("Content-Type") ?? ""));
}

async function probeResource(survey: Survey): Promise<Probe> {
  const { target, options } = survey;
  const accept = { Accept: "application/json, text/event-stream" };
  const about = {
    name: "resource",
    purpose: "resource_metadata",
    url: target.href,
  } as const;
  const headers = mergeHeaders(accept, options.headers);
  const first = await probe(survey, { ...about, headers });
  // An MCP server need not accept GET: it may respond with 405, or like its framework
  // to an unknown route. Many require a token for POST only.
  if (!isUndecided(first)) return first;
  const second = await probe(survey, {
    ...about,
    isExtra: true,
    // Without the caller's header fields: with credentials, a POST could have an effect
    // on other servers than MCP.
    headers: { ...accept, "Content-Type": "application/json" },
    body: PING,
    method: "POST",
  });
  const { response } = second;
  if (!response || isUndecided(second)) return first;
  // A response to the POST that differs from a user's GET may come from a form.
  const isAnswer = response.ok || response.status === 401 ||
    !first.response?.ok;
  return isAnswer ? second : first;
}

/** Selects the first accepted document, or the first JSON object. */
function bestOf(
  documents: readonly (ResourceDocument | ServerDocument)[],
): Members | undefined {
  const best = acceptedOf(documents) ?? documents.find(membersOf);
  const members = withoutNulls(best?.json);
  return isMembers(members) ? members : undefined;
}

/**
 * Requests the resource's URL with the well-known path appended, where some APIs
 * publish metadata by mistake.
 */
async function readAppended(survey: Survey): Promise<Facts["appended"]> {
  const { target, options, recorder } = survey;
  const path = withoutSlash(target.pathname);
  if (path === "" || !recorder.isAlive(target.href)) return undefined;
  const accept = { Accept: "application/json" };
  const { url, response } = await probe(survey, {
    name: "resource_metadata",
    purpose: "resource_metadata",
    url: target.origin + path + AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH,
    headers: mergeHeaders(accept, options.headers),
    isExtra: true,
  });
  const { ok = false, json } = response ?? {};
  return ok && isMembers(json) && typeof json.resource === "string"
    ? { url, json }
    : undefined;
}

/** Requests the endpoints that a client would have to assume. */
async function probeAssumed(
  survey: Survey,
  context: AuthorizationContext | undefined,
): Promise<Assumed | undefined> {
  const { authorization_endpoint, registration_endpoint } =
    context?.serverMetadata ?? {};
  if (
    !context || !isAssumed({ context }) ||
    authorization_endpoint === undefined ||
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
 * Checks whether a target is an authorization server: its own well-known URLs return
 * its metadata, or that for all tenants of its host. Metadata of another server does
 * not count, because resources publish copies.
 */
function publishesServer(
  { origin }: URL,
  documents: readonly ServerDocument[],
): boolean {
  return documents.some((document) => {
    const { issuer } = membersOf(document) ?? {};
    const isTemplate = String(issuer).startsWith(`${origin}/{`);
    return document.metadata !== undefined ||
      (isMismatch(document) && isTemplate);
  });
}

/** Gathers facts; `earlier` contains the facts that need separate requests. */
async function gather(
  survey: Survey,
  probe: Probe,
  earlier?: Facts,
): Promise<Facts> {
  const { target, options, recorder } = survey;
  const { authorizationServer, serverMetadata } = options;
  const isNamed = (authorizationServer ?? serverMetadata) !== undefined;
  const { headers } = probe.response ?? {};
  const challengeHeader = headers?.get("WWW-Authenticate") ?? "";
  const challenges = findChallenges(challengeHeader);
  const challenge = challengeToFollow(challenges);
  const asResource = await discoverWith(survey, headers, authorizationServer);
  const hasMetadata = asResource.resourceDocuments.some(membersOf);
  const isResource = isNamed || hasMetadata || challenges.length > 0 ||
    probe.response?.status === 401 || target.search !== "";
  const targetId = identifierOf(target);
  const asServer = isResource || !recorder.isAlive(targetId)
    ? undefined
    : await discoverWith(survey, undefined, targetId);
  const isServer = asServer !== undefined &&
    publishesServer(target, asServer.serverDocuments);
  const { context, failure, resourceDocuments, serverDocuments: read } =
    isServer ? { ...asServer, resourceDocuments: [] } : asResource;

  // Discovery uses an accepted document's server, otherwise the origin.
  const accepted = acceptedOf(resourceDocuments);
  const listed = (accepted && membersOf(accepted))?.authorization_servers;
  const servers = [listed].flat().filter((one) => typeof one === "string");
  const issuer = isServer
    ? targetId
    : authorizationServer === undefined
    ? servers[0] ?? target.origin
    : String(authorizationServer);
  // After a timeout, these include an earlier discovery's attempts.
  const serverDocuments = read.filter(({ url }) =>
    parseUrl(url)?.origin === parseUrl(issuer)?.origin
  );
  // Without a response, this host receives no more requests.
  const assumed = survey.document || (probe.response?.ok ?? true)
    ? undefined
    : earlier?.assumed ?? await probeAssumed(survey, context);
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
    resource: bestOf(resourceDocuments),
    appended: earlier || isNamed || isServer || hasMetadata
      ? earlier?.appended
      : await readAppended(survey),
    servers,
    issuer,
    serverDocuments,
    server: serverMetadata
      ? { ...context?.serverMetadata }
      : bestOf(serverDocuments),
    assumed,
    corsProbes: earlier?.corsProbes.length
      ? earlier.corsProbes
      : options.browser && !recorder.isReplay
      ? await probeCors(survey, context, isServer ? undefined : probe, [
        acceptedOf(resourceDocuments),
        acceptedOf(serverDocuments),
      ])
      : [],
    exchanges: recorder.exchanges,
  };
}

/** The options that a diagnosis tests without the caller. */
export type Remedies = Pick<
  DiagnoseOptions,
  "allowHttp" | "assumePkce" | "trustedIssuers"
>;

export function requireOptions(
  {
    headers,
    serverMetadataHeaders,
    authorizationServer,
    serverMetadata,
    trustedIssuers,
  }: DiagnoseOptions,
): void {
  requireArgument(
    (serverMetadata && authorizationServer) === undefined,
    "authorizationServer",
    "absent if serverMetadata is set",
  );
  if (serverMetadata) completeMetadata(serverMetadata);
  requireStringMembers("headers", headers);
  requireStringMembers("serverMetadataHeaders", serverMetadataHeaders);
  requireStringMembers("trustedIssuers", trustedIssuers);
}

export async function takeSurvey(
  target: URL,
  options: DiagnoseOptions,
  transport: Context,
): Promise<{ survey: Survey; facts: Facts }> {
  const { now = Date.now, onRequest, authorizationServer } = options;
  const recorder = new Recorder({
    fetch: transport.fetch,
    maxBytes: transport.maxBytes,
    now,
    // A server may name a URL that contains values it has received.
    onRequest: (request) => onRequest?.(seal(request, secretsIn(transport))),
  });
  const named = parseUrl(`${authorizationServer ?? ""}`);
  const allowLoopback = isLoopback(target) ||
    (named !== undefined && isLoopback(named));
  const survey = { target, options, transport, recorder, allowLoopback };
  const facts = await gather(survey, await probeResource(survey));
  return { survey, facts };
}

/** Returns the facts with more options; requests each URL once. */
export function retry(
  { recorder, ...survey }: Survey,
  facts: Facts,
  { document, ...remedies }: Remedies & Pick<Survey, "document">,
): Promise<Facts> {
  const options = { ...survey.options, ...remedies };
  // URLs that only the caller may allow are not requested.
  const isRisky = options.allowHttp !== survey.options.allowHttp;
  const used = isRisky ? recorder.replay() : recorder;
  const later = { ...survey, options, recorder: used, document };
  return gather(later, facts.probe, facts);
}
