import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { readBytes } from "../../../lib/http/_stream.ts";
import { untyped } from "../../support/stub_fetch.ts";

const KIB = 1024;
const { signal } = new AbortController();

/** A stream of these chunks, and how it is read. */
interface ISource {
  stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  isCancelled: boolean;
}

/** A stream of chunks; with `type: "bytes"` one as `fetch` returns it. */
function streamOf(
  chunks: readonly (readonly number[])[],
  type: "bytes" | undefined,
): ISource {
  const rest = chunks.map((chunk) => Uint8Array.from(chunk));
  const underlying = {
    pull(
      controller:
        | ReadableByteStreamController
        | ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    ) {
      const chunk = rest.shift();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
    cancel() {
      source.isCancelled = true;
    },
  };
  const source: ISource = {
    isCancelled: false,
    stream: type
      ? new ReadableStream({ ...underlying, type })
      : new ReadableStream(underlying),
  };
  return source;
}

type Open = (chunks: readonly (readonly number[])[]) => ISource;
const byteStream: Open = (chunks) => streamOf(chunks, "bytes");
const chunkStream: Open = (chunks) => streamOf(chunks, undefined);
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
