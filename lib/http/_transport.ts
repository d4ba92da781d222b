/** What the transport uses of the options of a network call. */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import type { IRequestOptions } from "./request_options.ts";

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 1_048_576;

/** How requests are made. It has no header fields, which belong to one server. */
export interface ITransport
  extends Pick<IRequestOptions, "fetch" | "signal" | "allowUrl"> {
  timeoutMs: number;
  maxBytes: number;
  /** What earlier requests have sent, and errors must not repeat. */
  secrets: readonly string[];
}

function limit(name: string, value: number): number {
  const isPositive = typeof value === "number" && value > 0;
  requireArgument(isPositive, name, "a positive number");
  return value;
}

/**
 * Takes out what the transport uses of a caller's options. Nothing else is passed on:
 * a type such as `Omit<IRequestOptions, "headers">` does not keep TypeScript from
 * accepting an object that has header fields for another server.
 */
export function transportOf(options: IRequestOptions | undefined): ITransport {
  const { fetch, signal, allowUrl, timeoutMs, maxBytes } = requireObject(
    "options",
    options ?? {},
  );
  return {
    fetch,
    signal,
    allowUrl,
    timeoutMs: limit("options.timeoutMs", timeoutMs ?? DEFAULT_TIMEOUT_MS),
    maxBytes: limit("options.maxBytes", maxBytes ?? DEFAULT_MAX_BYTES),
    secrets: [],
  };
}
