/** Reading a stream of bytes to its end, or to a limit. */

// A server that declares one byte and sends a million is not read byte by byte.
const LEAST_BUFFER_BYTES = 1_024;
const MOST_BUFFER_BYTES = 16_384;
const MAX_EMPTY_CHUNKS = 1_000;

/** What is left to do with a stream: take the next chunk, or close it. */
interface IChunks {
  next(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/**
 * Chunks of a byte stream are read into one buffer of ours. Some runtimes would
 * hand out each as a view of a large buffer of its own, so that a body of single
 * bytes keeps gigabytes alive. It is not the buffer that gathers them, for an
 * older workerd keeps what it is given when the stream ends; and no minimum is
 * asked for, for Node 24 fails where a stream ends below it.
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
    // Not a byte stream, as those that callers make are not.
    const reader = stream.getReader();
    return { next: () => reader.read(), cancel: () => reader.cancel() };
  }
}

/**
 * All bytes of a stream; undefined, and the stream closed, when there are more
 * than the limit. Fails when the stream does, or brings anything but bytes.
 * `declaredBytes` may be wrong: it sizes the buffers, and nothing else.
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
  // A caller's fetch need not end its body when its signal aborts.
  signal.addEventListener("abort", cancel);
  try {
    let bytes = new Uint8Array(bufferBytes);
    let length = 0;
    let empty = 0;
    for (;;) {
      const { done, value: chunk } = await chunks.next();
      if (done) return bytes.subarray(0, length);
      // A stream of nothing else would never let a timer fire.
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
