/** A request to a resource, which can be sent again, and its redirects. */

import { quote } from "../core/_quote.ts";
import { parseHttpUrl, parseUrl, quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import { underSignal } from "../http/_clock.ts";
import { secretsOf } from "../http/_redact.ts";
import { discard } from "../http/_response.ts";
import { KeptBody } from "./_kept_body.ts";
import { secretTokens } from "./_renewal_reason.ts";
import {
  type IRedirectRules,
  leavesApi,
  removePrivateFields,
  requireRedirect,
} from "./_redirect_rules.ts";
import type { ISession } from "./session.ts";

/** The function that makes the requests, in the form of the global `fetch`. */
export type ResourceFetch = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

/** The limit of the Fetch standard (section 4.4). */
const MAX_REDIRECTS = 20;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** Returns the URL of a request; browsers resolve it against the URL of the page. */
export function urlOf(input: string | URL | Request): URL | undefined {
  const { location } = globalThis as { location?: { href?: string } };
  const text = input instanceof Request ? input.url : String(input);
  return parseUrl(text, location?.href);
}

/**
 * Returns the members of a request that a redirect does not change. Some runtimes lack
 * some of them, and do not accept them either.
 */
function initOf(request: Request): RequestInit {
  const { cache, credentials, integrity, keepalive, referrerPolicy } = request;
  const members = { cache, credentials, integrity, keepalive, referrerPolicy };
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value),
  );
}

/** A request of the caller, which may have to be sent again. */
export class ResourceRequest {
  url: URL;
  method: string;
  readonly signal: AbortSignal | undefined;
  /** The session that the request is sent with. */
  session: ISession | undefined;
  /** Whether a redirect has left the API, for a server that selects all later URLs. */
  hasLeft = false;
  /** Whether the body is a stream, which cannot be sent again. */
  readonly isSentOnce: boolean;
  readonly #headers: Headers;
  readonly #redirect: NonNullable<RequestInit["redirect"]>;
  #init: RequestInit;
  /**
   * The caller's `Request`, until a redirect; members of `#init` replace its members.
   */
  #request: Request | undefined;
  /** The body of the caller's `Request`. */
  #body: KeptBody | undefined;
  #redirects = 0;
  readonly #sent: Headers[] = [];

  constructor(url: URL, input: string | URL | Request, init: RequestInit) {
    const request = input instanceof Request ? input : undefined;
    this.url = url;
    this.method = init.method ?? request?.method ?? "GET";
    const { signal = request?.signal } = init;
    this.signal = signal ?? undefined;
    // `Object` returns an object for a string and for undefined.
    const body: object = Object(init.body);
    this.isSentOnce = "getReader" in body || Symbol.asyncIterator in body;
    this.#headers = new Headers(init.headers ?? request?.headers);
    this.#redirect = init.redirect ?? request?.redirect ?? "follow";
    this.#init = init;
    this.#request = request;
    if (request && (init.body ?? null) === null) {
      this.#body = KeptBody.of(request);
    }
  }

  /**
   * Sends the request with further header fields. `fetch` must not follow redirects by
   * itself: within the origin, it would also send the token outside the resource.
   */
  async send(
    fetch: ResourceFetch,
    fields: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const headers = new Headers(this.#headers);
    for (const [name, value] of Object.entries(fields)) {
      headers.set(name, value);
    }
    this.#sent.push(headers);
    const redirect = this.#redirect === "follow" ? "manual" : this.#redirect;
    const init = { ...this.#init, headers, redirect };
    const kept = this.#body;
    if (kept) {
      const body = await underSignal(this.signal, () => kept.next());
      Object.assign(init, { body, duplex: "half" });
    }
    // As one argument: a caller's `fetch` may ignore the second one after a `Request`.
    return await (this.#request
      ? fetch(new Request(this.#request, init))
      : fetch(this.url.href, init));
  }

  /** Returns what errors must not repeat: the values that were sent, and the tokens. */
  get secrets(): string[] {
    const sent = this.#sent.flatMap((headers) =>
      secretsOf(Object.fromEntries(headers))
    );
    return [...sent, ...secretTokens(this.session)];
  }

  /** The error of a redirect, whose URL may repeat what was sent. */
  #redirectError(problem: string, cause?: unknown): OAuthClientError {
    const { secrets } = this;
    const url = quote(quoteUrl(this.url), secrets);
    const message = `Request to ${url} was redirected ${problem}`;
    const details = { url, cause };
    return new OAuthClientError(
      "redirect_refused",
      quote(message, secrets),
      details,
    );
  }

  /**
   * Moves to the URL that a response redirects to, by the rules of the Fetch standard
   * (section 4.4, HTTP-redirect fetch). Returns false if there is no redirect, or if
   * the caller handles redirects. After the first redirect to another origin, the rules
   * apply to every redirect.
   */
  async follow(response: Response, rules: IRedirectRules): Promise<boolean> {
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
        "to a URL that is invalid or hidden by this runtime",
      );
    }
    if (++this.#redirects > MAX_REDIRECTS) {
      throw this.#redirectError(`more than ${MAX_REDIRECTS} times`);
    }
    const becomesGet = status === 303
      ? !/^(GET|HEAD)$/i.test(this.method)
      : status < 303 && /^POST$/i.test(this.method);
    this.hasLeft ||= leavesApi(this.url, target, rules);
    if (this.hasLeft) {
      const { signal } = this;
      const method = becomesGet ? "GET" : this.method;
      try {
        await underSignal(
          signal,
          () => requireRedirect(target, method, rules),
        );
      } catch (error) {
        signal?.throwIfAborted();
        const { message, cause } = error as OAuthClientError;
        throw this.#redirectError(`to another origin: ${message}`, cause);
      }
      removePrivateFields(this.#headers);
    }
    if (becomesGet) {
      this.method = "GET";
      this.close();
      this.#body = undefined;
      this.#init = { ...this.#init, body: null };
      for (
        const name of ["Encoding", "Language", "Location", "Type", "Length"]
      ) {
        this.#headers.delete(`Content-${name}`);
      }
    } else if (this.isSentOnce) {
      throw this.#redirectError("and its body is a stream");
    }
    const { method, signal = null } = this;
    const kept = this.#request && initOf(this.#request);
    this.#init = { ...kept, ...this.#init, method, signal };
    // The URL of a `Request` cannot be changed.
    this.#request = undefined;
    this.url = target;
    return true;
  }

  /** Sets `redirected` of a response, as `fetch` does if it follows redirects itself. */
  mark(response: Response): Response {
    return this.#redirects === 0
      ? response
      : Object.defineProperty(response, "redirected", { value: true });
  }

  /** Frees what is left of the caller's `Request`. */
  close(): void {
    this.#body?.close();
  }
}
