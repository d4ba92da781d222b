/** The body of a request of a Node server, as a stream. */

/**
 * Returns a body as a stream. If the stream is cancelled, the rest of the body is read and
 * dropped, as servers of Node do with a body that nobody reads. An iterator that ends early
 * would close the connection before the response is sent, and a rest would stay in it.
 */
export function streamOf(
  body: AsyncIterable<Uint8Array>,
): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      const drop = async () => {
        while (!(await chunks.next()).done);
      };
      // The client may leave. Nothing waits for the rest.
      drop().catch(() => {});
    },
  }, { highWaterMark: 0 });
}
