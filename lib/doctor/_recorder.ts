import { parseUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import { discard } from "../http/_response.ts";
import { readBytes } from "../http/_stream.ts";
import type {
  FetchInit,
  FetchLike,
  FetchResponse,
} from "../http/request_options.ts";
import { STEPS } from "./_step_table.ts";
import type { DiagnosisRequest, DiagnosisStepName } from "./diagnosis.ts";

export interface Exchange {
  readonly name: DiagnosisStepName;
  /** Whether only the diagnosis has requested it so far. */
  isExtra: boolean;
  readonly method: string;
  readonly url: string;
  /** When it was sent, in milliseconds since the Unix epoch. */
  readonly at: number;
  /** Milliseconds until the response was read; undefined before. */
  ms?: number;
  /** The response, which can be read any number of times. */
  response?: FetchResponse;
  readonly sent?: Pick<FetchInit, "headers" | "body">;
  /** The response body as text; undefined if unread. */
  text?: string;
  /** Whether the response is missing or incomplete. */
  isFailed: boolean;
  repeat(): Promise<FetchResponse>;
}

export interface RecorderOptions {
  /** The exchanges to repeat, instead of any request. */
  readonly replays?: Exchange[] | undefined;
  readonly fetch: FetchLike | undefined;
  readonly maxBytes: number;
  readonly now: () => number;
  readonly onRequest: (request: DiagnosisRequest) => void;
}

/** Reads a response once, as text; each call of `copy` returns a new copy. */
async function read(
  response: FetchResponse,
  maxBytes: number,
  signal: AbortSignal,
  readsBody: boolean,
): Promise<{ copy: () => FetchResponse; text?: string }> {
  const { status, statusText, headers, body } = response;
  const { ok = status >= 200 && status < 300, url, type } = response;
  const head = {
    status,
    statusText,
    ok,
    ...(url !== undefined && { url }),
    ...(type !== undefined && { type }),
    ...(headers && { headers }),
  };
  const copyOf = (text: string) => () => {
    const copy = new Response(text);
    return {
      ...head,
      body: text === "" ? null : copy.body,
      text: () => copy.text(),
      json: () => copy.json(),
    };
  };
  if (!readsBody || (status >= 300 && status < 400)) {
    discard(response);
    return { copy: copyOf("") };
  }
  const stream = body as ReadableStream<Uint8Array> | null | undefined;
  if (typeof stream?.getReader !== "function") {
    // A caller's fetch may return metadata by `json()` alone.
    const json = ok ? await response.json().catch(() => undefined) : undefined;
    const text = JSON.stringify(json) ?? await response.text();
    return { copy: copyOf(text), text };
  }
  const bytes = await readBytes(stream, maxBytes, signal);
  signal.throwIfAborted();
  // With one byte more than allowed, the copy's reader rejects the body too.
  if (!bytes) return { copy: copyOf(" ".repeat(maxBytes + 1)) };
  const text = new TextDecoder().decode(bytes);
  return { copy: copyOf(text), text };
}

export class Recorder {
  readonly exchanges: Exchange[];
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.exchanges = options.replays ?? [];
    this.#options = options;
  }

  /** Whether it makes no request. */
  get isReplay(): boolean {
    return this.#options.replays !== undefined;
  }

  /** Returns a recorder that repeats these exchanges, and makes no request. */
  replay(): Recorder {
    return new Recorder({ ...this.#options, replays: this.exchanges });
  }

  find(name: DiagnosisStepName, url: string): Exchange | undefined {
    const href = parseUrl(url)?.href;
    return this.exchanges.find((one) =>
      one.name === name && one.method === "GET" &&
      (one.url === url || parseUrl(one.url)?.href === href)
    );
  }

  /** Finds the last exchange of a URL's redirects. */
  findLast(name: DiagnosisStepName, url: string): Exchange | undefined {
    let found = this.find(name, url);
    for (let hops = 0; found && hops < 10; hops++) {
      const location = found.response?.headers?.get("Location");
      const next = location && parseUrl(location, found.url)?.href;
      const following = next ? this.find(name, next) : undefined;
      if (!following) break;
      found = following;
    }
    return found;
  }

  /** Checks whether every exchange with an origin was completed. */
  isAlive(url: string): boolean {
    const origin = parseUrl(url)?.origin;
    return !this.exchanges.some(({ isFailed, url }) =>
      isFailed && parseUrl(url)?.origin === origin
    );
  }

  /**
   * Returns a fetch function that records, and reads the bodies of its step. With
   * `repeats`, it returns an earlier response for the same URL.
   */
  fetchFor(
    nameOf: () => DiagnosisStepName,
    { isExtra: isOwn = false, repeats = false, method = "" } = {},
  ): FetchLike {
    return async (url, init) => {
      const name = nameOf();
      const isExtra = isOwn || STEPS[name].isExtra === true;
      const { replays } = this.#options;
      const earlier = repeats || replays ? this.find(name, url) : undefined;
      if (earlier) return await earlier.repeat();
      if (replays) throw new TypeError("The URL was not requested");
      const request = { name, isExtra, method: method || init.method, url };
      return await this.#record(request, init);
    };
  }

  /** Records a user's sign-in page; call the result when the user is back. */
  noteVisit(url: URL): (response?: URLSearchParams) => void {
    const { now, onRequest } = this.#options;
    const start = now();
    const { origin, pathname, search } = url;
    const request = {
      name: "authorization",
      method: "GET",
      url: origin + pathname,
    } as const;
    const exchange: Exchange = {
      ...request,
      at: start,
      isExtra: false,
      sent: { headers: {}, body: search.slice(1) },
      // A missing authorization response does not mean that the host has failed.
      isFailed: false,
      repeat: () => Promise.reject(new TypeError("A sign-in is not repeated")),
    };
    this.exchanges.push(exchange);
    onRequest(request);
    return (response) => {
      exchange.ms = now() - start;
      if (response) exchange.text = `${response}`;
    };
  }

  async #record(
    request: Pick<Exchange, "name" | "isExtra" | "method" | "url">,
    init: FetchInit,
  ): Promise<FetchResponse> {
    const { fetch, maxBytes, now, onRequest } = this.#options;
    const { name, method, url } = request;
    const { signal = new AbortController().signal } = init;
    const start = now();
    let result: () => FetchResponse = () => {
      throw new OAuthClientError("timeout", "No complete response in time");
    };
    const { headers, body } = init;
    const exchange: Exchange = {
      ...request,
      at: start,
      sent: { headers, ...(body !== undefined && { body }) },
      isFailed: true,
      repeat: () => Promise.resolve().then(() => result()),
    };
    this.exchanges.push(exchange);
    onRequest({ name, method, url });
    const end = () => void (exchange.ms ??= now() - start);
    signal.addEventListener("abort", end, { once: true });
    try {
      const sent = { ...init, method };
      const response =
        await (fetch ? fetch(url, sent) : globalThis.fetch(url, sent));
      exchange.response = response;
      const { reads = "all" } = STEPS[name];
      const readsBody = reads === "all" ||
        (reads === "errors" && response.status >= 400);
      const { copy, text } = await read(response, maxBytes, signal, readsBody);
      result = copy;
      if (text !== undefined) exchange.text = text;
      exchange.isFailed = false;
      return result();
    } catch (thrown) {
      result = () => {
        throw thrown;
      };
      throw thrown;
    } finally {
      end();
      signal.removeEventListener("abort", end);
    }
  }
}
