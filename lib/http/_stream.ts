/** Reading a stream of bytes to its end, or to a limit. */

// A wrong Content-Length must not cause reads of a few bytes each.
const LEAST_BUFFER_BYTES = 1_024;
const MOST_BUFFER_BYTES = 16_384;
const MAX_EMPTY_CHUNKS = 1_000;

/** Reads the next chunk of a stream, or cancels it. */
interface IChunks {
  next(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/**
 * Reads a byte stream into one buffer that is reused: some runtimes return each
 * chunk as a view of a large buffer of its own, so that a body of single bytes would
 * keep gigabytes in memory. The chunks are copied out of it, because older versions
 * of workerd keep the buffer at the end of the stream. No minimum is requested,
 * because Node 24 rejects if the stream ends below it.
 */
function openBytes(
  stream: ReadableStream<Uint8Array>,
  bufferBytes: number,
): IChunks {
  const reader = stream.getReader({ mode: "byob" });
  let buffer = new ArrayBuffer(bufferBytes);
  return {
    async next() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (value) buffer = value.buffer;
      return { done, value };
    },
    cancel: () => reader.cancel(),
  };
}

function openChunks(
  stream: ReadableStream<Uint8Array>,
  bufferBytes: number,
): IChunks {
  try {
    return openBytes(stream, bufferBytes);
  } catch {
    // Not a byte stream. Streams that JavaScript code creates seldom are.
    const reader = stream.getReader();
    return { next: () => reader.read(), cancel: () => reader.cancel() };
  }
}

/**
 * Reads a stream to its end. Returns undefined, and cancels the stream, if it has
 * more than `maxBytes`. Rejects if the stream fails, or yields anything but bytes.
 * `declaredBytes` may be wrong: it only sets the size of the buffers.
 */
export async function readBytes(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
  declaredBytes = 0,
): Promise<Uint8Array | undefined> {
  const bufferBytes = declaredBytes > 0
    ? Math.min(Math.max(declaredBytes, LEAST_BUFFER_BYTES), MOST_BUFFER_BYTES)
    : MOST_BUFFER_BYTES;
  const chunks = openChunks(stream, bufferBytes);
  const cancel = () => void chunks.cancel().catch(() => {});
  // A caller's fetch may not end the body when its signal aborts.
  signal.addEventListener("abort", cancel);
  try {
    let bytes = new Uint8Array(bufferBytes);
    let length = 0;
    let empty = 0;
    for (;;) {
      const { done, value: chunk } = await chunks.next();
      if (done) return bytes.subarray(0, length);
      // Endless empty chunks would keep timers from firing.
      empty = chunk?.byteLength === 0 ? empty + 1 : 0;
      if (chunk?.BYTES_PER_ELEMENT !== 1 || empty > MAX_EMPTY_CHUNKS) {
        cancel();
        throw new TypeError("The body is not a stream of bytes");
      }
      const end = length + chunk.byteLength;
      if (end > maxBytes) {
        cancel();
        return undefined;
      }
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.max(end, 2 * bytes.length));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(chunk, length);
      length = end;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
