import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { assertSpyCalls, stub } from "@std/testing/mock";
import {
  fetchDynamicRegistration,
  type IAuthorizationServerMetadata,
  type IFetchDynamicRegistrationOptions,
  OAuthClientError,
} from "../../../mod.ts";
import { REGISTRATION_ENDPOINT, SERVER } from "../../support/fixtures.ts";
import {
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

const FAILED = `Registration to ${REGISTRATION_ENDPOINT} failed: `;
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";
const DEFAULTS = {
  client_name: "Client",
  client_uri: "https://client.example/",
  grant_types: ["authorization_code", "refresh_token", DEVICE],
  response_types: ["code"],
  redirect_uris: [
    "https://client.example/redirect",
    "https://insiders.client.example/redirect",
    "http://127.0.0.1/",
    "http://127.0.0.1:33418/",
  ],
  token_endpoint_auth_method: "none",
  application_type: "native",
};

/** The one request of a registration. */
async function requestOf(
  server: Partial<IAuthorizationServerMetadata>,
  scopes?: string[],
  options?: IFetchDynamicRegistrationOptions,
) {
  using stubbed = stubFetch({
    [REGISTRATION_ENDPOINT]: json({ client_id: "c1" }),
  });
  await fetchDynamicRegistration({ ...SERVER, ...server }, "Client", scopes, {
    ...options,
    fetch: stubbed.fetch,
  });
  assertEquals(stubbed.urls, [REGISTRATION_ENDPOINT]);
  const [{ init, body }] = stubbed.requests as [typeof stubbed.requests[0]];
  return { init, client: JSON.parse(body ?? "") };
}

/** The error of a registration that gets this answer. */
async function errorOf(answer: Answer): Promise<OAuthClientError> {
  using server = stubFetch({ [REGISTRATION_ENDPOINT]: answer });
  const error = await assertRejects(
    () => fetchDynamicRegistration(SERVER, "Client", ["read"], server),
    OAuthClientError,
  );
  assertEquals(error.url, REGISTRATION_ENDPOINT);
  return error;
}

Deno.test("fetchDynamicRegistration() posts a public native client as JSON", async () => {
  const { init, client } = await requestOf({});
  const { body, signal: _, ...rest } = init;
  assertEquals(rest, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    redirect: "manual",
  });
  assertStrictEquals(Object.getPrototypeOf(init.headers), Object.prototype);
  assertEquals(client, DEFAULTS);
  assertEquals(body, JSON.stringify(client));
});

Deno.test("fetchDynamicRegistration() joins the scopes", async () => {
  const rows: [scopes: string[] | undefined, scope: string | undefined][] = [
    [undefined, undefined],
    [[], ""],
    [["read"], "read"],
    [["write", "read", "write"], "write read write"],
  ];
  for (const [scopes, scope] of rows) {
    const { client } = await requestOf({}, scopes);
    assertEquals("scope" in client, scope !== undefined);
    assertEquals(client.scope, scope);
  }
});

Deno.test("fetchDynamicRegistration() filters the server's grant types in its order", async () => {
  const code = "authorization_code";
  const rows: [listed: string[] | undefined, asked: string[]][] = [
    [undefined, DEFAULTS.grant_types],
    [[], []],
    [["implicit", "client_credentials"], []],
    [["refresh_token", "implicit", code], ["refresh_token", code]],
    [[DEVICE, "refresh_token", code], [DEVICE, "refresh_token", code]],
  ];
  for (const [listed, asked] of rows) {
    const server = listed ? { grant_types_supported: listed } : {};
    assertEquals((await requestOf(server)).client.grant_types, asked);
  }
});

Deno.test("fetchDynamicRegistration() takes the client's addresses and further metadata", async () => {
  const client_uri = "https://me.example/";
  const redirect_uris = ["http://127.0.0.1:1/cb"];
  const further = { client_uri, application_type: "web", scope: "x", y: [1] };
  type Row = [options: IFetchDynamicRegistrationOptions, changes: unknown];
  const rows: Row[] = [
    [{}, {}],
    [{ clientUri: undefined, redirectUris: undefined }, {}],
    [{ clientUri: client_uri }, { client_uri }],
    [{ redirectUris: redirect_uris }, { redirect_uris }],
    [{ redirectUris: [] }, { redirect_uris: [] }],
    [{ clientUri: "https://a.example", clientMetadata: further }, further],
  ];
  for (const [options, changes] of rows) {
    const { client } = await requestOf({}, ["read"], options);
    assertEquals(client, { ...DEFAULTS, scope: "read", ...untyped(changes) });
  }
});

Deno.test("fetchDynamicRegistration() sends the headers given, and no other", async () => {
  const json = { "Content-Type": "application/json" };
  type Headers = Record<string, string>;
  const rows: [headers: Headers | undefined, sent: Headers][] = [
    [undefined, json],
    [{ Authorization: "Bearer t" }, { ...json, Authorization: "Bearer t" }],
    [{ "content-type": "a/b" }, { "Content-Type": "a/b" }],
  ];
  for (const [headers, sent] of rows) {
    const { init } = await requestOf({}, [], { headers });
    assertEquals(init.headers, sent);
  }
});

Deno.test("fetchDynamicRegistration() returns the answer of any 2xx", async () => {
  for (const status of [200, 201, 202, 299]) {
    const answer = { client_id: "c1", client_secret: "s", other: [1] };
    using server = stubFetch({
      [REGISTRATION_ENDPOINT]: json(answer, { status }),
    });
    const client = await fetchDynamicRegistration(SERVER, "Client", [], server);
    assertEquals(client, answer);
  }
});

Deno.test("fetchDynamicRegistration() takes a minimal response without a status", async () => {
  const answer = { client_id: "c1" };
  const answering = (ok: boolean) => () =>
    untyped({
      ok,
      json: () => Promise.resolve(answer),
      text: () => Promise.resolve('{"error":"invalid_redirect_uri"}'),
    });
  using server = stubFetch({ [REGISTRATION_ENDPOINT]: answering(true) });
  assertStrictEquals(
    await fetchDynamicRegistration(SERVER, "Client", undefined, server),
    answer,
  );
  const error = await errorOf(answering(false));
  assertEquals(error.message, FAILED + "invalid_redirect_uri");
});

Deno.test("fetchDynamicRegistration() tells the details of a refusal", async () => {
  const error = "invalid_redirect_uri";
  const noMember = [`{"message":"No"}`, `{"error_description":"No"}`];
  const noObject = ["null", "[]", '"invalid"', "<html>No</html>", ""];
  const rows: [body: string, details: string, error?: string][] = [
    [`{"error":"${error}"}`, error, error],
    [`{"error":"${error}","error_description":""}`, error, error],
    [`{"error":"${error}","error_description":"No"}`, `${error}: No`, error],
    [`{"error":"other","x":1}`, "other", "other"],
    ...[...noMember, ...noObject].map((raw): [string, string] => [raw, raw]),
    ["a\u0007\tb\n", "a\\u0007\tb\n"],
    ["x".repeat(2_000), "x".repeat(2_000)],
    ["x".repeat(2_001), "x".repeat(2_000) + "…"],
    [`{"error":"e","error_description":"\\u001b[2J"}`, "e: \\u001b[2J", "e"],
  ];
  for (const [body, details, code] of rows) {
    for (const status of [400, 401, 403, 500]) {
      const failure = await errorOf(text(body, status));
      assertEquals(failure.message, FAILED + details);
      const kind = code ? "oauth_error" : "unexpected_status";
      assertEquals([failure.code, failure.status], [kind, status]);
      assertEquals(failure.error, code);
      const said = code && JSON.parse(body).error_description;
      assertEquals(failure.error_description, said);
    }
  }
});

Deno.test("fetchDynamicRegistration() shows members of a refusal that are no text", async () => {
  const REDACTED = '{"client_secret":"[redacted]"}';
  const rows: [body: string, details: string, error: string][] = [
    ['{"error":42,"error_description":"No"}', "42: No", "42"],
    ['{"error":null}', "null", "null"],
    ['{"error":{"code":"x"}}', '{"code":"x"}', '{"code":"x"}'],
    ['{"error":{"client_secret":"s3cr3t"}}', REDACTED, REDACTED],
    ['{"error":"e","error_description":["No"]}', 'e: ["No"]', "e"],
  ];
  for (const [body, details, error] of rows) {
    const failure = await errorOf(text(body, 400));
    assertEquals(failure.message, FAILED + details);
    assertEquals([failure.code, failure.error], ["oauth_error", error]);
  }
});

Deno.test("fetchDynamicRegistration() cuts no character of a refusal in half", async () => {
  const most = "x".repeat(1_999);
  const { message } = await errorOf(text(most + "😀y", 400));
  assertEquals(message, FAILED + most + "…");
});

Deno.test("fetchDynamicRegistration() takes no registration from a status text", async () => {
  const consumed = new Response("{}", { statusText: '{"client_id":"c1"}' });
  await consumed.text();
  const error = await errorOf(() => consumed);
  assertEquals([error.code, error.status], ["invalid_response", 200]);
});

Deno.test("fetchDynamicRegistration() shows the status text of an unreadable refusal", async () => {
  const consumed = new Response("{}", { status: 500, statusText: "Oh dear" });
  await consumed.text();
  const unreadable = minimal({ status: 500, statusText: "Oh dear" });
  for (const response of [consumed, unreadable]) {
    const error = await errorOf(() => response);
    assertEquals(error.code, "unexpected_status");
    assertEquals(error.message, FAILED + "Oh dear");
  }
});

Deno.test("fetchDynamicRegistration() refuses a 2xx that fails the guard", async () => {
  const failed = "Invalid authorization dynamic client registration response: ";
  for (const body of [null, [], 7, "text", {}, { client_name: "n" }]) {
    const error = await errorOf(json(body, { status: 201 }));
    assertEquals(error.message, failed + JSON.stringify(body));
    assertEquals([error.code, error.status], ["invalid_response", 201]);
  }
  for (const answer of [text("<html></html>", 200), text("", 201)]) {
    const error = await errorOf(answer);
    assert(error.message.startsWith(failed));
    assertEquals(error.code, "invalid_response");
  }
  assertEquals(
    (await errorOf(json({ client_secret: "s3cr3t", x: 1 }))).message,
    failed + '{"client_secret":"[redacted]","x":1}',
  );
});

Deno.test("fetchDynamicRegistration() follows no redirect", async () => {
  for (const status of [301, 302, 303, 307, 308]) {
    const error = await errorOf(redirect("/other", status));
    assertEquals([error.code, error.status], ["redirect_refused", status]);
    assertEquals(error.message, FAILED + "Moved");
  }
});

Deno.test("fetchDynamicRegistration() reports that no reply came", async () => {
  const cause = new TypeError("Cable cut");
  const error = await errorOf(failing(cause));
  assertEquals(error.code, "network_error");
  assertStrictEquals(error.cause, cause);
  for (const answer of [failing("cut"), () => untyped(undefined)]) {
    assertEquals((await errorOf(answer)).code, "network_error");
  }
});

Deno.test("fetchDynamicRegistration() looks the global fetch up at each call", async () => {
  for (const client_id of ["first", "second"]) {
    using server = stubFetch({ [REGISTRATION_ENDPOINT]: json({ client_id }) });
    using global = stub(globalThis, "fetch", server.globalFetch);
    const client = await fetchDynamicRegistration(SERVER, "Client");
    assertEquals(client.client_id, client_id);
    assertSpyCalls(global, 1);
  }
});

Deno.test("fetchDynamicRegistration() ends with the reason of an abort", async () => {
  const reason = { why: "enough" };
  const hanging = (abort: () => void) => {
    queueMicrotask(abort);
    return never<Response>();
  };
  const stalled = (abort: () => void) => {
    const pull = () => {
      abort();
      return never<void>();
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    return new Response(body, { status: 201 });
  };
  const atOnce = (abort: () => void) => {
    abort();
    return never<Response>();
  };
  const answered = (abort: () => void) => {
    abort();
    return Response.json({ client_id: "c1" });
  };
  for (const answer of [hanging, stalled, atOnce, answered]) {
    const controller = new AbortController();
    const abort = () => controller.abort(reason);
    using server = stubFetch({ [REGISTRATION_ENDPOINT]: () => answer(abort) });
    const options = { fetch: server.fetch, signal: controller.signal };
    // The second call finds the signal aborted already.
    for (let call = 0; call < 2; call++) {
      const failure = await assertRejects(() =>
        fetchDynamicRegistration(SERVER, "Client", [], options)
      );
      assertStrictEquals(failure, reason);
      assertEquals(server.urls, [REGISTRATION_ENDPOINT]);
    }
  }
});
