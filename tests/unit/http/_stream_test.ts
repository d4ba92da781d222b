/** A body of single bytes is read in linear time. */

import { assertEquals, assertStrictEquals } from "@std/assert";
import { readBytes } from "../../../lib/http/_stream.ts";

// response_test and request_limits_test have the rest.
Deno.test("readBytes() joins single bytes in a buffer that doubles", async () => {
  const body = Uint8Array.from({ length: 40 * 1024 }, (_, at) => at % 251);
  let at = 0;
  const stream = new ReadableStream({
    pull(controller) {
      if (at === body.length) controller.close();
      else controller.enqueue(body.slice(at, ++at));
    },
  });
  const { signal } = new AbortController();
  const bytes = await readBytes(stream, 1_000_000, signal);
  assertEquals(bytes, body);
  assertStrictEquals(bytes?.buffer.byteLength, 64 * 1024);
});
