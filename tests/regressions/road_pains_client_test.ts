/** What people suffer from when they are to be somebody; the numbers are ROAD.md's. */

import {
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import {
  buildAuthorizationUrl,
  buildClientCredentialsBody,
  discoverAuthorization,
  fetchToken,
  findChallenge,
  type IAuthorizationServerMetadata,
  type IKnownClient,
  mergeScopes,
  missingScopes,
  OAuthClientError,
  registerClient,
  selectClient,
  selectClientAuthentication,
  selectScopes,
} from "../../mod.ts";
import {
  AS,
  MCP,
  metadataOf,
  OAUTH,
  PRM,
  REGISTRATION_ENDPOINT,
  SERVER,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import { type Answer, json, stubFetch } from "../support/stub_fetch.ts";

const CIMD = "https://client.example/oauth/client.json";

Deno.test("selectClient() replays no client of another issuer (pain 13)", () => {
  const knownClients: IKnownClient[] = [
    { issuer: "https://old.example", client_id: "stale" },
    { issuer: `${AS}/`, client_id: "slash" },
  ];
  assertEquals(selectClient(SERVER, { knownClients }), {
    kind: "register",
  });
  const mine = { issuer: AS, client_id: "mine" };
  const found = selectClient(SERVER, {
    knownClients: [...knownClients, mine],
  });
  assertEquals(found, { kind: "known_client", client: mine });
});

Deno.test("selectClient() goes from known client to document to registration to the user (pain 13)", () => {
  const documents = metadataOf(AS, {
    client_id_metadata_document_supported: true,
  });
  const known = { issuer: AS, client_id: "c1" };
  const without: IAuthorizationServerMetadata = {
    issuer: AS,
    response_types_supported: [],
  };
  const rows: [IAuthorizationServerMetadata, string, IKnownClient[], string][] =
    [
      [documents, CIMD, [known], "known_client"],
      [documents, CIMD, [], "client_metadata_document"],
      [SERVER, CIMD, [], "register"],
      [documents, "https://client.example/", [], "register"],
      [documents, "http://client.example/c", [], "register"],
      [without, CIMD, [], "ask_user"],
    ];
  for (const [metadata, clientMetadataUrl, knownClients, kind] of rows) {
    const options = { clientMetadataUrl, knownClients };
    assertEquals(String(selectClient(metadata, options).kind), kind);
  }
});

/** Registers as the servers do that want an application type (2026-07-28). */
const strictRegistration: Answer = ({ body }) => {
  const { application_type, redirect_uris = [] } = JSON.parse(body ?? "");
  const isNative = redirect_uris.some((uri: string) =>
    new URL(uri).hostname === "127.0.0.1"
  );
  return application_type === (isNative ? "native" : "web")
    ? Response.json({ client_id: "c1" }, { status: 201 })
    : Response.json({
      error: "invalid_redirect_uri",
      error_description: "Loopback is for native clients",
    }, { status: 400 });
};

Deno.test("registerClient() names the application type that the redirect URIs need (pain 13)", async () => {
  const uris = ["http://127.0.0.1:1/cb", "https://client.example/cb"];
  for (const uri of uris) {
    using stubbed = stubFetch({ [REGISTRATION_ENDPOINT]: strictRegistration });
    const request = { redirect_uris: [uri] };
    const client = await registerClient(SERVER, request, stubbed);
    assertEquals(client.client_id, "c1");
  }
});

Deno.test("registerClient() asks no more of the reply than a client_id (pain 13)", async () => {
  for (const status of [200, 201]) {
    const reply = { client_id: "c1", redirect_uris: null, contacts: "none" };
    using stubbed = stubFetch({
      [REGISTRATION_ENDPOINT]: json(reply, { status }),
    });
    const client = await registerClient(SERVER, {}, stubbed);
    assertEquals(client.client_id, "c1");
  }
});

Deno.test("fetchToken() tells that the server has forgotten its client (pain 13)", async () => {
  for (const status of [400, 401]) {
    using stubbed = stubFetch({
      [TOKEN_ENDPOINT]: json({ error: "invalid_client" }, { status }),
    });
    const { fetch } = stubbed;
    const client = selectClientAuthentication(SERVER, {
      client_id: "stale",
    });
    const error = await assertRejects(
      () =>
        fetchToken(SERVER, buildClientCredentialsBody(), {
          fetch,
          client,
        }),
      OAuthClientError,
    );
    assertEquals([error.code, error.error], ["oauth_error", "invalid_client"]);
  }
});

Deno.test("selectScopes() heeds the header first, and asks for no more (pain 14)", () => {
  const challenge = findChallenge('Bearer scope="files:read"')!;
  const resourceMetadata = {
    resource: MCP,
    scopes_supported: ["files:read", "admin"],
  };
  const serverMetadata = metadataOf(AS, {
    scopes_supported: ["offline_access", "everything"],
  });
  const select = (options: Parameters<typeof selectScopes>[0]) =>
    selectScopes({ serverMetadata, ...options });
  assertEquals(select({ challenge, resourceMetadata }), ["files:read"]);
  assertEquals(select({ resourceMetadata }), ["files:read", "admin"]);
  assertEquals(select({}), undefined);
  assertEquals(select({ challenge, offlineAccess: true }), [
    "files:read",
    "offline_access",
  ]);
  assertEquals(
    selectScopes({ challenge, serverMetadata: SERVER, offlineAccess: true }),
    ["files:read"],
  );
});

Deno.test("mergeScopes() widens what was held by what a 403 wants, losing nothing (pain 14)", () => {
  const response = new Response(null, {
    status: 403,
    headers: {
      "WWW-Authenticate":
        'Bearer error="insufficient_scope", scope="write list"',
    },
  });
  const wanted = findChallenge(response)?.params.scope;
  const held = "read list";
  assertEquals(missingScopes(wanted, held), ["write"]);
  const next = mergeScopes(held, wanted);
  assertEquals(next, ["read", "list", "write"]);
  const { searchParams } = buildAuthorizationUrl(
    metadataOf(AS, {
      authorization_endpoint: `${AS}/authorize?scope=all`,
      code_challenge_methods_supported: ["S256"],
    }),
    {
      clientId: "c1",
      redirectUri: "http://127.0.0.1/",
      state: "s",
      codeChallenge: "x",
      scopes: next,
    },
  );
  assertEquals(searchParams.getAll("scope"), ["read list write"]);
});

Deno.test("buildAuthorizationUrl() goes to a server silent about PKCE only when told so (next in line)", () => {
  const options = {
    clientId: "c1",
    redirectUri: "http://127.0.0.1/",
    state: "s",
    codeChallenge: "x",
  };
  const entra = metadataOf(AS, {
    authorization_endpoint: `${AS}/authorize`,
  });
  const error = assertThrows(
    () => buildAuthorizationUrl(entra, options),
    OAuthClientError,
  );
  assertEquals(error.code, "unsupported");
  const url = buildAuthorizationUrl(entra, { ...options, assumePkce: true });
  assertEquals(url.searchParams.get("code_challenge"), "x");
  for (const code_challenge_methods_supported of [[], ["plain"]]) {
    const plain = { ...entra, code_challenge_methods_supported };
    assertThrows(
      () => buildAuthorizationUrl(plain, { ...options, assumePkce: true }),
      OAuthClientError,
    );
  }
});

Deno.test("discoverAuthorization() takes another server than the first when told so (next in line)", async () => {
  const second = "https://second.example";
  const routes: Record<string, Answer> = {
    [`${PRM}/mcp`]: json({
      resource: MCP,
      authorization_servers: [AS, second],
    }),
    [OAUTH]: json({ issuer: AS }),
    [`${second}/.well-known/oauth-authorization-server`]: json({
      issuer: second,
    }),
  };
  const known = new Set([second]);
  using stubbed = stubFetch(routes);
  const { fetch } = stubbed;
  const first = await discoverAuthorization(MCP, { fetch });
  assertEquals(first.issuer, AS);
  const other = await discoverAuthorization(MCP, {
    fetch,
    selectAuthorizationServer: (servers) =>
      servers.find((one) => known.has(one)) ?? servers[0]!,
  });
  assertEquals(other.issuer, second);
});

Deno.test("discoverAuthorization() does without the header that a browser hides (next in line)", async () => {
  // Without Access-Control-Expose-Headers the value reads as null.
  const hidden = { headers: { get: () => null } };
  using stubbed = stubFetch({
    [`${PRM}/mcp`]: json({
      resource: MCP,
      authorization_servers: [AS],
      scopes_supported: ["read"],
    }),
    [OAUTH]: json({ issuer: AS }),
  });
  const { fetch } = stubbed;
  const found = await discoverAuthorization(MCP, { fetch, challenge: hidden });
  assertEquals([found.issuer, found.scopes], [AS, ["read"]]);
});

Deno.test("discoverAuthorization() tells what a browser's CORS error was (next in line)", async () => {
  const cors = new TypeError("Failed to fetch");
  const error = await assertRejects(
    () => discoverAuthorization(MCP, { fetch: () => Promise.reject(cors) }),
    OAuthClientError,
  );
  assertEquals(error.code, "discovery_failed");
  assertEquals(error.attempts?.length, 4);
  for (const attempt of error.attempts ?? []) {
    assertInstanceOf(attempt.error, OAuthClientError);
    assertStrictEquals(attempt.error.cause, cors);
  }
});
