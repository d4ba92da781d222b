/**
 * An object with further options, which TypeScript accepts where a spread makes it:
 * what a function does not name must not reach a server.
 */
import { assertEquals } from "@std/assert";
import {
  type AuthorizedFetchOptions,
  clientSecretBasic,
  clientSecretPost,
  codeFlow,
  createAuthorizedFetch,
  discoverAuthorization,
  discoverAuthorizationServer,
  ensureClient,
  fetchAuthorizationServerMetadata,
  fetchResourceMetadata,
  finishAuthorization,
  type FlowRequest,
  memoryStore,
  refreshSession,
  revokeSession,
  startAuthorization,
} from "../../../mod.ts";
import type { FETCH_OPTIONS } from "../../../lib/fetch/_settings.ts";
import {
  API,
  AS,
  assertThrowsCode,
  CODE_SERVER,
  CONTEXT,
  MCP,
  pinRejected,
  pinThrown,
  PRM,
  REDIRECT_URI,
  REGISTRATION_ENDPOINT,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { pinMessage } from "../../support/pin_message.ts";
import {
  SESSION as RESOURCE_SESSION,
  SESSION_CLIENT,
} from "../../support/resource.ts";
import {
  type Answer,
  json,
  type StubFetch,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";
import { shown } from "../../support/shown.ts";

const PAR = CODE_SERVER.pushed_authorization_request_endpoint!;
const REVOKE = CODE_SERVER.revocation_endpoint!;
const SESSION = { ...RESOURCE_SESSION, server: CODE_SERVER };
function server(): StubFetch {
  return stubFetch({
    [PAR]: json({ request_uri: "urn:r:1", expires_in: 60 }),
    [REGISTRATION_ENDPOINT]: json({ client_id: "c1" }),
    [REVOKE]: json({}),
    [TOKEN_ENDPOINT]: json({ access_token: "a2", refresh_token: "r2" }),
  });
}

/** Header fields for the resource, in an object that is spread into the options. */
const SHARED = { headers: { "X-Api-Key": "for the resource" } };
const start = { client: SESSION_CLIENT, redirectUri: REDIRECT_URI, par: true };

const CALLS: Record<string, (options: object) => Promise<unknown>> = {
  ensureClient: (options) =>
    ensureClient(CODE_SERVER, {
      clientMetadata: { client_name: "Test" },
      redirectUri: REDIRECT_URI,
      ...options,
    }),
  refreshSession: (options) => refreshSession(SESSION, { ...options }),
  revokeSession: (options) => revokeSession(SESSION, { ...options }),
  startAuthorization: (options) =>
    startAuthorization(CONTEXT, { ...start, ...options }),
  async finishAuthorization(options) {
    const started = { ...start, par: false };
    const { pending } = await startAuthorization(CONTEXT, started);
    const callback = `?code=c&state=${pending.state}`;
    await finishAuthorization(callback, pending, { ...options });
  },
  codeFlow: (options) =>
    codeFlow({
      clientMetadata: { client_name: "Test" },
      redirectUri: REDIRECT_URI,
      par: true,
      visit: (_url, { pending: { state } }) =>
        Promise.resolve(`?code=c&state=${state}`),
    })({ context: CONTEXT, scopes: [], ...options }),
};

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`${name}() sends no header fields that its options do not have`, async () => {
    using stubbed = server();
    await call({ ...SHARED, fetch: stubbed.fetch });
    assertEquals(stubbed.requests.length > 0, true);
    for (const { url, headers } of stubbed.requests) {
      assertEquals(headers["X-Api-Key"], undefined, url);
    }
  });
}

Deno.test("refreshSession() sends no scopes, details or parameters of the request of a flow", async () => {
  using stubbed = server();
  const request: FlowRequest = {
    context: CONTEXT,
    scopes: ["read", "write"],
    session: SESSION,
    fetch: stubbed.fetch,
    ...{ authorizationDetails: [{ type: "payment" }] },
    ...{ parameters: { audience: "other" } },
  };
  await refreshSession(SESSION, request);
  const names = ["grant_type", "refresh_token", "resource", "client_id"];
  assertEquals(Object.keys(stubbed.forms[0]!), names);
});

/** A resource that publishes the metadata of another one at the first URL. */
const MISMATCH: Record<string, Answer> = {
  [`${PRM}/mcp`]: json({ resource: "https://other.example/mcp" }),
  [PRM]: json({ resource: MCP, authorization_servers: [AS] }),
};

Deno.test("fetchResourceMetadata() cannot be told to end at a mismatch", async () => {
  using stubbed = stubFetch(MISMATCH);
  const options = { fetch: stubbed.fetch, endOnMismatch: true };
  await fetchResourceMetadata(MCP, undefined, options).catch(() => {});
  assertEquals(stubbed.urls, Object.keys(MISMATCH));
});

/** Calls that search, each with URLs that respond with 404. */
const SEARCHES: Record<string, (options: object) => Promise<unknown>> = {
  fetchResourceMetadata: (options) =>
    fetchResourceMetadata(API, undefined, options),
  fetchAuthorizationServerMetadata: (options) =>
    fetchAuthorizationServerMetadata(AS, options),
  discoverAuthorizationServer: (options) =>
    discoverAuthorizationServer(AS, options),
  discoverAuthorization: (options) => discoverAuthorization(API, options),
};

for (const [name, call] of Object.entries(SEARCHES)) {
  Deno.test(`${name}() cannot be told what is secret`, async () => {
    const fetch = () => Promise.resolve(new Response("", { status: 404 }));
    const errors: string[] = [];
    for (const secrets of [[], ["well-known", "api.example", "as.example"]]) {
      const failed = call(untyped({ fetch, secrets }));
      errors.push(shown(await failed.catch((error) => error)));
    }
    assertEquals(errors[1], errors[0]);
  });
}

/** Fails to compile if the list lacks an option. */
type Never<Name extends never> = Name;
export type Unlisted = Never<
  Exclude<keyof AuthorizedFetchOptions, typeof FETCH_OPTIONS[number]>
>;

Deno.test("createAuthorizedFetch() says where an option belongs that it does not have", () => {
  for (const name of ["storage", "clientMetadata", "Headers", "challenge"]) {
    const { message } = assertThrowsCode(
      () => createAuthorizedFetch(MCP, { [name]: ["x"] }),
      "invalid_argument",
    );
    pinMessage(message.replace(/(, \w+){4,}/, ", …"));
  }
  const unset: object = { storage: undefined, store: memoryStore() };
  createAuthorizedFetch(MCP, unset);
});

Deno.test("createAuthorizedFetch() and its calls say what a URL lacks", async () => {
  for (const url of ["a.example/mcp", "localhost:8080"]) {
    pinThrown(() => createAuthorizedFetch(url, {}), "invalid_argument");
  }
  using stubbed = stubFetch({});
  const api = createAuthorizedFetch(MCP, { fetch: untyped(stubbed.fetch) });
  for (const url of ["/notes", "notes", ""]) {
    await pinRejected(() => api(url), "invalid_argument");
  }
});

Deno.test("createAuthorizedFetch() names the call that binds a client to its issuer", () => {
  const clients = [clientSecretBasic, clientSecretPost] as const;
  for (const create of clients) {
    pinThrown(
      () => createAuthorizedFetch(MCP, { client: create("c1", "s3cret") }),
      "invalid_argument",
    );
  }
});
