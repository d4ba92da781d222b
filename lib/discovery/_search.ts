import { withoutHints } from "../core/_hints.ts";
import { describeReason, quote } from "../core/_quote.ts";
import { parseUrl, quoteUrl, type UrlRules } from "../core/_url.ts";
import {
  type DiscoveryAttempt,
  type Hint,
  isOAuthClientError,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import type { DiscoveryResult } from "../core/types.ts";
import { underClock } from "../http/_clock.ts";
import { type Context, secretsIn } from "../http/_context.ts";
import {
  errorOf,
  literal,
  type Message,
  requireUrl,
  words,
} from "../http/_error.ts";
import { request } from "../http/_request.ts";
import { type IResponse, responseError } from "../http/_response.ts";
import type { RequestPurpose } from "../http/request_options.ts";

export interface Verdict<Metadata> {
  readonly metadata?: Metadata;
  readonly code?: OAuthClientErrorCode;
  readonly problem?: Message;
  readonly cause?: unknown;
  /** Ends the search, unless `otherUrl` is set. */
  readonly isFinal?: boolean;
  /** The only remaining URL to request. */
  readonly otherUrl?: string | undefined;
}

export interface Candidate<Metadata> {
  readonly headers: Readonly<Record<string, string>>;
  /** For a server's URL; other URLs are already checked. */
  readonly rules?: UrlRules | undefined;
  readonly check: (document: unknown, finalUrl: string) => Verdict<Metadata>;
  /** Returns errors of a minimal response's `json()` unchanged. */
  readonly keepsRejection?: boolean;
}

export interface SearchResult<Metadata> {
  readonly metadata?: Metadata;
  readonly url?: string;
  readonly attempts: DiscoveryAttempt[];
  /** The error of the search's last document. */
  readonly ended?: Error;
}

const nameOf = (purpose: RequestPurpose) => purpose.replaceAll("_", " ");

/** Falls back to the status text. */
async function textOf(
  { url, text, statusText, readText }: IResponse,
  context: Context,
): Promise<string> {
  if (text !== undefined || !readText) return text ?? statusText;
  try {
    return await underClock(url, context, readText);
  } catch {
    context.signal?.throwIfAborted();
    return statusText; // `text()` is missing, or rejects.
  }
}

async function attemptError(
  context: Context,
  purpose: RequestPurpose,
  response: IResponse,
  verdict: Verdict<unknown>,
): Promise<OAuthClientError> {
  const { url, status, failure } = response;
  // A body that is not JSON shows that no metadata is published.
  const known = failure?.code === "invalid_response" ? undefined : failure;
  const isUnexpected = status !== 200 && known?.code !== "redirect_refused";
  const code = known?.code ?? verdict.code ?? "invalid_metadata";
  return responseError(
    context,
    response,
    isUnexpected ? "unexpected_status" : code,
    verdict.problem ??
      words`Failed to fetch ${literal(nameOf(purpose))} from ${{
        url,
      }}: ${status} ${await textOf(response, context)}`,
    { cause: known ?? verdict.cause },
  );
}

/**
 * Requests the URLs in order until one returns usable metadata. Stops at a timeout,
 * because the remaining URLs are usually on the same server. A document may replace the
 * remaining URLs by one other. If that one fails, the document's error is the result.
 *
 * @throws {OAuthClientError} `timeout`.
 */
export async function search<Metadata>(
  context: Context,
  purpose: RequestPurpose,
  urls: readonly string[],
  candidateFor: (url: string, index: number) => Candidate<Metadata>,
): Promise<SearchResult<Metadata>> {
  const attempts: DiscoveryAttempt[] = [];
  const queue = [...urls];
  let ended: Error | undefined;
  for (const [index, url] of queue.entries()) {
    const { headers, rules, check, keepsRejection } = candidateFor(url, index);
    let error: Error;
    let verdict: Verdict<Metadata> = {};
    try {
      const name = `the URL of ${nameOf(purpose)}`;
      if (rules) requireUrl(context, name, url, rules);
      const response = await request({ url, purpose, headers }, context);
      const { status, json, failure, finalUrl } = response;
      if (status === 200 && !failure) verdict = check(json, finalUrl);
      const { metadata } = verdict;
      if (metadata) {
        attempts.push({ url: quoteUrl(url, secretsIn(context)) });
        return { metadata, url, attempts };
      }
      const rejection = keepsRejection && response.readText && failure?.cause;
      error = rejection instanceof Error
        ? rejection
        : await attemptError(context, purpose, response, verdict);
    } catch (thrown) {
      // Rejects with the reason of the caller's signal.
      context.signal?.throwIfAborted();
      if (!(thrown instanceof OAuthClientError) || thrown.code === "timeout") {
        throw thrown;
      }
      error = thrown;
    }
    attempts.push({ url: quoteUrl(url, secretsIn(context)), error });
    const { isFinal, otherUrl } = verdict;
    if (!isFinal) continue;
    queue.length = index + 1;
    if (!ended && otherUrl && !queue.includes(otherUrl)) queue.push(otherUrl);
    ended ??= error;
  }
  return { attempts, ...(ended && { ended }) };
}

/**
 * Returns a result as {@linkcode fetchResourceMetadata} does. Keeps errors of `fetch`
 * and `json()` unchanged. Throws a single error unchanged, several in an
 * `AggregateError`.
 */
export function toDiscoveryResult<Metadata>(
  purpose: RequestPurpose,
  { metadata, url, attempts }: SearchResult<Metadata>,
): DiscoveryResult<Metadata> {
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
    `Failed to fetch ${nameOf(purpose)} from all attempted URLs`,
  );
}

/** Equal for attempts without a response from the same host. */
function outageKey({ error }: DiscoveryAttempt): string | undefined {
  if (!isOAuthClientError(error, "network_error")) return undefined;
  const { networkReason: reason, url = "" } = error;
  return `${parseUrl(url)?.host} ${reason}`;
}

function wordsOfError(error: OAuthClientError): string {
  const { networkReason: reason, url = "" } = error;
  const { host } = parseUrl(url) ?? {};
  return reason && host ? describeReason(reason, host) : withoutHints(error);
}

function hintsOf(attempts: readonly DiscoveryAttempt[]): Hint[] {
  const hints = attempts.flatMap(({ error }) =>
    [error, error?.cause].flatMap((one) =>
      isOAuthClientError(one) ? one.hints ?? [] : []
    )
  );
  return [...new Set(hints)];
}

/** Describes an attempt in a few words, without the response body. */
function summaryOf({ url, error }: DiscoveryAttempt): string {
  if (!(error instanceof OAuthClientError)) return url;
  const { code, status, cause } = error;
  const why = code === "unexpected_status"
    ? status
    : cause instanceof OAuthClientError
    ? withoutHints(cause)
    // Their messages quote the body.
    : code === "invalid_metadata" || code === "redirect_refused"
    ? code
    : wordsOfError(error);
  return `${url} (${why})`;
}

export function isMismatch({ error }: DiscoveryAttempt): boolean {
  return isOAuthClientError(error, "identifier_mismatch");
}

/**
 * The error of a strict discovery, with each attempt's outcome. Equal outcomes appear
 * once.
 */
export function discoveryError(
  context: Context,
  problem: Message,
  attempts: readonly DiscoveryAttempt[],
  cause?: unknown,
): OAuthClientError {
  const failed = attempts.filter(({ error }) => error);
  const outcomes = new Map<unknown, DiscoveryAttempt>();
  for (const attempt of failed) {
    const key = outageKey(attempt) ?? attempt;
    if (!outcomes.has(key)) outcomes.set(key, attempt);
  }
  const tried = [...outcomes.values()].map(summaryOf).join(", ") || "nothing";
  const [{ error } = {}] = failed;
  const isAlike = failed.length > 1 && outcomes.size === 1 &&
    error instanceof OAuthClientError;
  // The errors of the attempts are clean.
  const outcome = quote(isAlike ? wordsOfError(error) : `Tried: ${tried}`);
  const message = words`${problem}. ${literal(outcome)}${hintsOf(failed)}`;
  return errorOf(context, "discovery_failed", message, { attempts, cause });
}

/**
 * Metadata of another issuer is the reported problem; it appears once, not for each
 * URL.
 */
export function serverError(
  context: Context,
  problem: Message,
  attempts: readonly DiscoveryAttempt[],
  ofServer: readonly DiscoveryAttempt[],
): OAuthClientError {
  const { error } = ofServer.find(isMismatch) ?? {};
  if (!error) return discoveryError(context, problem, attempts);
  const tried = ofServer.map((attempt) =>
    isMismatch(attempt) ? `${attempt.url} (another issuer)` : summaryOf(attempt)
  );
  const text = quote(`${withoutHints(error)}. Tried: ${tried.join(", ")}`);
  const message = words`${literal(text)}${hintsOf(ofServer)}`;
  return errorOf(context, "discovery_failed", message, { attempts });
}
