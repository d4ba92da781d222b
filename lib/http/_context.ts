/** How an operation makes requests, and which values these have sent. */

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
 * A value that a server received, or parts of a request that contain such values.
 * Functions find them later: most calls need none.
 */
export type Sent = string | (() => readonly Sent[]) | {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/**
 * An operation's way to make requests, and their sent values. It contains no header
 * fields, because these are for one server. A copy by spread shares the sent values, a
 * {@linkcode fork} does not.
 */
export interface Context
  extends Pick<RequestOptions, "fetch" | "signal" | "allowUrl"> {
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly allowHttp: boolean | undefined;
  readonly now: () => number;
  readonly userAgent: string | undefined;
  readonly onEvent: OnEvent | undefined;
  /** Errors and events must not repeat these values. */
  readonly sent: Sent[];
}

const contexts = /* @__PURE__ */ new WeakMap<FetchLike, Context>();

/**
 * Returns a `fetch` for a caller's function. It identifies the context in options that
 * the function passes on. A member would be public, and could be set by accident.
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

export interface ContextOptions extends Omit<RequestOptions, "headers"> {
  allowHttp?: boolean | undefined;
  now?: (() => number) | undefined;
}

/**
 * Checks a caller's options and returns a context. Nothing else is passed on, because
 * `Omit<RequestOptions, "headers">` accepts objects with header fields for another
 * server.
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
 * Returns a context for another operation. Its sent values are not noted in the given
 * context, which lives longer.
 */
export function fork<Made extends Context>(
  context: Made,
  sent: readonly Sent[] = [],
): Made {
  return { ...context, sent: [...context.sent, ...sent] };
}

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

/** Members with server text, which may repeat sent values. */
const SERVER_TEXT =
  /^(issuer|url|client_id|scopes|acr_values|message|error|error_description)$/;

/** Reports an event without sent values. Ignores errors of the listener. */
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
    // A listener cannot change the result.
  }
}
