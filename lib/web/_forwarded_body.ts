/** A forwarded request's body: bytes if it is small, so that it can be sent again. */

import { requireArgument } from "../core/_arguments.ts";
import { streamOf } from "./_body_stream.ts";
import type { WebRequest } from "./web_sign_in_options.ts";

/** Longer bodies are not kept: many users may upload at the same time. */
const MAX_KEPT = 262_144;

export interface ForwardedBody {
  readonly body?: ArrayBuffer | ReadableStream<Uint8Array>;
  /** Whether the body is a stream, which cannot be sent again. */
  readonly isStream: boolean;
  readonly length?: number | undefined;
}

/** A proxy may have joined several lengths. */
function lengthOf({ headers }: WebRequest): number | undefined {
  const value = headers.get("Content-Length") ?? "";
  return /^\d+$/.test(value) ? Number(value) : undefined;
}

function hasNoBody({ method }: WebRequest): boolean {
  return /^(GET|HEAD)$/.test(method);
}

/** Fails if a parser has read the body: the API would get a different one, or none. */
export function requireUnread(request: WebRequest): void {
  if (hasNoBody(request)) return;
  const { body, bodyUsed } = request;
  const { locked, readableDidRead } = Object(body) as {
    locked?: boolean;
    readableDidRead?: boolean;
  };
  const isParsed = body instanceof URLSearchParams;
  const isMissing = !body && Boolean(lengthOf(request));
  requireArgument(
    !(bodyUsed || locked || readableDidRead || isParsed || isMissing),
    "The body of a forwarded request",
    "unread: forward before express.json() and other parsers",
  );
}

async function* joined(
  first: Uint8Array,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Rejects if the body does not arrive. */
export async function forwardedBody(
  request: WebRequest,
): Promise<ForwardedBody> {
  const { body } = request;
  const length = lengthOf(request);
  if (!body || length === 0 || hasNoBody(request)) return { isStream: false };
  const stream = "getReader" in body
    ? body
    : streamOf(body as AsyncIterable<Uint8Array>);
  if (length === undefined) {
    // In HTTP/1.1, Node provides a body without length for a request that has none.
    const reader = stream.getReader();
    const { done, value } = await reader.read();
    return done
      ? { isStream: false }
      : { body: streamOf(joined(value, reader)), isStream: true };
  }
  return length > MAX_KEPT
    ? { body: stream, isStream: true, length }
    : { body: await new Response(stream).arrayBuffer(), isStream: false };
}
