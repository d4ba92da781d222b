/** Metadata of a server is searched at each well-known URL until one has it. */

import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import {
  fetchAuthorizationServerMetadata,
  OAuthClientError,
} from "../../../mod.ts";
import { testInvalidArguments } from "../../support/invalid_arguments.ts";
import { AS, OAUTH, OPENID } from "../../support/fixtures.ts";
import {
  aborted,
  type Answer,
  failing,
  json,
  minimal,
  never,
  redirect,
  stubFetch,
  text,
  untyped,
} from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const TENANT = `${AS}/t`;
const FIRST = `${OAUTH}/t`;
const SECOND = `${OPENID}/t`;
const THIRD = `${TENANT}/.well-known/openid-configuration`;
const AGGREGATE =
  "Failed to fetch authorization server metadata from all attempted URLs";
const missing = (url: string, shown = "404 Missing") =>
  `Failed to fetch authorization server metadata from ${url}: ${shown}`;

const ORDER: [issuer: string | URL, urls: string[]][] = [
  [AS, [OAUTH, OPENID, OPENID]],
  [`${AS}/`, [OAUTH, OPENID, OPENID]],
  [new URL(TENANT), [FIRST, SECOND, THIRD]],
  [`${TENANT}/`, [`${FIRST}/`, `${SECOND}/`, THIRD]],
  ["https://AS.example:443/t", [
    FIRST,
    SECOND,
    "https://AS.example:443/t/.well-known/openid-configuration",
  ]],
  // The host of the third as it was given, also in its message.
  ["https://b\u00fccher.example/t", [
    "https://xn--bcher-kva.example/.well-known/oauth-authorization-server/t",
    "https://xn--bcher-kva.example/.well-known/openid-configuration/t",
    "https://b\u00fccher.example/t/.well-known/openid-configuration",
  ]],
  [`${AS}//evil.example/x`, [
    `${OAUTH}//evil.example/x`,
    `${OPENID}//evil.example/x`,
    `${AS}//evil.example/x/.well-known/openid-configuration`,
  ]],
];

for (const [issuer, urls] of ORDER) {
  Deno.test(`fetchAuthorizationServerMetadata() requests ${issuer} in order`, async () => {
    for (let success = 0; success <= 3; success++) {
      const document = { issuer: String(issuer), other: 1 };
      let requests = 0;
      const answer: Answer = (request) =>
        (requests++ < success ? text("Missing", 404) : json(document))(request);
      using server = stubFetch(
        Object.fromEntries(urls.map((url) => [url, answer])),
      );
      const result = fetchAuthorizationServerMetadata(issuer, server);
      const messages = urls.slice(0, success).map((url) => missing(url));
      if (success < 3) {
        const { metadata, discoveryUrl, errors } = await result;
        assertEquals(metadata, untyped(document));
        assertStrictEquals(discoveryUrl, urls[success]);
        assertEquals(errors.map(({ message }) => message), messages);
      } else {
        const error = await assertRejects(() => result, AggregateError);
        assertEquals(error.message, AGGREGATE);
        assertEquals(error.errors.map(({ message }) => message), messages);
      }
      assertEquals(server.urls, urls.slice(0, success + 1));
    }
  });
}

/** The error of a first attempt that gets this response. */
async function errorOf(answer: Answer): Promise<Error> {
  using server = stubFetch({
    [FIRST]: answer,
    [SECOND]: json({ issuer: TENANT }),
  });
  const found = await fetchAuthorizationServerMetadata(TENANT, server);
  assertStrictEquals(found.discoveryUrl, SECOND);
  assertEquals(found.errors.length, 1);
  return found.errors[0]!;
}

Deno.test("fetchAuthorizationServerMetadata() continues after a 200 without metadata", async () => {
  const bodies = [
    ...["<html></html>", "", "null", "[]", "7", '"text"', "{}", "{"],
    ...['{"issuer":""}', '{"issuer":7}', '{"issuer":"as.example"}'],
    '{"issuer":"https://as.example","token_endpoint":7}',
    '{"issuer":"https://as.example","token_endpoint":"/token"}',
    '{"issuer":"https://as.example","jwks_uri":"file:///jwks"}',
  ];
  for (const body of bodies) {
    const error = await errorOf(text(body, 200));
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.message, missing(FIRST, `200 ${body}`));
    assertEquals(
      [error.code, error.url, error.status],
      ["invalid_metadata", FIRST, 200],
    );
    // What the guard throws is the cause.
    const isObject = /^(\{.*\}|\[\])$/.test(body);
    assertEquals(error.cause instanceof Error, isObject, body);
  }
});

Deno.test("fetchAuthorizationServerMetadata() shows the text of a minimal response that is no metadata", async () => {
  const cause = new TypeError("Cable cut");
  const given = (value: unknown) => () => Promise.resolve(value);
  const thrown = (error: Error) => () => Promise.reject(error);
  const no = () => Promise.resolve("Not here");
  const rows: [
    members: Record<string, unknown>,
    shown: string,
    code?: string,
  ][] = [
    [{ json: given({}), text: no }, "Not here"],
    [{ json: given({ issuer: 7 }), text: no }, "Not here"],
    [{ json: given(undefined), text: no }, "Not here"],
    [{ json: thrown(new SyntaxError("<")), text: no }, "Not here"],
    [{ json: thrown(cause), text: no }, "Not here", "network_error"],
    // There is no text, or it was read by json().
    [{ json: given({}), text: undefined }, "Status text"],
    [{ json: given({}), text: thrown(cause) }, "Status text"],
  ];
  await eachRowInTurn(
    rows,
    async ([members, shown, code = "invalid_metadata"]) => {
      const error = await errorOf(() =>
        untyped({ ...minimal({}), ...members })
      );
      assertInstanceOf(error, OAuthClientError);
      assertEquals(
        [error.message, String(error.code)],
        [missing(FIRST, `200 ${shown}`), code],
      );
    },
  );
});

Deno.test("fetchAuthorizationServerMetadata() waits for that text under the signal and the timeout", async () => {
  const json = () => Promise.resolve({});
  const { answer, signal, reason } = aborted();
  using server = stubFetch({ [FIRST]: () => minimal({ json, text: answer }) });
  const { fetch } = server;
  const rejected = await fetchAuthorizationServerMetadata(TENANT, {
    fetch,
    signal,
  }).catch((error) => error);
  assertStrictEquals(rejected, reason);
  const text = () => never<string>();
  using slow = stubFetch({
    [FIRST]: () => minimal({ json, text }),
    [SECOND]: () => Response.json({ issuer: TENANT }),
  });
  const { errors } = await fetchAuthorizationServerMetadata(TENANT, {
    fetch: slow.fetch,
    timeoutMs: 1,
  });
  assertEquals(errors[0]?.message, missing(FIRST, "200 Status text"));
});

Deno.test("fetchAuthorizationServerMetadata() collects what fetch throws, as it was thrown", async () => {
  const failures = [new Error("1"), new TypeError("2"), new RangeError("3")];
  using server = stubFetch({
    [FIRST]: failing(failures[0]),
    [SECOND]: failing(failures[1]),
    [THIRD]: failing(failures[2]),
  });
  const call = () => fetchAuthorizationServerMetadata(TENANT, server);
  const error = await assertRejects(call, AggregateError, AGGREGATE);
  assertEquals(error.errors.length, 3);
  for (const [n, failure] of failures.entries()) {
    assertStrictEquals(error.errors[n], failure);
  }
  // What is not an Error becomes one.
  const thrown = await errorOf(failing("cut"));
  assertInstanceOf(thrown, OAuthClientError);
  assertEquals(thrown.message, `Request to ${FIRST} failed: cut`);
  assertEquals([thrown.code, thrown.url], ["network_error", FIRST]);
});

Deno.test("fetchAuthorizationServerMetadata() sends additionalHeaders with every request, and Accept", async () => {
  for (const name of ["Accept", "accept", "ACCEPT"]) {
    using server = stubFetch({
      [FIRST]: (request) => {
        // A caller's fetch may change what it is given.
        request.init.headers["x-a"] = "changed";
        return new Response("", { status: 404 });
      },
      [SECOND]: redirect("https://evil.example/meta"),
      [THIRD]: redirect("/moved"),
      [`${AS}/moved`]: json({ issuer: TENANT }),
    });
    const { fetch } = server;
    const additionalHeaders = { "x-a": "1", [name]: "text/plain" };
    const options = { fetch, additionalHeaders };
    const found = await fetchAuthorizationServerMetadata(TENANT, options);
    assertEquals(found.discoveryUrl, THIRD);
    assertEquals(found.errors[1]?.message, missing(SECOND, "302 Moved"));
    assertEquals(server.requests.length, 4);
    for (const { headers, init } of server.requests) {
      assertEquals(headers, { "x-a": "1", Accept: "application/json" });
      assertEquals([init.method, init.redirect], ["GET", "manual"]);
      assertStrictEquals(Object.getPrototypeOf(init.headers), Object.prototype);
    }
  }
});

testInvalidArguments(fetchAuthorizationServerMetadata, [
  ...[undefined, null, 7, {}, "", "as.example", "/t", "file:///t", [TENANT]]
    .map((issuer): [string, unknown] => ["authorizationServer", issuer]),
  ["authorizationServer", "https://:s3cret@as.example"],
  ["options", TENANT, "x"],
  ["headers", TENANT, { additionalHeaders: "abc" }],
  ["headers", TENANT, { additionalHeaders: new Headers({ A: "1" }) }],
]);
