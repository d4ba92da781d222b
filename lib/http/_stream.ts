/** Reading a stream of bytes to its end, or to a limit. */

const FIRST_BUFFER_BYTES = 4_096;

/**
 * Reads a stream to its end. Returns undefined, and cancels the stream, if it has more
 * than `maxBytes`. Rejects if the stream fails or returns something other than bytes.
 */
export async function readBytes(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  // A caller's fetch may not end the body when its signal aborts.
  signal.addEventListener("abort", cancel);
  try {
    // Chunks are copied, since some runtimes return each as a view of a large buffer.
    let bytes = new Uint8Array(FIRST_BUFFER_BYTES);
    for (let length = 0;;) {
      const { done, value: chunk } = await reader.read();
      if (done) return bytes.subarray(0, length);
      const start = length;
      length += chunk?.byteLength;
      if (chunk?.BYTES_PER_ELEMENT !== 1 || length > maxBytes) {
        cancel();
        if (length > maxBytes) return undefined;
        throw new TypeError("The body is not a stream of bytes");
      }
      if (length > bytes.length) {
        const larger = new Uint8Array(Math.max(length, 2 * bytes.length));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(chunk, start);
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
