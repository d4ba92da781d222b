/** The options of a network call that the transport uses. */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import type { OnEvent } from "./events.ts";
import type { IFetch, IRequestOptions } from "./request_options.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 1_048_576;

/** How requests are made. It contains no header fields, as these are for one server. */
export interface ITransport
  extends Pick<IRequestOptions, "fetch" | "signal" | "allowUrl"> {
  timeoutMs: number;
  maxBytes: number;
  /** Values that earlier requests have sent, and that errors must not repeat. */
  secrets: readonly string[];
  /** The `User-Agent` of every request that does not set it. */
  userAgent: string | undefined;
  onEvent: OnEvent | undefined;
}

/** Values that accompany a `fetch` through all functions that receive it. */
type Companions = Partial<
  Pick<ITransport, "secrets" | "userAgent" | "onEvent">
>;

/**
 * The companions of each `fetch` that an authorized fetch has made. As members of options
 * they would be public, and a caller's objects could set them by accident.
 */
const companions = /* @__PURE__ */ new WeakMap<IFetch, Companions>();

/** Returns a `fetch` with companions, including those of the given `fetch`. */
export function fetchWith(
  fetch: IFetch | undefined,
  { secrets = [], ...further }: Companions,
): IFetch {
  const own: IFetch = (url, init) => (fetch ?? globalThis.fetch)(url, init);
  const earlier = (fetch && companions.get(fetch)) ?? {};
  companions.set(own, {
    ...earlier,
    ...further,
    secrets: [...earlier.secrets ?? [], ...secrets],
  });
  return own;
}

function limit(name: string, value: number): number {
  const isPositive = typeof value === "number" && value > 0;
  requireArgument(isPositive, name, "a positive number");
  return value;
}

/**
 * Returns the members of a caller's options that the transport uses. Nothing else is
 * passed on: a type such as `Omit<IRequestOptions, "headers">` does not keep TypeScript
 * from accepting an object that has header fields for another server.
 */
export function transportOf(options: IRequestOptions | undefined): ITransport {
  const { fetch, signal, allowUrl, timeoutMs, maxBytes } = requireObject(
    "options",
    options ?? {},
  );
  const { secrets = [], userAgent, onEvent } =
    (fetch && companions.get(fetch)) ?? {};
  return {
    fetch,
    signal,
    allowUrl,
    timeoutMs: limit("options.timeoutMs", timeoutMs ?? DEFAULT_TIMEOUT_MS),
    maxBytes: limit("options.maxBytes", maxBytes ?? DEFAULT_MAX_BYTES),
    secrets,
    userAgent,
    onEvent,
  };
}
