/**
 * The next step after failures that users of this library meet, where no other test has
 * the whole message.
 */
import { assertFalse, assertRejects } from "@std/assert";
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
import { pinMessage } from "../../support/pin_message.ts";
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

const ROWS: [failure: string, call: () => unknown][] = [
  [
    "a server without metadata",
    () =>
      discoverAuthorization(MCP, { fetch: at({ [`${PRM}/mcp`]: listing }) }),
  ],
  [
    "serverMetadata forgotten, where nothing says that the API has a server",
    () => call(undefined),
  ],
  [
    "a registration at an assumed endpoint",
    () =>
      call(undefined, {
        tokenRequired: false,
        client: undefined,
        clientMetadata: { client_name: "Test" },
      }),
  ],
  [
    "a page at an assumed registration endpoint",
    () =>
      call(undefined, {
        tokenRequired: false,
        client: undefined,
        clientMetadata: { client_name: "Test" },
      }, text("<html>hi", 200)),
  ],
  [
    "no client for an assumed server",
    () => call(undefined, { tokenRequired: false, client: undefined }),
  ],
  [
    "a registration at a published endpoint",
    () =>
      call({ ...endpoints, registration_endpoint: `${AS}/register` }, {
        client: undefined,
        clientMetadata: { client_name: "Test" },
      }),
  ],
  [
    "a server without a device endpoint",
    () => fetchDeviceAuthorization({ issuer: AS }, { client: PUBLIC }),
  ],
  [
    "a server without an endpoint for pushed requests",
    () => call({ ...endpoints, require_pushed_authorization_requests: true }),
  ],
  [
    "a server without a token endpoint",
    () => fetchToken({ issuer: AS }, new URLSearchParams()),
  ],
  [
    "a server that lists PKCE plain",
    () => call({ ...endpoints, code_challenge_methods_supported: ["plain"] }),
  ],
  [
    "a certificate of an authority that is not known",
    () => token(() => Promise.reject(selfSigned)),
  ],
  [
    "such a certificate in each attempt of a discovery",
    () =>
      discoverAuthorization(MCP, { fetch: () => Promise.reject(selfSigned) }),
  ],
  [
    "another state",
    () =>
      parseAuthorizationResponse("?code=c&state=s0", {
        state: "s1",
        serverMetadata: { issuer: AS },
      }),
  ],
  [
    "a page in place of a token",
    () => token(text("<html>", 200)),
  ],
  [
    "no redirectUri",
    () => codeFlow(untyped({ visit: () => {} })),
  ],
  [
    "an ID token without the nonce",
    () =>
      checkIdToken(
        unverifiedJwt({ iss: AS, aud: "c1", sub: "u", exp: 9e9, iat: 1 }),
        { issuer: AS, clientId: "c1", nonce: "n" },
      ),
  ],
  [
    "a refusal by the user",
    () =>
      call(endpoints, {
        visit: (_, { pending }) =>
          Promise.resolve(`?error=access_denied&state=${pending.state}`),
      }),
  ],
];

for (const [failure, run] of ROWS) {
  Deno.test(`an error says what to do about ${failure}`, async () => {
    const { message } = await assertRejects(async () => {
      await run();
    }, OAuthClientError);
    pinMessage(`${failure}: ${message.split(". Tried: ")[0]}`);
  });
}

Deno.test("discoverAuthorization() names no option after an outage, which a retry may end", async () => {
  const fetch = at({ [`${PRM}/mcp`]: listing, [OAUTH]: text("Busy", 503) });
  const discover = () => discoverAuthorization(MCP, { fetch });
  const { message } = await assertRejects(discover, OAuthClientError);
  assertFalse(message.includes("serverMetadata"), message);
});
