import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { readBytes } from "../../../lib/http/_stream.ts";
import { untyped } from "../../support/stub_fetch.ts";

const KIB = 1024;
const { signal } = new AbortController();

/** A stream of these chunks, and how it is read. */
interface ISource {
  stream: ReadableStream<Uint8Array>;
  /** The size of each view that is to be filled. */
  views: number[];
  isCancelled: boolean;
}

/** A stream as `fetch` returns it, which fills the views of the reader. */
function byteStream(chunks: readonly (readonly number[])[]): ISource {
  const rest = chunks.map((chunk) => Uint8Array.from(chunk));
  const source: ISource = {
    views: [],
    isCancelled: false,
    stream: new ReadableStream({
      type: "bytes",
      pull(controller) {
        const view = controller.byobRequest?.view as Uint8Array;
        source.views.push(view.byteLength);
        const [chunk] = rest;
        if (!chunk) {
          controller.close();
          controller.byobRequest?.respond(0);
          return;
        }
        const length = Math.min(view.byteLength, chunk.length);
        view.set(chunk.subarray(0, length));
        rest[0] = chunk.subarray(length);
        if (rest[0].length === 0) rest.shift();
        controller.byobRequest?.respond(length);
      },
      cancel() {
        source.isCancelled = true;
      },
    }),
  };
  return source;
}

/** A stream as callers make it, which queues chunks. */
function chunkStream(chunks: readonly (readonly number[])[]): ISource {
  const rest = chunks.map((chunk) => Uint8Array.from(chunk));
  const source: ISource = {
    views: [],
    isCancelled: false,
    stream: new ReadableStream({
      pull(controller) {
        const chunk = rest.shift();
        if (chunk) controller.enqueue(chunk);
        else controller.close();
      },
      cancel() {
        source.isCancelled = true;
      },
    }),
  };
  return source;
}

const KINDS = { byteStream, chunkStream };
const numbers = (length: number) =>
  Array.from({ length }, (_, index) => index % 251);

for (const [kind, open] of Object.entries(KINDS)) {
  Deno.test(`readBytes() joins the chunks of a stream: ${kind}`, async () => {
    const body = numbers(100 * KIB);
    const cuts = [0, 1, 3, 16 * KIB, 16 * KIB + 1, 50 * KIB, body.length];
    const chunks = cuts.slice(1).map((cut, at) => body.slice(cuts[at], cut));
    const { stream } = open(chunks);
    const bytes = await readBytes(stream, body.length, signal);
    assertEquals(bytes, Uint8Array.from(body));
  });

  Deno.test(`readBytes() returns no bytes of an empty stream: ${kind}`, async () => {
    assertEquals(
      await readBytes(open([]).stream, 1, signal),
      new Uint8Array(),
    );
  });

  for (const maxBytes of [5, 5.5, 20 * KIB]) {
    Deno.test(`readBytes() reads ${maxBytes} bytes and not one more: ${kind}`, async () => {
      const most = Math.floor(maxBytes);
      const fits = open([numbers(most - 1), [1]]);
      const bytes = await readBytes(fits.stream, maxBytes, signal);
      assertStrictEquals(bytes?.length, most);
      assertStrictEquals(fits.isCancelled, false);

      const exceeds = open([numbers(most), [1], [2]]);
      assertStrictEquals(
        await readBytes(exceeds.stream, maxBytes, signal),
        undefined,
      );
      assertStrictEquals(exceeds.isCancelled, true);
    });
  }

  for (const declared of [-1, 0, 0.5, 2, 5, 6, 1e12, Infinity, NaN]) {
    Deno.test(`readBytes() does not rely on a declared length of ${declared}: ${kind}`, async () => {
      const { stream } = open([[1, 2, 3], [4, 5]]);
      assertEquals(
        await readBytes(stream, 100, signal, declared),
        Uint8Array.of(1, 2, 3, 4, 5),
      );
    });
  }
}

for (
  const [declared, size] of [
    [undefined, 16 * KIB],
    [1, KIB],
    [3_000, 3_000],
    [1_000_000, 16 * KIB],
  ] as const
) {
  Deno.test(`readBytes() uses buffers of ${size} bytes for ${declared} declared ones`, async () => {
    const source = byteStream([numbers(600)]);
    const bytes = await readBytes(source.stream, 1_000_000, signal, declared);
    assertEquals(bytes, Uint8Array.from(numbers(600)));
    assertEquals(bytes?.buffer.byteLength, size);
    assertEquals(source.views, [size, size]);
  });
}

Deno.test("readBytes() collects single bytes in a buffer that doubles", async () => {
  const source = byteStream(Array.from({ length: 40 * KIB }, () => [7]));
  const bytes = await readBytes(source.stream, 1_000_000, signal);
  assertStrictEquals(bytes?.length, 40 * KIB);
  assertStrictEquals(bytes?.buffer.byteLength, 64 * KIB);
});

for (
  const [what, chunk] of Object.entries({
    "a string": "text",
    "wider numbers": new Uint16Array(2),
    "nothing": undefined,
  })
) {
  Deno.test(`readBytes() rejects a stream of ${what}, and closes it`, async () => {
    let isCancelled = false;
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(untyped(chunk)),
      cancel() {
        isCancelled = true;
      },
    });
    await assertRejects(
      () => readBytes(stream, 100, signal),
      TypeError,
      "not a stream of bytes",
    );
    assertStrictEquals(isCancelled, true);
  });
}

Deno.test("readBytes() rejects an endless stream of empty chunks", async () => {
  const stream = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array()),
  });
  await assertRejects(() => readBytes(stream, 100, signal), TypeError);
});

for (const [kind, open] of Object.entries(KINDS)) {
  Deno.test(`readBytes() closes the stream when its signal aborts: ${kind}`, async () => {
    const controller = new AbortController();
    const source = open([[1]]);
    const reading = readBytes(source.stream, 100, controller.signal);
    controller.abort();
    await reading;
    assertStrictEquals(source.isCancelled, true);
  });
}
