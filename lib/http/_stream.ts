const FIRST_BUFFER_BYTES = 4_096;

/**
 * Reads a stream to its end. Returns undefined, and cancels the stream, after
 * `maxBytes`. Rejects if the stream fails or returns anything but bytes.
 */
export async function readBytes(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  // A caller's fetch may leave the body open when its signal aborts.
  signal.addEventListener("abort", cancel);
  try {
    // Copied, because some runtimes return views of one large buffer.
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
