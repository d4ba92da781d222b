/** One OAuth request with its redirects: the only file that calls `fetch` for them. */

import { invalidArgument, requireStringMembers } from "../core/_arguments.ts";
import { describeThrown } from "../core/_quote.ts";
import { parseHttpUrl, parseUrl } from "../core/_url.ts";
import {
  isOAuthClientError,
  type OAuthClientError,
  type OAuthClientErrorCode,
  type OAuthClientErrorDetails,
} from "../core/errors.ts";
import { underClock } from "./_clock.ts";
import { type Context, report } from "./_context.ts";
import { errorOf, literal, type Message, words } from "./_error.ts";
import {
  discard,
  fieldOf,
  type IResponse,
  isOk,
  readResponse,
} from "./_response.ts";
import type { FetchResponse, RequestPurpose } from "./request_options.ts";

const MAX_REDIRECTS = 5;
export const REDIRECT_STATUSES: readonly number[] = [301, 302, 303, 307, 308];

export interface IRequest {
  /** An http or https URL that the caller has checked. */
  readonly url: string;
  readonly purpose: RequestPurpose;
  readonly headers: Readonly<Record<string, string>>;
  readonly method?: "DELETE";
  /** A request with a body is a `POST` by default, otherwise a `GET`. */
  readonly body?: string;
}

/** A header field that HTTP allows, with a line break between name and value. */
// deno-lint-ignore no-control-regex
const FIELD = /^[\w!#$%&'*+\-.^`|~]+\n[\x01-\x09\x0b\x0c\x0e-\xff]*$/;

type Fields = Readonly<Record<string, string>>;

export function requireFields(fields: Fields): void {
  for (const [name, value] of Object.entries(fields)) {
    // Fetch removes line breaks at both ends of a value.
    if (FIELD.test(`${name}\n${value.trim()}`)) continue;
    // Omits the value, and the rest of a name that contains a whole line.
    const field = `The header field ${name.replace(/[^\w-].*/s, "")}`;
    throw invalidArgument(field, "one that HTTP allows");
  }
}

/**
 * Merges header fields in any letter case. The last value counts, under the first
 * spelling of its name.
 */
export function mergeHeaders(
  ...lists: readonly (Fields | undefined)[]
): Fields {
  const merged = new Map<string, [name: string, value: string]>();
  for (const fields of lists) {
    // A caller's `authenticate()` or `createProof()` may set header fields.
    const given = requireStringMembers("headers", fields);
    requireFields(given);
    for (const [name, value] of Object.entries(given)) {
      const key = name.toLowerCase();
      merged.set(key, [merged.get(key)?.[0] ?? name, value]);
    }
  }
  return Object.fromEntries(merged.values());
}

function requestError(
  context: Pick<Context, "sent">,
  code: OAuthClientErrorCode,
  url: string,
  problem: Message,
  details?: OAuthClientErrorDetails,
): OAuthClientError {
  const message = words`Request to ${{ url }} ${problem}`;
  return errorOf(context, code, message, { url, ...details });
}

export async function requirePermission(
  request: IRequest,
  context: Pick<Context, "allowUrl" | "sent">,
): Promise<void> {
  const { allowUrl } = context;
  if (!allowUrl) return;
  let cause: unknown;
  try {
    if (await allowUrl(new URL(request.url), request.purpose) === true) return;
  } catch (thrown) {
    cause = thrown;
  }
  const problem = words`not made: allowUrl did not return true`;
  // A redirect's URL may repeat values that the request would send.
  const withRequest = { sent: [...context.sent, request] };
  throw requestError(withRequest, "url_refused", request.url, problem, {
    cause,
  });
}

/** Browsers do not report whether CORS is the reason. */
function mayBeCors(thrown: unknown): boolean {
  return thrown instanceof TypeError && ["document", "location"]
    .some((name) => Reflect.get(globalThis, name) !== undefined);
}

interface Reported extends Pick<IRequest, "purpose" | "url"> {
  readonly method: string;
}

export function reporting<Outcome extends { readonly status: number }>(
  request: Reported,
  context: Pick<Context, "onEvent" | "sent">,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  return context.onEvent ? reported(request, context, run) : run();
}

async function reported<Outcome extends { readonly status: number }>(
  { purpose, method, url }: Reported,
  context: Pick<Context, "onEvent" | "sent">,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const start = performance.now();
  const { origin = "", pathname = "" } = parseUrl(url) ?? {};
  const reportEnd = (
    end: { status: number } | { code: OAuthClientErrorCode | "error" },
  ) =>
    report(context, {
      ...{ type: "request", purpose, method, url: origin + pathname, ...end },
      durationMs: Math.round(performance.now() - start),
    });
  try {
    const outcome = await run();
    reportEnd({ status: outcome.status });
    return outcome;
  } catch (error) {
    reportEnd({ code: isOAuthClientError(error) ? error.code : "error" });
    throw error;
  }
}

const methodOf = ({ method, body }: IRequest) =>
  method ?? (body === undefined ? "GET" : "POST");

/** Calls `fetch` once, if the caller allows it, and notes the sent values. */
async function callFetch(
  request: IRequest,
  context: Context,
  signal: AbortSignal,
): Promise<FetchResponse> {
  if (context.allowUrl) await requirePermission(request, context);
  signal.throwIfAborted();
  const { url, headers, body } = request;
  const { userAgent, fetch = globalThis.fetch } = context;
  const hasAgent = userAgent === undefined ||
    Object.keys(headers).some((name) => /^user-agent$/i.test(name));
  context.sent.push(request);
  let response: FetchResponse | undefined;
  let cause: unknown = "no response";
  try {
    response = await fetch(url, {
      method: methodOf(request),
      headers: { ...headers, ...(!hasAgent && { "User-Agent": userAgent }) },
      ...(body !== undefined && { body }),
      redirect: "manual",
      signal,
    });
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
    ? words` (in a browser this can be CORS: the server has to allow the \
origin of the page)`
    : words``;
  const problem = words`failed: ${text}${hint}`;
  const details = { cause, networkReason: reason };
  throw requestError(context, "network_error", url, problem, details);
}

/**
 * Makes a `GET` and returns its header fields for any status. Does not read the body,
 * which may be endless, or follow redirects.
 */
export function requestHead(
  request: IRequest,
  context: Context,
): Promise<Pick<IResponse, "status" | "headers">> {
  const run = async (signal: AbortSignal) => {
    const response = await callFetch(request, context, signal);
    discard(response);
    const { status, headers } = response;
    return {
      status,
      headers: { get: (name: string) => fieldOf(headers, name) },
    };
  };
  return underClock(
    request.url,
    context,
    (signal) =>
      reporting({ ...request, method: "GET" }, context, () => run(signal)),
  );
}

/**
 * Returns a redirect's URL, or why it must not be followed. Returns neither if the
 * response is not a redirect.
 */
function redirectOf(
  request: IRequest,
  { type, status, headers }: FetchResponse,
  hops: number,
): { next?: string; problem?: Message } {
  const { url } = request;
  const refuse = (problem: string, target = words``) => ({
    problem: words`was redirected${target}${literal(problem)}`,
  });
  if (type === "opaqueredirect") {
    return refuse(", and the runtime hides the new URL");
  }
  const location = REDIRECT_STATUSES.includes(status) &&
    fieldOf(headers, "Location");
  if (!location) return {};
  const target = parseHttpUrl(parseUrl(location, url));
  if (methodOf(request) !== "GET") {
    // As text: the server selects the host, which may repeat sent values.
    const to = target && words` to ${target.origin + target.pathname}`;
    return refuse(", which only a GET follows", to);
  }
  return hops === MAX_REDIRECTS
    ? refuse(` more than ${MAX_REDIRECTS} times`)
    : target?.origin !== new URL(url).origin
    ? refuse(" to another origin")
    : { next: target.href };
}

async function sendAndFollow(
  first: IRequest,
  context: Context,
  signal: AbortSignal,
): Promise<IResponse> {
  let request = first;
  for (let hops = 0;; hops++) {
    const { url } = request;
    const response = await callFetch(request, context, signal);
    // A caller's fetch may ignore `redirect: "manual"`.
    const from = (context.fetch && response.url) || url;
    const code = "redirect_refused";
    if (from !== url && parseUrl(from)?.origin !== new URL(url).origin) {
      discard(response);
      const problem = literal("got a response from another origin");
      throw requestError(context, code, url, problem);
    }
    const { next, problem } = redirectOf(request, response, hops);
    if (next !== undefined) {
      discard(response);
      request = { ...request, url: next };
      continue;
    }
    // Metadata requires status 200, other responses any 2xx.
    const { status } = response;
    const isExpected = request.body === undefined
      ? status === 200
      : isOk(response);
    const read = await readResponse(
      { url: first.url, finalUrl: url, isExpected, signal },
      response,
      context,
    );
    if (problem === undefined) return read;
    const details = { status };
    const failure = requestError(context, code, url, problem, details);
    return { ...read, failure };
  }
}

/** Makes a request under a timeout that has started. See {@linkcode request}. */
export function send(
  request: IRequest,
  context: Context,
  signal: AbortSignal,
): Promise<IResponse> {
  return reporting(
    { ...request, method: methodOf(request) },
    context,
    () => sendAndFollow(request, context, signal),
  );
}

/**
 * Makes a request and reads its response. A `GET` follows a few redirects within its
 * origin, a `POST` none, so no header field reaches another origin. A redirect that is
 * not followed, or an unreadable body, sets `failure`.
 *
 * @throws {OAuthClientError} `network_error`, `timeout`, `url_refused`, and
 * `redirect_refused` if a caller's `fetch` followed a redirect to another origin.
 */
export function request(
  request: IRequest,
  context: Context,
): Promise<IResponse> {
  return underClock(
    request.url,
    context,
    (signal) => send(request, context, signal),
  );
}
