/**
 * Returns a body as a stream. If it is canceled, the rest is read and dropped, because
 * Node's servers do so with an unread body. An iterator that stops early would close
 * the connection before the response is sent, and leave a rest in it.
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
