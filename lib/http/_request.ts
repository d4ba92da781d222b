/** One OAuth request with its redirects: the only file that calls `fetch` for them. */

import { invalidArgument, requireStringMembers } from "../core/_arguments.ts";
import { describeThrown, quote } from "../core/_quote.ts";
import { parseHttpUrl, parseUrl, quoteUrl } from "../core/_url.ts";
import {
  type IOAuthClientErrorDetails,
  isOAuthClientError,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import { underClock } from "./_clock.ts";
import { secretsOf } from "./_redact.ts";
import {
  discard,
  fieldOf,
  type IResponse,
  isOk,
  readResponse,
} from "./_response.ts";
import { emit } from "./events.ts";
import type { ITransport } from "./_transport.ts";
import type {
  IFetchInit,
  IFetchResponse,
  RequestPurpose,
} from "./request_options.ts";

const MAX_REDIRECTS = 5;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** A request of this library. */
export interface IRequest {
  /** An http or https URL that may be requested: the caller has checked it. */
  readonly url: string;
  readonly purpose: RequestPurpose;
  readonly headers: Readonly<Record<string, string>>;
  /** A request with a body is a `POST`, one without is a `GET`. */
  readonly body?: string;
}

/** A header field that HTTP allows, with a line break between name and value. */
// deno-lint-ignore no-control-regex
const FIELD = /^[\w!#$%&'*+\-.^`|~]+\n[\x01-\x09\x0b\x0c\x0e-\xff]*$/;

type Fields = Readonly<Record<string, string>>;

/** Fails unless HTTP allows all header fields. */
function requireFields(fields: Fields): void {
  for (const [name, value] of Object.entries(fields)) {
    // Fetch removes line breaks at both ends of a value.
    if (FIELD.test(`${name}\n${value.trim()}`)) continue;
    // No value is shown, nor a whole line that is given as the name.
    const field = `The header field ${name.replace(/[^\w-].*/s, "")}`;
    throw invalidArgument(field, "one that HTTP allows");
  }
}

/**
 * Adds the header fields of a caller, by name in any letter case. They replace those in
 * `own`, except those in `last`, which are in `own` as well.
 */
export function mergeHeaders(
  own: Fields,
  given: Fields | undefined,
  last: Fields = {},
): Fields {
  // `authenticate()` and `createProof()` of a caller may have set some of them.
  requireFields(own);
  if (given === undefined) return own;
  requireFields(requireStringMembers("headers", given));
  const merged = new Map<string, [name: string, value: string]>();
  for (const fields of [own, given, last]) {
    for (const [name, value] of Object.entries(fields)) {
      const key = name.toLowerCase();
      merged.set(key, [merged.get(key)?.[0] ?? name, value]);
    }
  }
  return Object.fromEntries(merged.values());
}

/** The error of a request. The URL of a redirect may repeat what was sent. */
function requestError(
  code: OAuthClientErrorCode,
  url: string,
  { headers, body }: IRequest,
  transport: Pick<ITransport, "secrets">,
  problem: string,
  details?: IOAuthClientErrorDetails,
): OAuthClientError {
  const secrets = [...transport.secrets, ...secretsOf(headers, body)];
  const shown = quote(quoteUrl(url), secrets);
  const message = quote(`Request to ${shown} ${problem}`, secrets);
  return new OAuthClientError(code, message, { url: shown, ...details });
}

/** Fails unless the caller allows a request to this URL. */
export async function requirePermission(
  url: string,
  request: IRequest,
  transport: Pick<ITransport, "allowUrl" | "secrets">,
): Promise<void> {
  let cause: unknown;
  try {
    if (await transport.allowUrl?.(new URL(url), request.purpose) === true) {
      return;
    }
  } catch (thrown) {
    cause = thrown;
  }
  const problem = "not made: allowUrl did not return true";
  throw requestError("url_refused", url, request, transport, problem, {
    cause,
  });
}

/** Checks whether CORS may be the reason of a failure; browsers do not say so. */
function mayBeCors(thrown: unknown): boolean {
  return thrown instanceof TypeError && ["document", "location"]
    .some((name) => Reflect.get(globalThis, name) !== undefined);
}

/** Runs a request, and reports how it ended. */
export async function reporting<Outcome extends { readonly status: number }>(
  { purpose }: Pick<IRequest, "purpose">,
  method: string,
  url: string,
  { onEvent, secrets }: Pick<ITransport, "onEvent" | "secrets">,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  if (!onEvent) return await run();
  const start = performance.now();
  const { origin = "", pathname = "" } = parseUrl(url) ?? {};
  const report = (
    end: { status: number } | { code: OAuthClientErrorCode | "error" },
  ) =>
    emit(onEvent, {
      ...{ type: "request", purpose, method, url: origin + pathname, ...end },
      durationMs: Math.round(performance.now() - start),
    }, secrets);
  try {
    const outcome = await run();
    report({ status: outcome.status });
    return outcome;
  } catch (error) {
    report({ code: isOAuthClientError(error) ? error.code : "error" });
    throw error;
  }
}

/** Calls `fetch` once. */
async function callFetch(
  url: string,
  method: string,
  request: IRequest,
  transport: ITransport,
  signal: AbortSignal,
): Promise<IFetchResponse> {
  signal.throwIfAborted();
  const { headers, body } = request;
  const { userAgent } = transport;
  const hasAgent = userAgent === undefined ||
    Object.keys(headers).some((name) => /^user-agent$/i.test(name));
  const init: IFetchInit = {
    method,
    headers: { ...headers, ...(!hasAgent && { "User-Agent": userAgent }) },
    redirect: "manual",
    signal,
  };
  if (body !== undefined) init.body = body;
  let response: IFetchResponse | undefined;
  let cause: unknown = "no response";
  try {
    response = await (transport.fetch ?? globalThis.fetch)(url, init);
  } catch (thrown) {
    cause = thrown;
  }
  if (signal.aborted && response) discard(response);
  signal.throwIfAborted();
  if (response && (response.status ?? response.ok) !== undefined) {
    return response;
  }
  const { text, reason } = describeThrown(cause);
  const hint = reason === undefined && mayBeCors(cause)
    ? " (in a browser this can be CORS: the server has to allow the origin of " +
      "the page)"
    : "";
  const problem = `failed: ${text}${hint}`;
  throw requestError("network_error", url, request, transport, problem, {
    cause,
    reason,
  });
}

/**
 * Makes a `GET` and returns its header fields, whatever the status. The body is not
 * read, as it may be an endless stream, and no redirect is followed.
 */
export function requestHead(
  request: IRequest,
  transport: ITransport,
): Promise<Pick<IResponse, "status" | "headers">> {
  const { url } = request;
  const run = async (signal: AbortSignal) => {
    if (transport.allowUrl) await requirePermission(url, request, transport);
    const response = await callFetch(url, "GET", request, transport, signal);
    discard(response);
    const { status, headers } = response;
    return {
      status,
      headers: { get: (name: string) => fieldOf(headers, name) },
    };
  };
  return underClock(
    url,
    transport,
    (signal) => reporting(request, "GET", url, transport, () => run(signal)),
  );
}

/**
 * Returns the URL of a redirect, or the reason why it must not be followed; neither if
 * the response is not a redirect.
 */
function redirectOf(
  url: string,
  { type, status, headers }: IFetchResponse,
  method: string,
  hops: number,
): { next?: string; problem?: string } {
  const location = REDIRECT_STATUSES.includes(status) &&
    fieldOf(headers, "Location");
  if (type === "opaqueredirect") {
    return { problem: "was redirected, and the runtime hides the new URL" };
  }
  if (!location) return {};
  if (method !== "GET") {
    return { problem: `was redirected, which a ${method} does not follow` };
  }
  if (hops === MAX_REDIRECTS) {
    return { problem: `was redirected more than ${MAX_REDIRECTS} times` };
  }
  const target = parseHttpUrl(parseUrl(location, url));
  if (target?.origin !== new URL(url).origin) {
    return { problem: "was redirected to another origin" };
  }
  return { next: target.href };
}

/**
 * Makes a request and reads its response, under a timeout that has started. See
 * {@linkcode request}.
 */
export async function send(
  request: IRequest,
  transport: ITransport,
  signal: AbortSignal,
): Promise<IResponse> {
  const method = request.body === undefined ? "GET" : "POST";
  return await reporting(
    request,
    method,
    request.url,
    transport,
    () => sendAndFollow(method, request, transport, signal),
  );
}

/** Sends a request, follows its redirects, and reads the response. */
async function sendAndFollow(
  method: string,
  request: IRequest,
  transport: ITransport,
  signal: AbortSignal,
): Promise<IResponse> {
  let { url } = request;
  for (let hops = 0;; hops++) {
    if (transport.allowUrl) await requirePermission(url, request, transport);
    const response = await callFetch(url, method, request, transport, signal);
    // A caller's fetch may follow redirects in spite of `redirect: "manual"`.
    const from = (transport.fetch && response.url) || url;
    if (from !== url && parseUrl(from)?.origin !== new URL(url).origin) {
      discard(response);
      const problem = "got a response from another origin";
      throw requestError("redirect_refused", url, request, transport, problem);
    }
    const { next, problem } = redirectOf(url, response, method, hops);
    if (next !== undefined) {
      discard(response);
      url = next;
      continue;
    }
    // Metadata comes with status 200, other responses with any 2xx.
    const { status } = response;
    const isExpected = method === "GET" ? status === 200 : isOk(response);
    const { maxBytes } = transport;
    const reading = { maxBytes, signal, isExpected };
    const read = await readResponse(request.url, url, response, reading);
    if (problem === undefined) return read;
    const code = "redirect_refused";
    const details = { status };
    const failure = requestError(
      code,
      url,
      request,
      transport,
      problem,
      details,
    );
    return { ...read, failure };
  }
}

/**
 * Makes a request, reads the response to its end and returns it. A `GET` follows a few
 * redirects within its origin, and a `POST` follows none, so that header fields for one
 * origin are not sent to another. A redirect that is not followed, or a body that
 * cannot be read, sets `failure` of the response.
 *
 * @throws {OAuthClientError} `network_error`, `timeout`, `url_refused`, and
 * `redirect_refused` if a caller's `fetch` followed a redirect elsewhere.
 */
export function request(
  request: IRequest,
  transport: ITransport,
): Promise<IResponse> {
  return underClock(
    request.url,
    transport,
    (signal) => send(request, transport, signal),
  );
}
