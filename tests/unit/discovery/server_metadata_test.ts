import {
  assertEquals,
  assertInstanceOf,
  assertNotMatch,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import {
  fetchAuthorizationServerMetadata,
  OAuthClientError,
} from "../../../mod.ts";
import {
  AS,
  assertInvalidArgument,
  OAUTH,
  OPENID,
} from "../../support/fixtures.ts";
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

const TENANT = `${AS}/t`;
const THIRD = `${TENANT}/.well-known/openid-configuration`;
const AGGREGATE =
  "Failed to fetch authorization server metadata from all attempted URLs";
const missing = (url: string, shown = "404 Missing") =>
  `Failed to fetch authorization server metadata from ${url}: ${shown}`;

const ORDER: [issuer: string, urls: string[]][] = [
  ["https://as.example", [OAUTH, OPENID, OPENID]],
  ["https://as.example/", [OAUTH, OPENID, OPENID]],
  [TENANT, [`${OAUTH}/t`, `${OPENID}/t`, THIRD]],
  [`${TENANT}/`, [`${OAUTH}/t/`, `${OPENID}/t/`, THIRD]],
  ["https://as.example/a/B", [
    `${OAUTH}/a/B`,
    `${OPENID}/a/B`,
    "https://as.example/a/B/.well-known/openid-configuration",
  ]],
  ["https://AS.example:443/t", [
    `${OAUTH}/t`,
    `${OPENID}/t`,
    "https://AS.example:443/t/.well-known/openid-configuration",
  ]],
  ["http://127.0.0.1:8080/t", [
    "http://127.0.0.1:8080/.well-known/oauth-authorization-server/t",
    "http://127.0.0.1:8080/.well-known/openid-configuration/t",
    "http://127.0.0.1:8080/t/.well-known/openid-configuration",
  ]],
  ["https://as.example//evil.example/x", [
    `${OAUTH}//evil.example/x`,
    `${OPENID}//evil.example/x`,
    "https://as.example//evil.example/x/.well-known/openid-configuration",
  ]],
];

for (const [issuer, urls] of ORDER) {
  for (let success = 0; success <= 3; success++) {
    const outcome = success < 3 ? `at attempt ${success + 1}` : "nowhere";
    Deno.test(`fetchAuthorizationServerMetadata() finds ${issuer} ${outcome}`, async () => {
      const document = { issuer, token_endpoint: `${TENANT}/token`, other: 1 };
      let asked = 0;
      const answer: Answer = (request) =>
        (asked++ < success ? text("Missing", 404) : json(document))(request);
      using server = stubFetch(
        Object.fromEntries(urls.map((url) => [url, answer])),
      );
      const result = fetchAuthorizationServerMetadata(issuer, server);
      if (success < 3) {
        const { metadata, discoveryUrl, errors } = await result;
        assertEquals(metadata, untyped(document));
        assertStrictEquals(discoveryUrl, urls[success]);
        assertEquals(
          errors.map(({ message }) => message),
          urls.slice(0, success).map((url) => missing(url)),
        );
      } else {
        const error = await assertRejects(() => result, AggregateError);
        assertEquals(error.message, AGGREGATE);
        assertEquals(
          error.errors.map(({ message }) => message),
          urls.map((url) => missing(url)),
        );
      }
      assertEquals(server.urls, urls.slice(0, success + 1));
    });
  }
}

/** The error of a first attempt that gets this answer. */
async function errorOf(answer: Answer): Promise<Error> {
  using server = stubFetch({
    [`${OAUTH}/t`]: answer,
    [`${OPENID}/t`]: json({ issuer: TENANT }),
  });
  const found = await fetchAuthorizationServerMetadata(TENANT, server);
  assertStrictEquals(found.discoveryUrl, `${OPENID}/t`);
  assertEquals(found.errors.length, 1);
  return found.errors[0]!;
}

Deno.test("fetchAuthorizationServerMetadata() refuses a 200 that fails the guard or is no JSON", async () => {
  const bodies = [
    "<html></html>",
    "",
    "null",
    "[]",
    "7",
    '"text"',
    "{}",
    '{"issuer":""}',
    '{"issuer":7}',
    '{"issuer":"as.example"}',
    '{"issuer":"https://as.example","token_endpoint":7}',
    '{"issuer":"https://as.example","token_endpoint":"/token"}',
    '{"issuer":"https://as.example","jwks_uri":"file:///jwks"}',
  ];
  for (const body of bodies) {
    const error = await errorOf(text(body, 200));
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.message, missing(`${OAUTH}/t`, `200 ${body}`));
    assertEquals(
      [error.code, error.url, error.status],
      ["invalid_metadata", `${OAUTH}/t`, 200],
    );
  }
});

Deno.test("fetchAuthorizationServerMetadata() takes status 200 only", async () => {
  const body = `{"issuer":"${TENANT}"}`;
  for (const status of [201, 202, 302, 400, 401, 404, 500]) {
    const error = await errorOf(text(body, status));
    assertInstanceOf(error, OAuthClientError);
    assertEquals(error.message, missing(`${OAUTH}/t`, `${status} ${body}`));
    assertEquals([error.code, error.status], ["unexpected_status", status]);
  }
  const empty = await errorOf(() => new Response(null, { status: 204 }));
  assertEquals(empty.message, missing(`${OAUTH}/t`, "204 "));
});

Deno.test("fetchAuthorizationServerMetadata() shows the status text of an unreadable body", async () => {
  const consumed = new Response("{}", { status: 500, statusText: "Oh dear" });
  await consumed.text();
  const unreadable = minimal({ statusText: "Oh dear" });
  for (const response of [consumed, unreadable]) {
    const error = await errorOf(() => response);
    const shown = `${response.status} Oh dear`;
    assertEquals(error.message, missing(`${OAUTH}/t`, shown));
  }
});

Deno.test("fetchAuthorizationServerMetadata() takes a minimal response", async () => {
  const giving = (body: unknown) =>
    minimal({
      json: () => Promise.resolve(body),
      text: () => Promise.resolve("the text"),
    });
  const error = await errorOf(() => giving({ issuer: 7 }));
  assertEquals(error.message, missing(`${OAUTH}/t`, "200 the text"));

  const document = { issuer: TENANT };
  using server = stubFetch({ [`${OAUTH}/t`]: () => giving(document) });
  const found = await fetchAuthorizationServerMetadata(TENANT, server);
  assertStrictEquals(found.metadata, document);
});

Deno.test("fetchAuthorizationServerMetadata() collects what fetch throws", async () => {
  const failure = new TypeError("Cable cut");
  assertStrictEquals(await errorOf(failing(failure)), failure);
  for (const thrown of ["cut", 7, undefined]) {
    const error = await errorOf(failing(thrown));
    assertInstanceOf(error, Error);
    assertStringIncludes(error.message, String(thrown));
  }
  for (const answer of [undefined, {}]) {
    assertInstanceOf(await errorOf(() => untyped(answer)), OAuthClientError);
  }
});

Deno.test("fetchAuthorizationServerMetadata() throws the very failures of fetch together", async () => {
  const failures = [new Error("1"), new TypeError("2"), new RangeError("3")];
  using server = stubFetch({
    [`${OAUTH}/t`]: failing(failures[0]),
    [`${OPENID}/t`]: failing(failures[1]),
    [THIRD]: failing(failures[2]),
  });
  const error = await assertRejects(
    () => fetchAuthorizationServerMetadata(TENANT, server),
    AggregateError,
    AGGREGATE,
  );
  assertEquals(error.errors.length, 3);
  for (const [n, failure] of failures.entries()) {
    assertStrictEquals(error.errors[n], failure);
  }
});

Deno.test("fetchAuthorizationServerMetadata() shows server text escaped and cut", async () => {
  const error = await errorOf(text("\u0007\t\n" + "x".repeat(3_000), 500));
  const shown = "\\u0007\t\n" + "x".repeat(1_997) + "…";
  assertEquals(error.message, missing(`${OAUTH}/t`, `500 ${shown}`));
});

Deno.test("fetchAuthorizationServerMetadata() sends additionalHeaders on every attempt", async () => {
  using server = stubFetch({
    [`${OAUTH}/t`]: text("", 404),
    [`${OPENID}/t`]: text("", 404),
    [THIRD]: json({ issuer: TENANT }),
  });
  const options = {
    fetch: server.fetch,
    additionalHeaders: { Authorization: "Bearer t", "x-a": "1" },
  };
  await fetchAuthorizationServerMetadata(TENANT, options);
  assertEquals(server.requests.length, 3);
  for (const { init: { signal: _, ...init } } of server.requests) {
    assertEquals(init, {
      method: "GET",
      headers: {
        Authorization: "Bearer t",
        "x-a": "1",
        Accept: "application/json",
      },
      redirect: "manual",
    });
    assertStrictEquals(Object.getPrototypeOf(init.headers), Object.prototype);
  }
});

Deno.test("fetchAuthorizationServerMetadata() asks for JSON whatever additionalHeaders say", async () => {
  for (const name of [undefined, "Accept", "accept", "ACCEPT"]) {
    using server = stubFetch({ [OAUTH]: json({ issuer: TENANT }) });
    const { fetch } = server;
    const additionalHeaders = name ? { [name]: "text/plain" } : undefined;
    const options = { fetch, additionalHeaders };
    await fetchAuthorizationServerMetadata("https://as.example", options);
    const sent = server.requests[0]?.headers;
    assertEquals(sent, { Accept: "application/json" });
  }
});

Deno.test("fetchAuthorizationServerMetadata() follows a redirect within the origin only", async () => {
  using server = stubFetch({
    [`${OAUTH}/t`]: redirect("https://evil.example/meta"),
    [`${OPENID}/t`]: redirect("/moved"),
    "https://as.example/moved": json({ issuer: TENANT }),
  });
  const found = await fetchAuthorizationServerMetadata(TENANT, server);
  assertEquals(found.discoveryUrl, `${OPENID}/t`);
  assertEquals(found.errors[0]?.message, missing(`${OAUTH}/t`, "302 Moved"));
  assertEquals(server.urls.at(-1), "https://as.example/moved");
});

Deno.test("fetchAuthorizationServerMetadata() looks the global fetch up at each call", async () => {
  for (const issuer of ["https://as.example/first", TENANT]) {
    using server = stubFetch({ [OAUTH]: json({ issuer }) });
    using global = stub(globalThis, "fetch", server.globalFetch);
    const found = await fetchAuthorizationServerMetadata("https://as.example");
    assertEquals(found.metadata.issuer, issuer);
    assertSpyCalls(global, 1);
  }
});

Deno.test("fetchAuthorizationServerMetadata() ends with the reason of an abort", async () => {
  const { answer, signal, reason } = aborted();
  using server = stubFetch({
    [`${OAUTH}/t`]: text("", 404),
    [`${OPENID}/t`]: answer,
  });
  const options = { fetch: server.fetch, signal };
  // The second call finds the signal aborted already.
  for (let call = 0; call < 2; call++) {
    assertStrictEquals(
      await assertRejects(() =>
        fetchAuthorizationServerMetadata(TENANT, options)
      ),
      reason,
    );
    assertEquals(server.urls, [`${OAUTH}/t`, `${OPENID}/t`]);
  }
});

Deno.test("fetchAuthorizationServerMetadata() ends when fetch itself aborts", async () => {
  for (const answer of [() => never<Response>(), json({ issuer: TENANT })]) {
    const controller = new AbortController();
    using server = stubFetch({
      [`${OAUTH}/t`]: (request) => {
        controller.abort("enough");
        return answer(request);
      },
    });
    const options = { fetch: server.fetch, signal: controller.signal };
    const failure = await assertRejects(() =>
      fetchAuthorizationServerMetadata(TENANT, options)
    );
    assertEquals(failure, "enough");
  }
});

Deno.test("fetchAuthorizationServerMetadata() takes null for no options", async () => {
  using server = stubFetch({ [OAUTH]: json({ issuer: TENANT }) });
  using _global = stub(globalThis, "fetch", server.globalFetch);
  const issuer = "https://as.example";
  await fetchAuthorizationServerMetadata(issuer, untyped(null));
  assertEquals(server.urls, [OAUTH]);
});

Deno.test("fetchAuthorizationServerMetadata() names an argument that is of no use", async () => {
  const rows: [args: unknown[], name: string][] = [
    [[], "authorizationServer"],
    [[null], "authorizationServer"],
    [[7], "authorizationServer"],
    [[{}], "authorizationServer"],
    [[""], "authorizationServer"],
    [["as.example"], "authorizationServer"],
    [["/t"], "authorizationServer"],
    [["file:///t"], "authorizationServer"],
    [["https://user@as.example"], "authorizationServer"],
    [["https://:secret@as.example"], "authorizationServer"],
    [[TENANT, "x"], "options"],
    [[TENANT, 7], "options"],
    [[TENANT, { fetch: "x" }], "options.fetch"],
    [[TENANT, { fetch: {} }], "options.fetch"],
    [[new URL(TENANT)], "authorizationServer"],
    [[[TENANT]], "authorizationServer"],
    [[Object.create(null)], "authorizationServer"],
    [[TENANT, { signal: {} }], "options.signal"],
    [[TENANT, { additionalHeaders: "abc" }], "headers"],
    [[TENANT, { additionalHeaders: new Headers({ A: "1" }) }], "headers"],
  ];
  const asked = () => Promise.reject(new Error("Asked"));
  using global = stub(globalThis, "fetch", asked);
  for (const [args, name] of rows) {
    const error = await assertInvalidArgument(
      () => untyped(fetchAuthorizationServerMetadata)(...args),
      name,
    );
    assertNotMatch(error.message, /secret/);
  }
  assertSpyCalls(global, 0);
});
