/** The observations of a diagnosis, and functions that describe them in findings. */

import { withoutHints } from "../core/_hints.ts";
import { isMembers, type Members, stringMember } from "../core/_members.ts";
import { quote } from "../core/_quote.ts";
import { parseUrl, quoteUrl, withAsciiHosts } from "../core/_url.ts";
import { OAuthClientError, type OAuthClientErrorCode } from "../core/errors.ts";
import type {
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
} from "../core/metadata.ts";
import type { IAuthenticationChallenge } from "../core/types.ts";
import type { KnownClient } from "../client/selection.ts";
import type { AuthorizationContext } from "../discovery/discover.ts";
import type { IResponse } from "../http/_response.ts";
import type { Session } from "../session/session.ts";
import type { Token } from "../token/token.ts";
import type { DiagnoseOptions, DiagnosisStepName } from "./diagnosis.ts";
import type { Exchange } from "./_recorder.ts";

/** A request whose body does not matter. */
export interface Probe {
  readonly method: string;
  readonly url: string;
  readonly response?: IResponse;
  readonly error?: OAuthClientError;
}

/** A URL where metadata may be. */
export interface MetadataDocument<Metadata> {
  readonly url: string;
  /** The last exchange of its redirects. */
  readonly exchange?: Exchange | undefined;
  readonly metadata?: Metadata | undefined;
  readonly error?: OAuthClientError | undefined;
  /** The JSON of a response with status 200. */
  readonly json?: unknown;
}

export type ResourceDocument = MetadataDocument<
  IAuthorizationProtectedResourceMetadata
>;
export type ServerDocument = MetadataDocument<IAuthorizationServerMetadata>;
export type AnyDocument = ResourceDocument | ServerDocument;

/** A browser's preflight request, or a request with an `Origin`. */
export interface CorsProbe extends Probe {
  readonly part: "resource" | "metadata" | "token" | "registration";
}

/** Endpoints of a server that publishes no metadata. */
export interface Assumed {
  readonly authorization: Probe;
  readonly registration: Probe;
}

export interface Outcome {
  readonly error?: OAuthClientError;
}

export interface RevocationOutcome extends Outcome {
  /** The access token, if the server has revoked only the refresh token. */
  readonly kept?: Token;
}

/** The results of requests with a session; absent if untested. */
export interface SessionUse {
  readonly call?: Probe;
  /** A call with a token that cannot be valid. */
  readonly deadCall?: Probe;
  readonly refresh?: Outcome & { readonly session?: Session };
  readonly revocation?: RevocationOutcome;
  /** A refresh with an invalid token: revoked, or made up. */
  readonly deadRefresh?: Outcome & { readonly isRevoked: boolean };
}

/** The results of a sign-in; a member is undefined if the step was not tested. */
export interface SignInFacts extends SessionUse {
  readonly flow: "code" | "device";
  readonly context: AuthorizationContext;
  readonly requestedScopes: readonly string[];
  /** Whether the caller has set the client. */
  readonly isClientGiven: boolean;
  readonly hasDpop: boolean;
  readonly client?: KnownClient | undefined;
  readonly callback?: URLSearchParams | undefined;
  /** The authorization endpoint's status, without an authorization response. */
  readonly page?: Probe | undefined;
  readonly failure?:
    | { readonly step: DiagnosisStepName; readonly error: OAuthClientError }
    | undefined;
  /** Why the ID token is not valid. */
  readonly idTokenError?: OAuthClientError | undefined;
  readonly session?: Session | undefined;
  /** The deletion of the registered client, if the server offers it. */
  readonly deletion?: Outcome | undefined;
}

export interface Facts {
  readonly target: URL;
  readonly options: DiagnoseOptions;
  /** Whether the target is an authorization server, not a resource. */
  readonly isServer: boolean;
  /** The request to the resource that findings concern, preferably with a `401`. */
  readonly probe: Probe;
  /** The value of `WWW-Authenticate`. */
  readonly challengeHeader: string;
  readonly challenges: readonly IAuthenticationChallenge[];
  readonly challenge?: IAuthenticationChallenge | undefined;
  readonly context?: AuthorizationContext;
  readonly failure?: OAuthClientError;
  readonly resourceDocuments: readonly ResourceDocument[];
  /** The resource's metadata, accepted or not. */
  readonly resource?: Members | undefined;
  /** Metadata at the resource's URL with the well-known path appended. */
  readonly appended?:
    | { readonly url: string; readonly json: Members }
    | undefined;
  readonly servers: readonly string[];
  /** The given issuer identifier, or the resource's origin. */
  readonly issuer: string;
  readonly serverDocuments: readonly ServerDocument[];
  /** The server's metadata, accepted or not; undefined if it is assumed. */
  readonly server?: Members | undefined;
  readonly corsProbes: readonly CorsProbe[];
  readonly assumed?: Assumed | undefined;
  readonly signIn?: SignInFacts | undefined;
  readonly exchanges: readonly Exchange[];
}

/** Checks whether a sign-in's tokens worked after their revocation. */
export function isStillValid({ deadRefresh }: SignInFacts): boolean {
  return deadRefresh?.isRevoked === true && !deadRefresh.error;
}

/** Returns undefined if the document is not a JSON object. */
export function membersOf({ json }: AnyDocument): Members | undefined {
  return isMembers(json) ? json : undefined;
}

export function acceptedOf<Document extends AnyDocument>(
  documents: readonly Document[],
): Document | undefined {
  return documents.find(({ metadata }) => metadata);
}

/** Statuses of a URL without content. */
export const NOT_FOUND: readonly number[] = [404, 405, 410];

/** Returns a server's string for a sentence: one line, cut. */
export function shown(value: unknown, length = 120): string {
  const line = withAsciiHosts(quoteUrl(value)).replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

/** Returns a server's text, cut. Only URLs may contain a credential before an `@`. */
export function shownText(text: string, length: number): string {
  return text.includes("://")
    ? shown(text, length)
    : quote(text.replace(/\s+/g, " ").trim().slice(0, length)) +
      (text.length > length ? "…" : "");
}

/** Returns an error's message as a sentence: cut, and with one full stop. */
export function sentence(error: OAuthClientError): string {
  return shown(withoutHints(error), 400).replace(/[.\s]*$/, ".");
}

/** Lists at most five of a server's strings for a sentence. */
export function list(values: readonly string[]): string {
  const some = values.slice(0, 5).map((value) => shown(value, 60));
  const rest = values.length - some.length;
  return some.join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

export function isOpen({ probe, isServer }: Facts): boolean {
  return !isServer && (probe.response?.ok ?? false);
}

/** Checks whether a client would assume the endpoints of the server. */
export function isAssumed({ context }: Pick<Facts, "context">): boolean {
  return context?.source === "fallback" &&
    context.serverMetadataUrl === undefined;
}

/**
 * Checks whether there is no way to find a server, and the assumed endpoints are
 * missing: some APIs respond with 401 at every path.
 */
export function isLost({ assumed }: Pick<Facts, "assumed">): boolean {
  const { status = 0 } = assumed?.authorization.response ?? {};
  return [401, 404, 410].includes(status);
}

export function isPublished({ resourceDocuments }: Facts): boolean {
  return resourceDocuments.some((document) => membersOf(document));
}

export function isBlocked(facts: Facts): boolean {
  return facts.failure !== undefined &&
    !(isOpen(facts) && !isPublished(facts));
}

/** Checks whether the authorization server is given, not assumed. */
export function isNamed({ servers, options, isServer }: Facts): boolean {
  return isServer || servers.length > 0 ||
    options.authorizationServer !== undefined;
}

/**
 * Returns how a client obtains its `client_id`. A server without metadata only counts
 * if its assumed registration endpoint was found.
 */
export function clientKindOf(
  { context, assumed }: Pick<Facts, "context" | "assumed">,
): "register" | "client_metadata_document" | "ask_user" {
  const server: Members = { ...context?.serverMetadata };
  if (assumed) return isFound(assumed.registration) ? "register" : "ask_user";
  if (stringMember(server, "registration_endpoint")) return "register";
  return server.client_id_metadata_document_supported === true
    ? "client_metadata_document"
    : "ask_user";
}

/** Statuses other than 404 and 410 show that a URL exists. */
export function isFound(
  { response }: { response?: { status: number } },
): boolean {
  return response !== undefined && ![404, 410].includes(response.status);
}

/**
 * Returns the severity of a problem at a URL: an error if discovery failed without that
 * kind of metadata. A problem with a document is more severe than a missing document.
 */
export function severityAt(
  facts: Facts,
  document: AnyDocument,
): "error" | "warning" {
  const { resourceDocuments, serverDocuments } = facts;
  const all: readonly AnyDocument[] =
    serverDocuments.some((one) => one === document)
      ? serverDocuments
      : resourceDocuments;
  const isCause = !all.some(({ metadata }) => metadata) &&
    (membersOf(document) || !all.some(membersOf));
  return isBlocked(facts) && isCause ? "error" : "warning";
}

/** Returns the codes of an error and its cause. */
export function codesOf(
  { error }: Pick<AnyDocument, "error">,
): readonly OAuthClientErrorCode[] {
  if (!error) return [];
  const { cause } = error;
  return cause instanceof OAuthClientError
    ? [error.code, cause.code]
    : [error.code];
}

export function isMismatch(document: Pick<AnyDocument, "error">): boolean {
  return codesOf(document)[0] === "identifier_mismatch";
}

export function headerOf(
  { exchange }: Pick<AnyDocument, "exchange">,
  name: string,
): string {
  return exchange?.response?.headers?.get(name) ?? "";
}

export function membersAt(facts: Facts, url: string | undefined): Members {
  const document = allDocuments(facts).find((one) => one.url === url);
  return (document && membersOf(document)) ?? {};
}

export function documentOf(
  facts: Facts,
  exchange: Exchange,
): AnyDocument | undefined {
  return allDocuments(facts).find((one) =>
    one.exchange === exchange || parseUrl(one.url)?.href === exchange.url
  );
}

export function allDocuments(
  { resourceDocuments, serverDocuments }: Facts,
): readonly AnyDocument[] {
  return [...resourceDocuments, ...serverDocuments];
}

export function describeSeconds(seconds: number): string {
  const units = [["days", 86_400], ["hours", 3_600], ["minutes", 60]] as const;
  const [unit, size] = units.find(([, size]) => seconds >= 2 * size) ??
    ["seconds", 1];
  return `${Math.round(seconds / size)} ${unit}`;
}

export function keptAccessToken(
  { expires_in }: { expires_in?: number | undefined } = {},
): string {
  return "the access token stays valid " +
    (expires_in === undefined
      ? "until it expires"
      : `for ${describeSeconds(expires_in)}`);
}
