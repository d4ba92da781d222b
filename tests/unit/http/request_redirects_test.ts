/** Redirects are followed within the origin, and reported otherwise. */

import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
} from "@std/assert";
import { OAuthClientError } from "../../../mod.ts";
import { errorOf, type Exchange, GET, POST } from "../../support/exchange.ts";
import { API, PRM } from "../../support/fixtures.ts";
import {
  type Answer,
  deferred,
  minimal,
  redirect,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

// The table of faults plays every status and direction of a redirect to every
// function. Here are the rest of the promises: messages, spellings, headers.

const NEXT = `${API}/next`;
const at = (n: number) => `${API}/${n}`;

Deno.test("fetchResourceMetadata() follows each spelling of a Location in its origin", async () => {
  const locations = ["/next", "../next", NEXT, "https://API.example:443/next"];
  for (const location of [...locations, "//api.example/next"]) {
    const moved = await redirect(location)(untyped(undefined));
    using server = stubFetch({ [PRM]: () => moved, [NEXT]: GET.good });
    await GET.send(server);
    assert(moved.bodyUsed);
    assertEquals(server.urls, [PRM, NEXT]);
    assertEquals(server.requests[1]?.init, server.requests[0]?.init);
  }
});

Deno.test("a redirect that is not followed is a redirect_refused error with the reason", async () => {
  const chain = Object.fromEntries(
    [1, 2, 3, 4, 5].map((n) => [at(n), redirect(at(n + 1))]),
  );
  const opaque = () => minimal({ status: 0, type: "opaqueredirect" });
  const rows: [exchange: Exchange, answer: Answer][] = [
    // The message does not name the origin, which may repeat a secret.
    ...[
      ...["https://evil.example/1", "https://api.example.evil.example/"],
      ...["https://api.example:8443/1", "http://api.example/1"],
      ...["https://user:s3cret@evil.example/1", "data:application/json,{}"],
      ...["https://[", PRM.replace("https://", "https://user@")],
    ].map((location): typeof rows[number] => [
      GET,
      redirect(location),
    ]),
    [GET, redirect("/1")],
    [GET, opaque],
    [POST, redirect("/2?s3cret#s3cret", 307)],
    // The server selects the host too, and knows what was sent.
    ...["https://s3cret-code.example/a", "https://b.example/s3cret-code"].map((
      location,
    ): typeof rows[number] => [
      POST,
      redirect(location, 308),
    ]),
    ...["https://user:s3cret@b.example/1", "data:,s3cret"].map((
      location,
    ): typeof rows[number] => [
      POST,
      redirect(location, 301),
    ]),
    [POST, opaque],
  ];
  await eachRowInTurn(rows, async ([{ url, send }, answer]) => {
    using server = stubFetch({ ...chain, [url]: answer });
    const error = await errorOf(send(server));
    assertEquals([error.code, error.url], ["redirect_refused", url]);
    // A failed attempt is the cause.
    const reason = url === PRM ? error.cause : error;
    assertInstanceOf(reason, OAuthClientError);
    assertFalse(pinMessage(reason).message.includes("s3cret"));
  });
});

Deno.test("a response that fetch brings from another origin is refused and closed", async () => {
  const rows = [
    "https://evil.example/s3cret",
    "https://api.example:8443/1",
    "http://api.example/1",
  ];
  await eachRowInTurn(rows, async (url) => {
    for (const exchange of [GET, POST]) {
      const cancelled = deferred<string>();
      const body = new ReadableStream({
        cancel: () => cancelled.resolve("cancelled"),
      });
      using server = stubFetch({
        [exchange.url]: () => minimal({ url, body }),
      });
      const error = await errorOf(exchange.send(server));
      assertEquals(
        [pinMessage(error).code, error.url],
        ["redirect_refused", exchange.url],
      );
      assertEquals(await cancelled.promise, "cancelled");
    }
  });
});

Deno.test("a response that fetch brings from the same origin is accepted", async () => {
  for (const url of ["", PRM, NEXT]) {
    const json = () => Promise.resolve({ resource: API });
    using server = stubFetch({ [PRM]: () => minimal({ url, json }) });
    await GET.send(server);
  }
});
