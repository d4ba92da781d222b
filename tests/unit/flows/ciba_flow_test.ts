/** The flow of backchannel authentication at the servers for tests. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStrictEquals,
  assertStringIncludes,
} from "@std/assert";
import {
  type AuthorizedFetchOptions,
  checkIdToken,
  cibaFlow,
  type CibaFlowOptions,
  createAuthorizedFetch,
  type LoginHintRequest,
  memoryStore,
  OAuthClientError,
} from "../../../mod.ts";
import {
  createTestServers,
  type TestServersOptions,
} from "../../../lib/testing/mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";

const ISSUER = "https://auth.example";
const CLIENT = { issuer: ISSUER, client_id: "agent", client_secret: "s3cret" };

/** An agent whose user is at another device. */
function start(
  options: TestServersOptions = {},
  flow: Partial<CibaFlowOptions> = {},
  more: Partial<AuthorizedFetchOptions> = {},
) {
  const servers = createTestServers({ clients: [CLIENT], ...options });
  const { resource, fetch, now } = servers;
  const store = memoryStore();
  const hints: LoginHintRequest[] = [];
  const waits: number[] = [];
  const authorize = cibaFlow({
    client: CLIENT,
    getLoginHint: (request) => {
      hints.push(request);
      return "ada@example.com";
    },
    delay: (milliseconds) => {
      waits.push(milliseconds);
      servers.advance(milliseconds / 1000);
      return Promise.resolve();
    },
    ...flow,
  });
  const api = createAuthorizedFetch(resource, {
    ...{ fetch, now, store, flow: authorize },
    ...more,
  });
  return {
    ...{ servers, store, api, flow: authorize, hints, waits },
    call: async () => (await api(resource)).status,
    failure: () => assertRejects(() => api(resource), OAuthClientError),
    asked: (name: string) =>
      servers.received("backchannel_authentication")
        .map(({ params }) => params.get(name)),
  };
}

Deno.test("cibaFlow() obtains a token with a checked ID token, and a refresh continues it", async () => {
  const { servers, store, call, asked, hints, waits } = start();
  assertEquals([await call(), await call(), waits], [200, 200, [1000]]);
  assertEquals(asked("login_hint"), ["ada@example.com"]);
  assertEquals(asked("scope"), ["openid read"]);
  assertEquals(asked("resource"), [servers.resource]);
  const [{ signal, ...hint } = {}] = hints;
  assert(signal instanceof AbortSignal);
  assertEquals(hint, {
    ...{ issuer: servers.issuer, resource: servers.resource },
    ...{ scopes: ["openid", "read"], newScopes: ["openid", "read"] },
    ...{ acrValues: undefined, maxAge: undefined },
  });
  const session = await store.load();
  const idToken = session?.token?.id_token ?? "";
  const { sub } = await checkIdToken(idToken, {
    ...{ issuer: servers.issuer, clientId: "agent", now: servers.now },
  });
  assertEquals(sub, "ada@example.com");
  servers.advance(3600);
  assertEquals([await call(), asked("scope").length], [200, 1]);
  assertEquals(servers.received("token", "refresh_token").length, 1);
});

Deno.test("cibaFlow() sends one of the hints with a binding message, and shows what is asked", async () => {
  const shown: unknown[] = [];
  const { servers, call, asked } = start({}, {
    getLoginHint: () =>
      Promise.resolve({ loginHintToken: "t0ken", bindingMessage: "Pay 7" }),
    requestedExpirySeconds: 30,
    scopes: ["pay"],
    parameters: { user_code: "1234", acr_values: "phr" },
    tokenParameters: { x: "1" },
    show: (prompt) => void shown.push(prompt),
  });
  assertEquals(await call(), 200);
  const names = ["login_hint", "login_hint_token", "binding_message"];
  assertEquals(names.flatMap(asked), [null, "t0ken", "Pay 7"]);
  assertEquals(
    ["scope", "requested_expiry", "user_code", "acr_values"].flatMap(asked),
    ["openid pay", "30", "1234", "phr"],
  );
  assertEquals(servers.received("token")[0]?.params.get("x"), "1");
  assertEquals(shown, [
    { bindingMessage: "Pay 7", expiresInSeconds: 30, intervalSeconds: 1 },
  ]);
});

Deno.test("cibaFlow() says which scopes of a step-up are new, and requests the union", async () => {
  const { servers, call, asked, hints } = start();
  await call();
  servers.requiredScopes = ["write"];
  assertEquals(await call(), 200);
  assertEquals(asked("scope"), ["openid read", "openid read write"]);
  assertEquals(hints[1]?.scopes, ["openid", "read", "write"]);
  assertEquals(hints[1]?.newScopes, ["write"]);
});

Deno.test("cibaFlow() says that all scopes are new in a fresh sign-in", async () => {
  const { api, call, hints } = start();
  await call();
  await api.signIn({ fresh: true });
  assertEquals(hints[1]?.newScopes, hints[0]?.newScopes);
});

Deno.test("cibaFlow() requests the authentication that the resource requires", async () => {
  const parameters = { acr_values: "phr" };
  const { servers, call, asked, hints } = start({}, { parameters });
  await call();
  servers.requiredAcr = "mfa";
  assertEquals([await call(), asked("acr_values")], [200, ["phr", "mfa"]]);
  assertEquals([hints[1]?.acrValues, hints[1]?.newScopes], ["mfa", []]);
});

Deno.test("cibaFlow() asks a user who refuses or does not respond once", async () => {
  const rows = [
    ["refuses", "oauth_error", "access_denied"],
    ["leaves", "expired", undefined],
  ] as const;
  await eachRowInTurn(rows, async ([user, code, error]) => {
    const { servers, api, call, failure, asked } = start({ user });
    const first = await failure();
    assertEquals([first.code, first.error], [code, error]);
    for (const next of [failure, failure]) {
      assertEquals((await next()).code, "sign_in_required");
    }
    assertEquals(asked("login_hint").length, 1);
    servers.user = "consents";
    await api.signIn();
    assertEquals([await call(), asked("login_hint").length], [200, 2]);
  });
});

Deno.test("cibaFlow() asks neither the program nor the user if the server cannot do it", async () => {
  const rows = [
    "backchannel_authentication_endpoint",
    "backchannel_token_delivery_modes_supported",
    "token_endpoint",
  ];
  for (const name of rows) {
    const { failure, hints, servers } = start({
      serverMetadata: { [name]: undefined },
    });
    const { code, message } = await failure();
    assertEquals([code, message.includes(name)], ["unsupported", true]);
    const { length } = servers.received("backchannel_authentication");
    assertEquals([hints, length], [[], 0]);
  }
});

Deno.test("cibaFlow() sends no secret to another server than that of the client", async () => {
  const other = { ...CLIENT, issuer: "https://other.example" };
  const { failure, hints } = start({}, { client: other });
  assertEquals([(await failure()).code, hints], ["issuer_mismatch", []]);
});

Deno.test("cibaFlow() fails with what getLoginHint throws, and if it returns no single hint", async () => {
  const reason = new Error("No user");
  const getLoginHint = () => Promise.reject(reason);
  const { api, servers, asked } = start({}, { getLoginHint });
  const thrown = await assertRejects(() => api(servers.resource));
  assertStrictEquals(thrown, reason);
  for (
    const hint of ["", undefined, {}, { loginHint: "a", idTokenHint: "b" }]
  ) {
    const { failure } = start({}, { getLoginHint: () => untyped(hint) });
    assertEquals((await failure()).code, "invalid_argument");
  }
  assertEquals(asked("login_hint"), []);
});

Deno.test("cibaFlow() does not ask the user after an abort, and a user who was asked is not asked again", async () => {
  for (const isAsked of [false, true]) {
    const controller = new AbortController();
    const reason = new DOMException("Enough", "AbortError");
    const abort = () => controller.abort(reason);
    const { api, servers, failure, asked } = start({}, {
      getLoginHint: () => {
        if (!isAsked) abort();
        return "ada";
      },
      show: abort,
    });
    const { signal } = controller;
    await assertRejects(() => api(servers.resource, { signal }), "Enough");
    assertEquals(asked("login_hint").length, isAsked ? 1 : 0);
    if (isAsked) assertEquals((await failure()).code, "sign_in_required");
  }
});

Deno.test("cibaFlow() carries its client, and checks its options", () => {
  const { flow: authorize } = start();
  assertStrictEquals(authorize.client, CLIENT);
  const valid = { client: CLIENT, getLoginHint: () => "ada" };
  const rows: [name: string, Record<string, unknown>][] = [
    ["client", { client: undefined }],
    ["client", { client: { client_id: "c", client_secret: "s" } }],
    ["getLoginHint", { getLoginHint: "ada" }],
    ["show", { show: "x" }],
    ["delay", { delay: 1 }],
    ["scopes", { scopes: ["a b"] }],
  ];
  for (const [name, options] of rows) {
    const call = () => cibaFlow(untyped({ ...valid, ...options }));
    const { message } = assertThrowsCode(call, "invalid_argument");
    assertStringIncludes(message, name);
  }
});
