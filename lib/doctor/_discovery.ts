import { isMembers, withoutNulls } from "../core/_members.ts";
import { quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { Context } from "../http/_context.ts";
import {
  type AuthorizationContext,
  discover,
  type Discovery,
} from "../discovery/discover.ts";
import { parseJson } from "../http/_response.ts";
import type { IAuthorizationProtectedResourceMetadata } from "../core/metadata.ts";
import type { FetchLike, RequestPurpose } from "../http/request_options.ts";
import type {
  MetadataDocument,
  ResourceDocument,
  ServerDocument,
} from "./_facts.ts";
import type { DiagnosisStepName } from "./diagnosis.ts";
import { attempt, type Survey, trialOf } from "./_probe.ts";
import type { Exchange, Recorder } from "./_recorder.ts";

interface Ended {
  readonly result?: AuthorizationContext;
  readonly error?: OAuthClientError;
}

function jsonOf({ response, text, isFailed }: Exchange): unknown {
  return response?.status === 200 && !isFailed
    ? parseJson(text ?? "")
    : undefined;
}

/** Returns the documents of one kind, in the order of their requests. */
function documentsOf<Metadata>(
  recorder: Recorder,
  name: Extract<DiagnosisStepName, RequestPurpose>,
  { result, error: failure }: Ended,
): MetadataDocument<Metadata>[] {
  const made = recorder.exchanges.filter((one) => one.name === name);
  // An error that stops discovery at once has no list of attempts.
  const attempts = (result ?? failure)?.attempts ??
    made.map(({ url }) => ({
      url: quoteUrl(url),
      error: failure?.url === quoteUrl(url) ? failure : undefined,
    }));
  return attempts.flatMap(({ url: quoted, error: thrown }) => {
    const url = made.find((one) => quoteUrl(one.url) === quoted)?.url;
    const error = thrown instanceof OAuthClientError ? thrown : undefined;
    // Only a challenge's URL can be rejected before its request.
    const isRefused = error?.code === "url_refused" &&
      name === "resource_metadata" &&
      !recorder.exchanges.some((one) => quoteUrl(one.url) === quoted);
    if (url === undefined && !isRefused) return [];
    const exchange = recorder.findLast(name, url ?? quoted);
    const json = exchange && jsonOf(exchange);
    const members = withoutNulls(json);
    const { cause } = error ?? {};
    const isTimeout = cause instanceof OAuthClientError &&
      cause.code === "timeout";
    return [{
      url: url ?? quoted,
      exchange,
      metadata: !thrown && isMembers(members) ? members as Metadata : undefined,
      error: isTimeout ? cause : error,
      json,
    }];
  });
}

/** Runs the library's own discovery; returns its documents as well. */
export async function discoverWith(
  survey: Survey,
  headers: { get(name: string): string | null } | undefined,
  authorizationServer: string | URL | undefined,
) {
  const { target, options, recorder, document } = survey;
  let name: RequestPurpose = "resource_metadata";
  const { allowUrl = () => true } = survey.transport;
  // It may run several times, but requests each URL once.
  const recorded = recorder.fetchFor(() => name as DiagnosisStepName, {
    repeats: true,
  });
  const fetch: FetchLike = (url, init) =>
    url === document?.url
      ? Promise.resolve(Response.json(document.json))
      : recorded(url, init);
  const context: Context = {
    ...trialOf(survey, fetch),
    allowUrl(url, purpose) {
      name = purpose;
      return allowUrl(url, purpose);
    },
  };
  const discovery = {
    challenge: headers && { headers },
    resourceMetadataHeaders: options.headers,
    // An assumed server receives no credentials.
    serverMetadataHeaders: document ? undefined : options.serverMetadataHeaders,
    resourceMatch: options.resourceMatch,
    authorizationServer,
    serverMetadata: options.serverMetadata,
    trustedIssuers: options.trustedIssuers,
    // As flows do.
    offlineAccess: options.offlineAccess ?? true,
    requiresChallenge: false,
    // Other clients lack it.
    clientIssuer: undefined,
  } satisfies Record<keyof Discovery, unknown>;
  const ended = await attempt(
    survey,
    () => discover(context, target, discovery),
  );
  const resourceDocuments = documentsOf<
    IAuthorizationProtectedResourceMetadata
  >(recorder, "resource_metadata", ended).map((one): ResourceDocument => {
    if (one.url !== document?.url || one.error) return one;
    const { json } = document;
    return { ...one, json, metadata: json as never };
  });
  const serverDocuments: ServerDocument[] = documentsOf(
    recorder,
    "authorization_server_metadata",
    ended,
  );
  const { result, error } = ended;
  return {
    context: result,
    failure: error,
    resourceDocuments,
    serverDocuments,
  };
}
