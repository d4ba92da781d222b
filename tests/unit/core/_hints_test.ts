/**
 * The next step after failures that users of this library meet, where no other test has
 * the whole message.
 */
import { assert, assertFalse, assertRejects } from "@std/assert";
import {
  checkIdToken,
  codeFlow,
  type CodeFlowOptions,
  createAuthorizedFetch,
  discoverAuthorization,
  fetchDeviceAuthorization,
  type FetchLike,
  fetchToken,
  OAuthClientError,
  parseAuthorizationResponse,
  publicClient,
  type ServerMetadata,
} from "../../../mod.ts";
import {
  AS,
  CODE_SERVER,
  MCP,
  OAUTH,
  PRM,
  REDIRECT_URI,
  TOKEN_ENDPOINT,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import { type Answer, json, text, untyped } from "../../support/stub_fetch.ts";

/** A fetch with these answers, and 404 elsewhere. */
const at = (routes: Record<string, Answer>): FetchLike => async (url, init) => {
  const { method, headers, body } = init;
  const request = { url, method, headers: { ...headers }, body, init };
  return await (routes[url] ?? text("Not found", 404))(request);
};

const PUBLIC = publicClient("c1");

/** Requests a token of a server that responds like this. */
const token = (answer: Answer) =>
  fetchToken(CODE_SERVER, new URLSearchParams({ code: "c0de" }), {
    client: PUBLIC,
    fetch: at({ [TOKEN_ENDPOINT]: answer }),
  });

/** Calls an API that responds with 200, also to a request without a token. */
function call(
  serverMetadata: ServerMetadata | undefined,
  { tokenRequired = true, ...flow }: Partial<CodeFlowOptions> & {
    tokenRequired?: boolean;
  } = {},
  registration: Answer = text("Not found", 404),
) {
  const client = { issuer: AS, client_id: "c1" };
  const visit = () => Promise.reject(new Error("A browser is opened"));
  const api = createAuthorizedFetch(MCP, {
    flow: codeFlow({ client, redirectUri: REDIRECT_URI, visit, ...flow }),
    tokenRequired,
    serverMetadata,
    fetch: untyped(at({
      [MCP]: text("Public", 200),
      [new URL("/register", MCP).href]: registration,
    })),
  });
  return tokenRequired ? api(MCP) : api.signIn();
}

const endpoints = {
  issuer: AS,
  token_endpoint: TOKEN_ENDPOINT,
  authorization_endpoint: `${AS}/authorize`,
};
const listing = json({ resource: MCP, authorization_servers: [AS] });
const selfSigned = new TypeError("fetch failed", {
  cause: Object.assign(new Error("self-signed"), {
    code: "SELF_SIGNED_CERT_IN_CHAIN",
  }),
});
const PAGE = " (it returns a page, not JSON: check the URL)";
const CERTIFICATE = " (set NODE_EXTRA_CA_CERTS or DENO_CERT)";
const LISTED = "set serverMetadata if its docs differ)";
const GUESS = "is a guess, because no metadata was found";
const UNPUBLISHED =
  "(set serverMetadata from its docs, or authorizationServer)";

const ROWS: [failure: string, call: () => unknown, step: string][] = [
  [
    "a server without metadata",
    () =>
      discoverAuthorization(MCP, { fetch: at({ [`${PRM}/mcp`]: listing }) }),
    `for ${MCP} ${UNPUBLISHED}`,
  ],
  [
    "serverMetadata forgotten, where nothing says that the API has a server",
    () => call(undefined),
    `for ${MCP} ${UNPUBLISHED}`,
  ],
  [
    "a registration at an assumed endpoint",
    () =>
      call(undefined, {
        tokenRequired: false,
        client: undefined,
        clientMetadata: { client_name: "Test" },
      }),
    `failed: 404: Not found (this URL ${GUESS}: ` + UNPUBLISHED.slice(1),
  ],
  [
    "a page at an assumed registration endpoint",
    () =>
      call(undefined, {
        tokenRequired: false,
        client: undefined,
        clientMetadata: { client_name: "Test" },
      }, text("<html>hi", 200)),
    `failed: 200: <html>hi (this URL ${GUESS}: ` + UNPUBLISHED.slice(1),
  ],
  [
    "no client for an assumed server",
    () => call(undefined, { tokenRequired: false, client: undefined }),
    `to an existing client) (this server ${GUESS}: ` + UNPUBLISHED.slice(1),
  ],
  [
    "a registration at a published endpoint",
    () =>
      call({ ...endpoints, registration_endpoint: `${AS}/register` }, {
        client: undefined,
        clientMetadata: { client_name: "Test" },
      }),
    "failed: 404: Not found (the server may not support registration: set client to " +
    "an existing client)",
  ],
  [
    "a server without a device endpoint",
    () => fetchDeviceAuthorization({ issuer: AS }, { client: PUBLIC }),
    `has no device_authorization_endpoint (use codeFlow) (${LISTED}`,
  ],
  [
    "a server without an endpoint for pushed requests",
    () => call({ ...endpoints, require_pushed_authorization_requests: true }),
    "has no pushed_authorization_request_endpoint (set par: false) (" +
    LISTED,
  ],
  [
    "a server without a token endpoint",
    () => fetchToken({ issuer: AS }, new URLSearchParams()),
    `has no token_endpoint (${LISTED}`,
  ],
  [
    "a server that lists PKCE plain",
    () => call({ ...endpoints, code_challenge_methods_supported: ["plain"] }),
    `does not list S256 in code_challenge_methods_supported (${LISTED}`,
  ],
  [
    "a certificate of an authority that is not known",
    () => token(() => Promise.reject(selfSigned)),
    `SELF_SIGNED_CERT_IN_CHAIN)${CERTIFICATE}`,
  ],
  [
    "such a certificate in each attempt of a discovery",
    () =>
      discoverAuthorization(MCP, { fetch: () => Promise.reject(selfSigned) }),
    `The certificate of api.example is not accepted${CERTIFICATE}`,
  ],
  [
    "another state",
    () =>
      parseAuthorizationResponse("?code=c&state=s0", {
        state: "s1",
        serverMetadata: { issuer: AS },
      }),
    "has another state, such as from an older tab: start again",
  ],
  [
    "a page in place of a token",
    () => token(text("<html>", 200)),
    `The token request to ${TOKEN_ENDPOINT} failed: 200${PAGE}`,
  ],
  [
    "no redirectUri",
    () => codeFlow(untyped({ visit: () => {} })),
    "redirectUri must be a string or a function (spread " +
    "createLoopbackReceiver())",
  ],
  [
    "an ID token without the nonce",
    () =>
      checkIdToken(
        unverifiedJwt({ iss: AS, aud: "c1", sub: "u", exp: 9e9, iat: 1 }),
        { issuer: AS, clientId: "c1", nonce: "n" },
      ),
    "it has no nonce, but the request had one (omit openid from scopes)",
  ],
  [
    "a refusal by the user",
    () =>
      call(endpoints, {
        visit: (_, { pending }) =>
          Promise.resolve(`?error=access_denied&state=${pending.state}`),
      }),
    `Authorization at ${AS} failed: access_denied`,
  ],
];

for (const [failure, run, step] of ROWS) {
  Deno.test(`an error says what to do about ${failure}`, async () => {
    const { message } = await assertRejects(async () => {
      await run();
    }, OAuthClientError);
    assert(message.replace(/\. Tried: .*(?= \()/, "").endsWith(step), message);
  });
}

Deno.test("discoverAuthorization() names no option after an outage, which a retry may end", async () => {
  const fetch = at({ [`${PRM}/mcp`]: listing, [OAUTH]: text("Busy", 503) });
  const discover = () => discoverAuthorization(MCP, { fetch });
  const { message } = await assertRejects(discover, OAuthClientError);
  assertFalse(message.includes("serverMetadata"), message);
});
