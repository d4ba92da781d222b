/** Requests one URL after another until one returns usable metadata. */

import { describeReason, quote } from "../core/_quote.ts";
import {
  type IUrlRules,
  parseUrl,
  quoteUrl,
  requireSafeUrl,
} from "../core/_url.ts";
import {
  type IDiscoveryAttempt,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import type { IDiscoveryResult } from "../core/types.ts";
import { underClock } from "../http/_clock.ts";
import { secretsOf } from "../http/_redact.ts";
import { request } from "../http/_request.ts";
import { type IResponse, responseError } from "../http/_response.ts";
import type { ITransport } from "../http/_transport.ts";
import type { RequestPurpose } from "../http/request_options.ts";

/** The result of a check: metadata, or why the document cannot be used. */
export interface IVerdict<Metadata> {
  readonly metadata?: Metadata;
  readonly code?: OAuthClientErrorCode;
  readonly problem?: string;
  readonly cause?: unknown;
  /** Whether the search ends with this document. */
  readonly isFinal?: boolean;
  /** The URL of the document to use in place of this one. */
  readonly otherUrl?: string | undefined;
}

/** A URL where metadata may be, and the check of a document found there. */
export interface ICandidate<Metadata> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The rules for a URL that a server has named; other URLs are already checked. */
  readonly rules?: IUrlRules | undefined;
  readonly check: (document: unknown, finalUrl: string) => IVerdict<Metadata>;
  /** Whether an error of the `json()` of a minimal response is returned unchanged. */
  readonly keepsRejection?: boolean;
}

/** The metadata that was found, if any, and every URL that was requested. */
export interface ISearchResult<Metadata> {
  readonly metadata?: Metadata;
  /** The URL of the metadata, as it was requested. */
  readonly url?: string;
  readonly attempts: IDiscoveryAttempt[];
  /** The error of the document that ended the search, and the URL to go on with. */
  readonly ended?: { error: Error; otherUrl: string | undefined };
}

const wordsOf = (purpose: RequestPurpose) => purpose.replaceAll("_", " ");

/** Returns the text of a response, or its status text if there is none. */
async function textOf(
  { url, text, statusText, readText }: IResponse,
  transport: ITransport,
): Promise<string> {
  if (text !== undefined || !readText) return text ?? statusText;
  try {
    return await underClock(url, transport, readText);
  } catch {
    transport.signal?.throwIfAborted();
    return statusText; // There is no text(), or it rejects.
  }
}

/** The error of a response that is not usable metadata. */
async function attemptError(
  purpose: RequestPurpose,
  url: string,
  response: IResponse,
  verdict: IVerdict<unknown>,
  transport: ITransport,
  secrets: readonly string[],
): Promise<OAuthClientError> {
  const { status, failure, headers } = response;
  // A body that is not JSON shows that no metadata is published.
  const known = failure?.code === "invalid_response" ? undefined : failure;
  const isUnexpected = status !== 200 && known?.code !== "redirect_refused";
  const code = known?.code ?? verdict.code ?? "invalid_metadata";
  const start = `Failed to fetch ${wordsOf(purpose)} from ${url}: ${status} `;
  return responseError(
    { url, status, headers },
    isUnexpected ? "unexpected_status" : code,
    verdict.problem === undefined
      ? start + quote(await textOf(response, transport), secrets)
      : quote(verdict.problem, secrets),
    { cause: known ?? verdict.cause },
  );
}

/**
 * Requests the URLs in order until one returns usable metadata. A timeout ends the
 * search, because the remaining URLs are usually on the same server.
 *
 * @throws {OAuthClientError} `timeout`.
 */
export async function search<Metadata>(
  purpose: RequestPurpose,
  candidates: readonly ICandidate<Metadata>[],
  transport: ITransport,
): Promise<ISearchResult<Metadata>> {
  const attempts: IDiscoveryAttempt[] = [];
  for (const candidate of candidates) {
    const { url, headers, rules, check, keepsRejection } = candidate;
    const secrets = [...transport.secrets, ...secretsOf(headers)];
    const shown = quote(quoteUrl(url), secrets);
    let error: Error;
    let verdict: IVerdict<Metadata> = {};
    try {
      if (rules) {
        requireSafeUrl(`The URL of ${wordsOf(purpose)}`, url, rules, shown);
      }
      const response = await request({ url, purpose, headers }, transport);
      const { status, json, failure, finalUrl } = response;
      if (status === 200 && !failure) verdict = check(json, finalUrl);
      if (verdict.metadata) {
        attempts.push({ url: shown });
        return { metadata: verdict.metadata, url, attempts };
      }
      const rejection = keepsRejection && response.readText && failure?.cause;
      error = rejection instanceof Error ? rejection : await attemptError(
        purpose,
        shown,
        response,
        verdict,
        transport,
        secrets,
      );
    } catch (thrown) {
      // An abort ends the search with the caller's own reason.
      transport.signal?.throwIfAborted();
      if (!(thrown instanceof OAuthClientError) || thrown.code === "timeout") {
        throw thrown;
      }
      error = thrown;
    }
    attempts.push({ url: shown, error });
    const { isFinal, otherUrl } = verdict;
    if (isFinal) return { attempts, ended: { error, otherUrl } };
  }
  return { attempts };
}

/**
 * Returns the result of a search as {@linkcode fetchResourceMetadata} does. Errors of
 * `fetch` and `json()` are kept unchanged; a single error is thrown as it is, several
 * in an `AggregateError`.
 */
export function toDiscoveryResult<Metadata>(
  purpose: RequestPurpose,
  { metadata, url, attempts }: ISearchResult<Metadata>,
): IDiscoveryResult<Metadata> {
  const errors = attempts.flatMap(({ error }) => {
    if (!(error instanceof OAuthClientError)) return error ? [error] : [];
    const { code, status, cause } = error;
    const isThrown = code === "network_error" && status === undefined;
    return [isThrown && cause instanceof Error ? cause : error];
  });
  if (metadata && url !== undefined) {
    return { metadata, discoveryUrl: url, errors };
  }
  if (errors.length === 1) throw errors[0];
  throw new AggregateError(
    errors,
    `Failed to fetch ${wordsOf(purpose)} from all attempted URLs`,
  );
}

/** Returns what is the same for attempts without a response of one host. */
function keyOf({ error }: IDiscoveryAttempt): string | undefined {
  if (!(error instanceof OAuthClientError)) return undefined;
  const { code, reason, url = "" } = error;
  return code === "network_error"
    ? `${parseUrl(url)?.host} ${reason}`
    : undefined;
}

/** Returns the message of an error, or why there was no response. */
function wordsOfError({ reason, url = "", message }: OAuthClientError): string {
  const { host } = parseUrl(url) ?? {};
  return reason && host ? describeReason(reason, host) : message;
}

/** Returns the outcome of an attempt in a few words, without the body of a response. */
function summaryOf({ url, error }: IDiscoveryAttempt): string {
  if (!(error instanceof OAuthClientError)) return url;
  const { code, status, cause } = error;
  const reason = cause instanceof OAuthClientError ? cause.message : undefined;
  switch (code) {
    case "unexpected_status":
      return `${url} (${status})`;
    case "invalid_metadata":
    case "redirect_refused":
      // These messages quote the body.
      return `${url} (${reason ?? code})`;
  }
  return `${url} (${reason ?? wordsOfError(error)})`;
}

/** Checks whether metadata has another identifier than expected. */
export function isMismatch({ error }: IDiscoveryAttempt): boolean {
  return error instanceof OAuthClientError &&
    error.code === "identifier_mismatch";
}

/**
 * Returns the error of a strict discovery, with the outcome of every attempt: once, if
 * several have failed alike.
 */
export function discoveryError(
  problem: string,
  attempts: readonly IDiscoveryAttempt[],
  cause?: unknown,
): OAuthClientError {
  const failed = attempts.filter(({ error }) => error);
  const outcomes = new Map<unknown, IDiscoveryAttempt>();
  for (const attempt of failed) {
    const key = keyOf(attempt) ?? attempt;
    if (!outcomes.has(key)) outcomes.set(key, attempt);
  }
  const tried = [...outcomes.values()].map(summaryOf).join(", ") || "nothing";
  const [{ error } = {}] = failed;
  const isAlike = failed.length > 1 && outcomes.size === 1 &&
    error instanceof OAuthClientError;
  const message = `${problem}. ` +
    (isAlike ? wordsOfError(error) : `Tried: ${tried}`);
  const details = { attempts, cause };
  return new OAuthClientError("discovery_failed", quote(message), details);
}

/**
 * Returns the error of a search for the metadata of an authorization server. Metadata of
 * another issuer is the problem, and is not repeated for each URL.
 */
export function serverError(
  problem: string,
  attempts: readonly IDiscoveryAttempt[],
  ofServer: readonly IDiscoveryAttempt[],
): OAuthClientError {
  const { error } = ofServer.find(isMismatch) ?? {};
  if (!error) return discoveryError(problem, attempts);
  const tried = ofServer.map((attempt) =>
    isMismatch(attempt) ? `${attempt.url} (another issuer)` : summaryOf(attempt)
  );
  const message = `${error.message}. Tried: ${tried.join(", ")}`;
  const details = { attempts };
  return new OAuthClientError("discovery_failed", quote(message), details);
}
