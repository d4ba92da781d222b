import {
  parseHttpUrl,
  parseUrl,
  urlProblem,
  type UrlRules,
} from "../../core/_url.ts";
import { isRedirectError } from "../../core/_quote.ts";
import { noteUnanswered } from "../../core/advice.ts";
import type { OAuthClientError } from "../../core/errors.ts";
import { underSignal } from "../../http/_clock.ts";
import { fork } from "../../http/_context.ts";
import {
  errorOf,
  literal,
  type Message,
  unusedUrl,
  words,
} from "../../http/_error.ts";
import {
  REDIRECT_STATUSES,
  reporting,
  requireFields,
  requirePermission,
} from "../../http/_request.ts";
import { discard } from "../../http/_response.ts";
import type { GrantContext } from "../../token/_grant_context.ts";
import { type Covered, isCovered } from "../policy/_covered_urls.ts";

/** Like the global `fetch`. */
export type ResourceFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

export interface Sending extends Covered<URL> {
  readonly fetch: ResourceFetch;
  readonly rules: UrlRules;
}

export interface Exchanged {
  readonly response: Response;
  readonly isOfApi: boolean;
}

type NodeProcess = { versions?: { undici?: string } };

interface ResourceInit extends RequestInit {
  headers: Record<string, string>;
}

/** The limit of the Fetch standard (section 4.4). */
const MAX_REDIRECTS = 20;

/**
 * Checks for a `Request` of this runtime or of another implementation, such as the npm
 * package `undici`.
 */
export function isRequest(input: string | URL | Request): input is Request {
  const { url, arrayBuffer } = Object(input);
  return typeof url === "string" && typeof arrayBuffer === "function";
}

/**
 * Returns the header fields by name: `fetch` reads an object in a fraction of the time
 * of `Headers`.
 */
export function fieldsOf(
  input: string | URL | Request,
  init: RequestInit,
): Record<string, string> {
  const given = isRequest(input) ? input.headers : undefined;
  const headers = init.headers ?? given;
  if (!headers) return {};
  const entries = Symbol.iterator in headers
    ? [...headers instanceof Headers ? headers : new Headers(headers)]
    : Object.entries(headers);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, String(value)]),
  );
}

/** Reads the body as bytes, so that it can be sent again. */
async function bytesOf(request: Request): Promise<ArrayBuffer | null> {
  if (request.bodyUsed) {
    throw new TypeError("The body of the Request has been used");
  }
  // In Firefox, requests lack `body`.
  const hasBody = request.body !== null && !/^(GET|HEAD)$/.test(request.method);
  return hasBody ? await request.arrayBuffer() : null;
}

/**
 * Returns the members that a redirect does not change. Some runtimes lack and reject
 * some members.
 */
function initOf(request: Request): RequestInit {
  const names = [
    "cache",
    "credentials",
    "integrity",
    "keepalive",
    "referrerPolicy",
  ] as const;
  return Object.fromEntries(
    names.map((name) => [name, request[name]]).filter(([, value]) => value),
  );
}

function problemOf(
  target: URL,
  method: string,
  rules: UrlRules,
): Message | undefined {
  if (!/^(GET|HEAD)$/i.test(method)) {
    return words`a ${method} does not follow it to ${{ url: target }}`;
  }
  const problem = urlProblem(target, rules);
  return problem && unusedUrl("the URL", target, problem);
}

export class ResourceRequest {
  url: URL;
  method: string;
  readonly signal: AbortSignal | undefined;
  /** Contains the sent values of the request and its renewals. */
  readonly context: GrantContext;
  /** Whether the body is a stream, which cannot be sent again. */
  readonly isSentOnce: boolean;
  readonly #fields: Record<string, string>;
  readonly #redirect: NonNullable<RequestInit["redirect"]>;
  #init: RequestInit;
  /** The caller's `Request`, until `#useInit()`. `#init` replaces its members. */
  #request: Request | undefined;
  #redirects = 0;
  /** Whether a redirect has left the API: then a server selects all later URLs. */
  #hasLeft = false;

  constructor(
    context: GrantContext,
    url: URL,
    input: string | URL | Request,
    init: ResourceInit,
  ) {
    requireFields(init.headers);
    const request = isRequest(input) ? input : undefined;
    this.context = fork(context);
    this.url = url;
    this.method = init.method ?? request?.method ?? "GET";
    const { signal = request?.signal } = init;
    this.signal = signal ?? undefined;
    // `Object` returns an object for a string and for undefined.
    const body: object = Object(init.body);
    this.isSentOnce = "getReader" in body || Symbol.asyncIterator in body;
    this.#fields = init.headers;
    this.#redirect = init.redirect ?? request?.redirect ?? "follow";
    this.#init = init;
    this.#request = request;
  }

  /**
   * Sends the request and follows its redirects. Only covered URLs receive the token,
   * and none after a redirect to another origin, because another server then selects
   * the URL.
   */
  async exchange(
    accessToken: string | undefined,
    sending: Sending,
  ): Promise<Exchanged> {
    if (this.#request && (this.#init.body ?? null) === null) {
      const request = this.#request;
      const body = await underSignal(this.signal, () => bytesOf(request));
      if (body) this.#init = { ...this.#init, body };
    }
    // `fetch` accepts no `Request` of another implementation.
    const isOther = this.#request && !(this.#request instanceof Request);
    if (isOther) this.#useInit();
    for (;;) {
      // This class is only used for the API's URLs.
      const isOfApi = this.#redirects === 0 ||
        (!this.#hasLeft && isCovered(this.url, sending));
      const token = isOfApi ? accessToken : undefined;
      const response = await this.#sendOnce(token, sending);
      if (response.ok || !await this.#follow(response, sending)) {
        // `fetch` does this when it follows redirects.
        if (this.#redirects > 0) {
          Object.defineProperty(response, "redirected", { value: true });
        }
        return { response, isOfApi };
      }
    }
  }

  /** Sends it to one URL, and again if the resource requires a DPoP nonce. */
  async #sendOnce(
    accessToken: string | undefined,
    { fetch }: Sending,
  ): Promise<Response> {
    const { url, method, context } = this;
    const { dpop } = context;
    if (dpop && accessToken) this.#drop((name) => name === "dpop");
    for (let isRepeated = false;; isRepeated = true) {
      const fields: Record<string, string> = !accessToken
        ? {}
        : dpop
        ? await dpop.createHeaders({ method, url, accessToken })
        : { Authorization: `Bearer ${accessToken}` };
      const request = { purpose: "resource", method, url: url.href } as const;
      let response: Response;
      try {
        const send = () => this.#send(fetch, fields);
        response = await reporting(request, context, send);
      } catch (error) {
        if (this.isSentOnce && isRedirectError(error)) {
          throw this.#redirectError(words`and its body is a stream`, error);
        }
        noteUnanswered(error);
        throw error;
      }
      const { status, headers } = response;
      const mayRepeat = dpop?.noteResponse(url, { status, headers }) &&
        accessToken && !this.isSentOnce && !isRepeated;
      if (!mayRepeat) return response;
      discard(response);
    }
  }

  /**
   * Calls `fetch`, which must not follow redirects: within the origin, it would also
   * send the token outside the resource.
   */
  #send(
    fetch: ResourceFetch,
    fields: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const headers = { ...this.#fields, ...fields };
    this.context.sent.push({ headers });
    const { process } = globalThis as { process?: NodeProcess };
    // Node (undici 6 and 7) keeps sent parts of a stream that may be redirected.
    const redirect = this.isSentOnce && process?.versions?.undici
      ? "error"
      : this.#redirect === "follow"
      ? "manual"
      : this.#redirect;
    const init = { ...this.#init, headers, redirect };
    // One argument: a caller's `fetch` may ignore a second one after a `Request`.
    const request = this.#request && new Request(this.#request, init);
    return request ? fetch(request) : fetch(this.url.href, init);
  }

  #redirectError(problem: Message, cause?: unknown): OAuthClientError {
    const { url, context } = this;
    const message = words`Request to ${{ url }} was redirected ${problem}`;
    const details = { url: url.href, cause };
    return errorOf(context, "redirect_refused", message, details);
  }

  /**
   * Follows a redirect by the rules of the Fetch standard (section 4.4, HTTP-redirect
   * fetch). Returns false without a redirect, or if the caller handles redirects. After
   * the first redirect to another origin, the rules apply to every redirect.
   */
  async #follow(response: Response, sending: Sending): Promise<boolean> {
    const { status, type, headers } = response;
    const location = headers.get("Location");
    const isHidden = type === "opaqueredirect";
    const isRedirect = isHidden ||
      (REDIRECT_STATUSES.includes(status) && location !== null);
    if (!isRedirect || this.#redirect !== "follow") return false;
    discard(response);
    const target = parseHttpUrl(parseUrl(location ?? "", this.url.href));
    if (isHidden || !target) {
      throw this.#redirectError(
        words`to a URL that is invalid or hidden by this runtime`,
      );
    }
    if (++this.#redirects > MAX_REDIRECTS) {
      throw this.#redirectError(words`more than ${MAX_REDIRECTS} times`);
    }
    const becomesGet = status === 303
      ? !/^(GET|HEAD)$/i.test(this.method)
      : status < 303 && /^POST$/i.test(this.method);
    if (becomesGet) this.method = "GET";
    await this.#leave(target, sending);
    if (becomesGet) {
      this.#init = { ...this.#init, body: null };
      this.#drop((name) =>
        /^content-(encoding|language|location|type|length)$/.test(name)
      );
    } else if (this.isSentOnce) {
      throw this.#redirectError(words`and its body is a stream`);
    }
    // The URL of a `Request` cannot be changed.
    this.#useInit();
    this.url = target;
    return true;
  }

  #drop(isDropped: (name: string) => boolean): void {
    for (const name of Object.keys(this.#fields)) {
      if (isDropped(name.toLowerCase())) delete this.#fields[name];
    }
  }

  /** From now on, sends the members of the caller's `Request` instead of the object. */
  #useInit(): void {
    const { method, signal = null } = this;
    const kept = this.#request && initOf(this.#request);
    this.#init = { ...kept, ...this.#init, method, signal };
    this.#request = undefined;
  }

  /** Fails unless a redirect may leave the API. Another origin receives less. */
  async #leave(target: URL, sending: Sending): Promise<void> {
    const { url, method, signal, context } = this;
    this.#hasLeft ||= url.origin !== target.origin &&
      !(isCovered(url, sending) && isCovered(target, sending));
    if (!this.#hasLeft) return;
    const problem = problemOf(target, method, sending.rules);
    if (problem) {
      throw this.#redirectError(words`to another origin: ${problem}`);
    }
    const request = {
      url: target.href,
      purpose: "resource",
      headers: {},
    } as const;
    try {
      await underSignal(signal, () => requirePermission(request, context));
    } catch (error) {
      signal?.throwIfAborted();
      const { message, cause } = error as OAuthClientError;
      const problem = words`to another origin: ${literal(message)}`;
      throw this.#redirectError(problem, cause);
    }
    this.#drop((name) => !/^(accept(-.*)?|range|user-agent)$/.test(name));
  }
}
