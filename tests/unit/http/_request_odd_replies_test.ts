import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { stub } from "@std/testing/mock";
import { exchange } from "../../../lib/http/_request.ts";
import {
  type IFetch,
  type IRequestOptions,
  OAuthClientError,
} from "../../../mod.ts";
import { minimal, untyped } from "../../support/stub_fetch.ts";

const URL_1 = "https://api.example/1";
const GET = { url: URL_1, purpose: "token" as const, headers: {} };
const read = (options: IRequestOptions) =>
  exchange(GET, options, (reply) => reply.json());

/** The failure of a request that this fetch answers. */
async function errorOf(
  fetch: IFetch,
  options: IRequestOptions = {},
): Promise<OAuthClientError> {
  const error = await read({ fetch, ...options }).catch((error) => error);
  assertInstanceOf(error, OAuthClientError);
  return error;
}

Deno.test("exchange() needs nothing of the init that a caller's fetch has changed", async () => {
  const fetch: IFetch = (_url, init) => {
    delete init.signal;
    return Promise.resolve(Response.json({ a: 1 }));
  };
  assertEquals(await read({ fetch }), { a: 1 });
});

const fails = () => {
  throw new Error("Not to be looked at");
};

const HOSTILE: Record<string, Record<string, unknown>> = {
  "a status that fails": Object.defineProperty({}, "status", { get: fails }),
  "a type that fails": Object.defineProperty({}, "type", { get: fails }),
  "a url that fails": Object.defineProperty({}, "url", { get: fails }),
  "a url that is no text": { url: Object.create(null) },
  "headers that fail": { status: 302, headers: { get: fails } },
};

for (const [name, members] of Object.entries(HOSTILE)) {
  Deno.test(`exchange() takes ${name} for no reply`, async () => {
    const response = minimal({});
    const descriptors = Object.getOwnPropertyDescriptors(members);
    Object.defineProperties(response, descriptors);
    const error = await errorOf(() => Promise.resolve(response));
    assertEquals([error.code, error.url], ["network_error", URL_1]);
  });
}

Deno.test("exchange() reads header fields that are no texts as none", async () => {
  for (const value of [["x"], 7, {}]) {
    const header = await exchange(
      GET,
      {
        fetch: () =>
          Promise.resolve(minimal({ headers: { get: () => untyped(value) } })),
      },
      (reply) => Promise.resolve(reply.header("content-type")),
    );
    assertStrictEquals(header, undefined);
  }
});

Deno.test("exchange() closes a body that cannot be looked at without failing elsewhere", async () => {
  const answers = [
    minimal({
      status: 302,
      headers: new Headers({ location: "/1" }),
    }),
    minimal({ url: "https://evil.example/" }),
    minimal({ headers: new Headers({ "content-length": "2000000" }) }),
  ];
  const codes = [];
  for (const response of answers) {
    Object.defineProperty(response, "body", { get: fails });
    const error = await exchange(
      GET,
      { fetch: () => Promise.resolve(response) },
      async (reply) => {
        await reply.json();
        throw reply.error("invalid_response", "Read to the end");
      },
    ).catch((error) => error);
    codes.push(error.code);
    // A rejection that nobody handles would end the test here.
    await new Promise((resolve) => setTimeout(resolve));
  }
  assertEquals(codes, [
    "redirect_refused",
    "redirect_refused",
    "response_too_large",
  ]);
});

Deno.test("exchange() refuses what a reply without a stream declares, or has, beyond the limit", async () => {
  const declared = minimal({
    headers: new Headers({ "content-length": "11" }),
    json: () => Promise.reject(new Error("Read")),
  });
  const texts = [
    declared,
    minimal({ text: () => Promise.resolve("x".repeat(11)) }),
  ];
  for (const response of texts) {
    const error = await errorOf(() => Promise.resolve(response), {
      maxBytes: 10,
    });
    assertEquals(error.code, "response_too_large");
  }
});

Deno.test("exchange() passes over a byte order mark in the text of a minimal reply", async () => {
  const response = minimal({
    json: () => Promise.reject(new Error("No")),
    text: () => Promise.resolve('\ufeff{"a":1}'),
  });
  assertEquals(await read({ fetch: () => Promise.resolve(response) }), {
    a: 1,
  });
});

Deno.test("exchange() reads a date of Retry-After that names no zone as one of GMT", async () => {
  const { parse } = Date;
  const dates: string[] = [];
  using _parsing = stub(Date, "parse", (text: string) => {
    dates.push(text);
    return parse(text);
  });
  const headers = { "Retry-After": "Sun Nov  6 08:49:37 2044" };
  await assertRejects(() =>
    exchange(
      GET,
      { fetch: () => Promise.resolve(new Response("", { headers })) },
      (reply) => Promise.reject(reply.error("unexpected_status", "No")),
    )
  );
  assertEquals(dates, ["Sun Nov  6 08:49:37 2044 GMT"]);
});

Deno.test("exchange() tells a body that json() has used up from one that is lost", async () => {
  const lost = new Error("Cable cut");
  const rows: [json: unknown, code: string | undefined][] = [
    [new SyntaxError("Unexpected token"), undefined],
    [null, undefined],
    [lost, "network_error"],
  ];
  for (const [json, code] of rows) {
    const response = minimal({
      json: () =>
        json instanceof Error ? Promise.reject(json) : Promise.resolve(json),
      text: () => Promise.reject(new TypeError("Already read")),
    });
    const result = await exchange(
      GET,
      { fetch: () => Promise.resolve(response) },
      async (reply) => await reply.json() ?? await reply.content(),
    ).catch(({ code }) => code);
    assertStrictEquals(result, code);
  }
});

Deno.test("exchange() says of a text, too, that it is larger than it may be", async () => {
  const error = await exchange(
    GET,
    {
      fetch: () => Promise.resolve(new Response("x".repeat(11))),
      maxBytes: 10,
    },
    (reply) => reply.content(),
  ).catch((error) => error);
  assertInstanceOf(error, OAuthClientError);
  assertEquals(error.code, "response_too_large");
});
