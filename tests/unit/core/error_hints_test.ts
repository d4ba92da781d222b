/** The options that may help after an error, as data: one call for each option. */

import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  buildAuthorizationUrl,
  clientSecretBasic,
  clientSecretPost,
  createAuthorizedFetch,
  crossAppFlow,
  deleteRegistration,
  discoverAuthorization,
  ensureClient,
  type EnsureClientOptions,
  fetchDeviceAuthorization,
  type FetchLike,
  fetchToken,
  type FetchTokenOptions,
  type HintOption,
  isOAuthClientError,
  OAuthClientError,
  privateKeyJwt,
  publicClient,
  pushAuthorizationRequest,
} from "../../../mod.ts";
import { createLoopbackReceiver, fileStore } from "../../../lib/native/mod.ts";
import {
  AS,
  CODE_SERVER,
  contextOf,
  createSigningKeys,
  IDP,
  MCP,
  OAUTH,
  PRM,
  REDIRECT_URI,
  SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { type Answer, json, text, untyped } from "../../support/stub_fetch.ts";

/** A fetch with these answers, and 404 elsewhere. */
const at = (routes: Record<string, Answer>): FetchLike => async (url, init) => {
  const { method, headers, body } = init;
  const request = { url, method, headers: { ...headers }, body, init };
  return await (routes[url] ?? text("Not found", 404))(request);
};

const refused = (error: string) => json({ error }, { status: 400 });

/** Requests a token of a server that rejects the request. */
function token(
  answer: Answer,
  form: Record<string, string> = {},
  options: FetchTokenOptions = { client: publicClient("c1") },
) {
  const body = new URLSearchParams({ code: "c0de", ...form });
  const fetch = at({ [TOKEN_ENDPOINT]: answer });
  return fetchToken(CODE_SERVER, body, { ...options, fetch });
}

/** Obtains a client of a server that registers none. */
function client(members: object, options: EnsureClientOptions = {}) {
  return ensureClient({ ...SERVER, ...members }, { ...options, fetch: at({}) });
}

async function discover(document: object, metadata?: object) {
  const fetch = at({
    [`${PRM}/mcp`]: json(document),
    ...(metadata && { [OAUTH]: json(metadata) }),
  });
  await discoverAuthorization(MCP, { fetch });
}

const LISTING = { resource: MCP, authorization_servers: [AS] };
const SECRET = 'a+"b"';

/** By option: its value, if there is only one, and a call that fails without it. */
const ROWS: Record<
  HintOption,
  readonly [value: boolean | undefined, call: () => unknown]
> = {
  allowHttp: [true, () => discoverAuthorization("http://api.example/mcp")],
  assumePkce: [true, () => {
    const { code_challenge_methods_supported: _, ...server } = CODE_SERVER;
    buildAuthorizationUrl(server, {
      clientId: "c1",
      redirectUri: REDIRECT_URI,
      codeChallenge: "c".repeat(43),
      state: "s",
    });
  }],
  assumeProfile: [true, () => {
    const flow = crossAppFlow({
      idp: { issuer: IDP },
      idpClient: publicClient("c0", { issuer: IDP }),
      client: publicClient("c1", { issuer: AS }),
      getSubjectToken: () => "t0ken",
    });
    return flow(untyped({ context: contextOf(SERVER) }));
  }],
  authorizationServer: [
    undefined,
    () => discover({ ...LISTING, resource: "https://other.example/" }),
  ],
  client: [undefined, () => client({})],
  clientMetadata: [
    undefined,
    () => client({ registration_endpoint: `${AS}/register` }),
  ],
  clientMetadataUrl: [
    undefined,
    () => client({ client_id_metadata_document_supported: true }),
  ],
  clientSecretBasic: [undefined, () =>
    token(refused("invalid_client"), {}, {
      client: clientSecretPost("c1", "s3cret-of-c1"),
    })],
  clientSecretPost: [undefined, () =>
    token(refused("invalid_client"), {}, {
      client: clientSecretBasic("c1", "s3cret-of-c1"),
    })],
  codeFlow: [
    undefined,
    () =>
      fetchDeviceAuthorization({ issuer: AS }, { client: publicClient("c1") }),
  ],
  dpop: [
    undefined,
    () => token(json({ access_token: "t0ken", token_type: "DPoP" })),
  ],
  flow: [undefined, () => createAuthorizedFetch(MCP, {}).signIn()],
  formEncode: [undefined, () =>
    token(refused("unauthorized_client"), {}, {
      client: clientSecretBasic("c1", SECRET),
    })],
  initialAccessToken: [undefined, () =>
    ensureClient(
      { ...SERVER, registration_endpoint: `${AS}/register` },
      {
        clientMetadata: { client_name: "Test" },
        redirectUri: REDIRECT_URI,
        fetch: at({ [`${AS}/register`]: text("", 401) }),
      },
    )],
  key: [undefined, async () => {
    // A file that is not encrypted.
    const path = fileURLToPath(new URL("../../../deno.json", import.meta.url));
    await fileStore(path, { key: new Uint8Array(32) }).load();
  }],
  now: [undefined, async () => {
    const { privateKey } = await createSigningKeys();
    const headers = { Date: new Date(0).toUTCString() };
    await token(
      () =>
        Response.json({ error: "invalid_client" }, { status: 400, headers }),
      {},
      { client: privateKeyJwt("c1", privateKey, { issuer: AS }) },
    );
  }],
  par: [false, () =>
    pushAuthorizationRequest({
      ...CODE_SERVER,
      pushed_authorization_request_endpoint: undefined,
    }, {
      redirectUri: REDIRECT_URI,
      codeChallenge: "c".repeat(43),
      state: "s",
    }, { client: publicClient("c1") })],
  port: [undefined, async () => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    try {
      const { port } = listener.addr as Deno.NetAddr;
      await createLoopbackReceiver({ port }).redirectUri();
    } finally {
      listener.close();
    }
  }],
  privateKeyJwt: [undefined, async () => {
    const { privateKey } = await createSigningKeys();
    await token(refused("invalid_client"), {}, {
      client: privateKeyJwt("c1", privateKey, { issuer: AS }),
    });
  }],
  registrationEndpoint: [undefined, () =>
    deleteRegistration({
      client_id: "c1",
      issuer: AS,
      registration_access_token: "t0ken",
      registration_client_uri: "https://other.example/c1",
    })],
  resourceIndicator: [
    false,
    () => token(refused("invalid_target"), { resource: MCP }),
  ],
  scopes: [undefined, () => token(refused("invalid_scope"))],
  serverMetadata: [undefined, () => discover(LISTING)],
  trustedIssuers: [
    undefined,
    () =>
      discover(LISTING, { ...CODE_SERVER, issuer: "https://other.example" }),
  ],
};

for (const [option, [value, call]] of Object.entries(ROWS)) {
  Deno.test(`error.hints names ${option}, and the message ends with its text`, async () => {
    const error = await assertRejects(async () => {
      await call();
    }, OAuthClientError);
    const { hints = [], message } = error;
    const hint = hints.find((one) => one.option === option);
    assert(hint, `${message}: ${JSON.stringify(hints)}`);
    assertEquals(hint.value, value);
    const words = hints.map(({ text }) => ` (${text})`).join("");
    assert(message.endsWith(words), message);
    // Once: not also in the middle.
    assertEquals(message.split(hint.text).length, 2, message);
    const { hints: inJson } = JSON.parse(JSON.stringify(error));
    assertEquals(inJson, hints.map((one) => ({ ...one })));
  });
}

Deno.test("error.hints is absent if no option helps", async () => {
  const error = await assertRejects(
    () => token(refused("invalid_grant")),
    OAuthClientError,
  );
  assert(isOAuthClientError(error));
  assert(!("hints" in error));
});
