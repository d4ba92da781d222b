/** What an operation makes its requests with, and what these have sent. */

import {
  optionalFunction,
  requireArgument,
  requireObject,
} from "../core/_arguments.ts";
import { quote } from "../core/_quote.ts";
import { secretsOf } from "./_redact.ts";
import type { EventToEmit, OnEvent } from "./events.ts";
import type { FetchLike, RequestOptions } from "./request_options.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 1_048_576;

/**
 * A value that a server has received, the parts of a request that contain some, or a
 * function that finds them: most calls need none.
 */
export type Sent = string | (() => readonly Sent[]) | {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/**
 * The context of one operation: how requests are made, and what they have sent. It
 * contains no header fields, because these are for one server. A copy by spread shares what
 * was sent, a {@linkcode fork} does not.
 */
export interface Context
  extends Pick<RequestOptions, "fetch" | "signal" | "allowUrl"> {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Accepts http and loopback everywhere. */
  readonly allowHttp: boolean | undefined;
  readonly now: () => number;
  /** The `User-Agent` of every request that does not set it. */
  readonly userAgent: string | undefined;
  readonly onEvent: OnEvent | undefined;
  /** What was sent, unchanged; errors and events must not repeat it. */
  readonly sent: Sent[];
}

/** The contexts that a `fetch` stands for. */
const contexts = /* @__PURE__ */ new WeakMap<FetchLike, Context>();

/**
 * Returns a `fetch` for a caller's function. The context is found by it in the options that
 * the function passes on; a member of options would be public, and could be set by accident.
 */
export function fetchOf(context: Context): FetchLike {
  const own: FetchLike = (url, init) =>
    (context.fetch ?? globalThis.fetch)(url, init);
  contexts.set(own, context);
  return own;
}

function limit(name: string, value: number): number {
  const isPositive = typeof value === "number" && value > 0;
  requireArgument(isPositive, name, "a positive number");
  return value;
}

/** The options that a context is made of. */
export interface ContextOptions extends Omit<RequestOptions, "headers"> {
  allowHttp?: boolean | undefined;
  now?: (() => number) | undefined;
}

/**
 * Checks a caller's options, and returns a context. Nothing else is passed on: a type
 * such as `Omit<RequestOptions, "headers">` does not keep TypeScript from accepting an
 * object that has header fields for another server.
 */
export function contextOf(options: ContextOptions | undefined): Context {
  const { fetch, signal, allowUrl, timeoutMs, maxBytes, allowHttp, now } =
    requireObject("options", options ?? {});
  optionalFunction("options.fetch", fetch);
  optionalFunction("options.allowUrl", allowUrl);
  optionalFunction("options.now", now);
  const isSignal = !signal || typeof signal.throwIfAborted === "function";
  requireArgument(isSignal, "options.signal", "an AbortSignal");
  const { sent = [], userAgent, onEvent } = (fetch && contexts.get(fetch)) ??
    {};
  return {
    fetch,
    signal,
    allowUrl,
    timeoutMs: limit("options.timeoutMs", timeoutMs ?? DEFAULT_TIMEOUT_MS),
    maxBytes: limit("options.maxBytes", maxBytes ?? DEFAULT_MAX_BYTES),
    allowHttp,
    now: now ?? Date.now,
    userAgent,
    onEvent,
    sent: [...sent],
  };
}

/**
 * Returns a context for another operation: what it sends is not noted in the given one,
 * which lives longer.
 */
export function fork<Made extends Context>(
  context: Made,
  sent: readonly Sent[] = [],
): Made {
  return { ...context, sent: [...context.sent, ...sent] };
}

/** Returns the values that errors and events of a context must not repeat. */
export function secretsIn(
  { sent }: { readonly sent: readonly Sent[] },
): string[] {
  return sent.flatMap((one) =>
    typeof one === "function"
      ? secretsIn({ sent: one() })
      : typeof one === "string"
      ? secretsOf({ value: one })
      : secretsOf(one.headers, one.body)
  );
}

/** Members with text of a server, which may repeat what the server received. */
const SERVER_TEXT =
  /^(issuer|url|client_id|scopes|acr_values|message|error|error_description)$/;

/** Reports an event, without what was sent; errors of the receiver are ignored. */
export function report(
  context: Pick<Context, "onEvent" | "sent">,
  event: EventToEmit,
): void {
  const { onEvent } = context;
  if (!onEvent) return;
  const secrets = secretsIn(context);
  const clean = (text: unknown) =>
    typeof text === "string" ? quote(text, secrets) : text;
  const members = Object.entries(event)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [
      name,
      SERVER_TEXT.test(name)
        ? Array.isArray(value) ? value.map(clean) : clean(value)
        : value,
    ]);
  try {
    Promise.resolve(onEvent(Object.fromEntries(members))).catch(() => {});
  } catch {
    // An error of the listener does not change what the function returns.
  }
}
