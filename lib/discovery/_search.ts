/** Requests one URL after another until one returns usable metadata. */

import { quote } from "../core/_quote.ts";
import { type IUrlRules, quoteUrl } from "../core/_url.ts";
import {
  type IDiscoveryAttempt,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import type { IDiscoveryResult } from "../core/types.ts";
import { redact, secretsOf } from "../http/_redact.ts";
import { request } from "../http/_request.ts";
import { type IResponse, responseError } from "../http/_response.ts";
import type {
  IRequestOptions,
  RequestPurpose,
} from "../http/request_options.ts";

/** What a document is: metadata, or why it cannot be used. */
export interface IVerdict<Metadata> {
  readonly metadata?: Metadata;
  readonly code?: OAuthClientErrorCode;
  readonly problem?: string;
  readonly cause?: unknown;
}

/** A URL where metadata may be, and the check of a document found there. */
export interface ICandidate<Metadata> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The URLs that may be requested; any if undefined. */
  readonly rules?: IUrlRules;
  readonly check: (document: unknown, finalUrl: string) => IVerdict<Metadata>;
}

/** The metadata that was found, if any, and every URL that was requested. */
export interface ISearchResult<Metadata> {
  readonly metadata?: Metadata;
  /** The URL of the metadata, as it was requested. */
  readonly url?: string;
  readonly attempts: IDiscoveryAttempt[];
}

/** Options of a search. */
export interface ISearchOptions extends IRequestOptions {
  /** Ends the search at metadata of another identifier. */
  endOnMismatch?: boolean | undefined;
  /** What was sent before, and must not be repeated in errors. */
  secrets?: readonly string[] | undefined;
}

/** The error of a response that is not usable metadata. */
function attemptError(
  purpose: RequestPurpose,
  url: string,
  response: IResponse,
  verdict: IVerdict<unknown>,
  secrets: readonly string[],
): OAuthClientError {
  const { status, text, statusText, failure } = response;
  const start = `Failed to fetch ${purpose.replaceAll("_", " ")} ` +
    `from ${quoteUrl(url)}: ${status} `;
  // A body that is not JSON shows that no metadata is published.
  const isNotJson = failure?.code === "invalid_response";
  const isUnexpected = status !== 200 && failure?.code !== "redirect_refused";
  const code = isUnexpected
    ? "unexpected_status"
    : isNotJson
    ? "invalid_metadata"
    : failure?.code ?? verdict.code ?? "invalid_metadata";
  const details = {
    url: redact(quoteUrl(url), secrets),
    cause: isNotJson ? undefined : failure ?? verdict.cause,
  };
  const message = verdict.problem === undefined
    ? redact(start, secrets) + redact(text ?? statusText, secrets)
    : redact(verdict.problem, secrets);
  return responseError(response, code, message, details);
}

/** Requests one URL and checks the document found there. */
async function attempt<Metadata>(
  purpose: RequestPurpose,
  { url, headers, rules, check }: ICandidate<Metadata>,
  options: ISearchOptions,
  secrets: readonly string[],
): Promise<{ metadata?: Metadata; error?: OAuthClientError }> {
  try {
    const response = await request(
      { url, purpose, rules, headers, secrets },
      options,
    );
    const { status, json, failure, finalUrl = url } = response;
    const verdict = status === 200 && !failure ? check(json, finalUrl) : {};
    if (verdict.metadata) return { metadata: verdict.metadata };
    return { error: attemptError(purpose, url, response, verdict, secrets) };
  } catch (error) {
    // An abort ends the search with the caller's own reason.
    options.signal?.throwIfAborted();
    if (error instanceof OAuthClientError) return { error };
    throw error;
  }
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
  options: ISearchOptions,
): Promise<ISearchResult<Metadata>> {
  const attempts: IDiscoveryAttempt[] = [];
  for (const candidate of candidates) {
    const { url, headers } = candidate;
    const secrets = [...(options.secrets ?? []), ...secretsOf(headers)];
    const { metadata, error } = await attempt(
      purpose,
      candidate,
      options,
      secrets,
    );
    if (error?.code === "timeout") throw error;
    const shown = redact(quoteUrl(url), secrets);
    attempts.push({ url: shown, ...(error && { error }) });
    if (metadata) return { metadata, url, attempts };
    if (options.endOnMismatch && error?.code === "identifier_mismatch") break;
  }
  return { attempts };
}

/**
 * Returns the result of a search as {@linkcode fetchResourceMetadata} does: what
 * `fetch` threw is kept unchanged; a single error is thrown as it is, several in an
 * `AggregateError`.
 */
export function toDiscoveryResult<Metadata>(
  purpose: RequestPurpose,
  { metadata, url, attempts }: ISearchResult<Metadata>,
): IDiscoveryResult<Metadata> {
  const errors = attempts.flatMap(({ error }) => {
    if (!(error instanceof OAuthClientError)) return [];
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
    `Failed to fetch ${purpose.replaceAll("_", " ")} from all attempted URLs`,
  );
}

/** The outcome of an attempt in a few words, without the body of a response. */
function summaryOf({ url, error }: IDiscoveryAttempt): string {
  if (!(error instanceof OAuthClientError)) return url;
  const { code, status, cause } = error;
  if (code === "unexpected_status") return `${url} (${status})`;
  // These messages quote the body, unless the cause has the reason.
  const isQuoting = code === "invalid_metadata" || code === "redirect_refused";
  const reason = cause instanceof OAuthClientError
    ? cause.message
    : isQuoting
    ? code
    : error.message;
  return `${url} (${reason.replace(`Request to ${url} `, "")})`;
}

/** The error of a strict discovery, with the outcome of every attempt. */
export function discoveryError(
  problem: string,
  attempts: readonly IDiscoveryAttempt[],
  cause?: unknown,
): OAuthClientError {
  const tried = attempts.filter(({ error }) => error).map(summaryOf);
  const message = `${problem}. Tried: ${tried.join(", ") || "nothing"}`;
  const details = { attempts, cause };
  return new OAuthClientError("discovery_failed", quote(message), details);
}
