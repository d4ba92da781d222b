/** Sessions of clients whose Basic credentials a server accepts only unencoded. */

import { assertEquals } from "@std/assert";
import {
  assertionFlow,
  type Client,
  clientCredentialsFlow,
  clientSecretBasic,
  codeFlow,
  createAuthorizedFetch,
  deviceFlow,
  type Flow,
  type FlowRequest,
  type KnownClient,
  refreshSession,
  revokeSession,
  type Session,
} from "../../../mod.ts";
import {
  AS,
  CODE_SERVER,
  CONTEXT,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  MCP,
  REDIRECT_URI,
  TOKEN_ENDPOINT,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import { unauthorizedAt } from "../../support/resource.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";

const SECRET = "s3cret/+ %";
const ENCODED = "Basic YzE6czNjcmV0JTJGJTJCKyUyNQ==";
const UNENCODED = `Basic ${btoa(`c1:${SECRET}`)}`;
const PAR = CODE_SERVER.pushed_authorization_request_endpoint!;
const REVOKE = CODE_SERVER.revocation_endpoint!;
const REQUEST: FlowRequest = { context: CONTEXT, scopes: ["read"] };

/** Clients as a program that has just started makes them. */
const CLIENTS: (() => Client)[] = [
  (): KnownClient => ({
    issuer: AS,
    client_id: "c1",
    client_secret: SECRET,
    token_endpoint_auth_method: "client_secret_basic",
  }),
  () => clientSecretBasic("c1", SECRET, { issuer: AS }),
];

/** A server that accepts these credentials at every endpoint. */
function serverOf(accepted = UNENCODED) {
  const guarded = (value: unknown, status = 200): Answer => (request) =>
    request.headers.Authorization === accepted
      ? json(value, { status })(request)
      : json({ error: "invalid_client" }, { status: 401 })(request);
  const stub = stubFetch({
    [TOKEN_ENDPOINT]: guarded({ access_token: "a", refresh_token: "r" }),
    [DEVICE_AUTHORIZATION_ENDPOINT]: guarded(DEVICE_AUTHORIZATION),
    [PAR]: guarded({ request_uri: "urn:r:1", expires_in: 60 }, 201),
    [REVOKE]: guarded({}),
  });
  return {
    ...stub,
    /** Returns the credentials that were sent since the last call. */
    take: () =>
      stub.requests.splice(0).map(({ headers }) => headers.Authorization),
  };
}

const visit = (
  _url: URL,
  { pending: { state } }: { pending: { state: string } },
) => Promise.resolve(new URLSearchParams({ code: "c", state }));
const getAssertion = () => unverifiedJwt({ iss: "https://p.example" });
const CODE = { redirectUri: REDIRECT_URI, visit };
const DEVICE = { show() {}, delay: () => Promise.resolve() };
const FLOWS: Record<string, (client: Client) => Flow> = {
  "codeFlow()": (client) => codeFlow({ ...CODE, client }),
  "codeFlow() with PAR": (client) => codeFlow({ ...CODE, client, par: true }),
  "deviceFlow()": (client) => deviceFlow({ ...DEVICE, client }),
  "clientCredentialsFlow()": (client) => clientCredentialsFlow({ client }),
  "assertionFlow()": (client) => assertionFlow({ client, getAssertion }),
};

for (const [name, create] of Object.entries(FLOWS)) {
  Deno.test(`${name} has one request refused where credentials are to be unencoded, and keeps nothing of it in the session`, async () => {
    for (const newClient of CLIENTS) {
      for (const accepted of [UNENCODED, ENCODED]) {
        const { fetch, take } = serverOf(accepted);
        const client = newClient();
        const session = await create(client)({ ...REQUEST, fetch });
        const [first, ...others] = take();
        assertEquals(first, ENCODED);
        const isRepeated = accepted === ENCODED && others.length > 0;
        assertEquals(others.includes(ENCODED), isRepeated);
        assertEquals("formEncode" in session.client!, false);
        await create(client)({ ...REQUEST, session, fetch });
        assertEquals([...new Set(take())], [accepted]);
      }
    }
  });
}

function sessionOf(client: Client): Session {
  return {
    version: 1,
    issuer: AS,
    resource: MCP,
    server: CODE_SERVER,
    client: "authenticate" in client ? { client_id: client.clientId } : client,
    token: { access_token: "a", token_type: "Bearer", refresh_token: "r" },
    scopes: [],
  };
}

Deno.test("refreshSession() and revokeSession() have one request refused for each object that is a client", async () => {
  for (const newClient of CLIENTS) {
    const { fetch, take } = serverOf();
    const client = newClient();
    const session = sessionOf(client);
    const options = "authenticate" in client ? { client, fetch } : { fetch };
    const fresh = await refreshSession(session, options);
    assertEquals(take(), [ENCODED, UNENCODED]);
    assertEquals(fresh.client, session.client);
    const again = await refreshSession(fresh, options);
    await revokeSession(again, options);
    assertEquals(take(), [UNENCODED, UNENCODED, UNENCODED]);
  }
});

Deno.test("createAuthorizedFetch() has one request refused for many refreshes, also with a store that parses JSON", async () => {
  const { fetch, take } = serverOf();
  let text = JSON.stringify(sessionOf(CLIENTS[0]!()));
  const api = createAuthorizedFetch(MCP, {
    fetch: untyped(fetch),
    store: {
      load: () => Promise.resolve(JSON.parse(text)),
      save(session) {
        text = JSON.stringify(session);
        return Promise.resolve();
      },
    },
  });
  await api.renew(unauthorizedAt());
  await api.renew(unauthorizedAt());
  assertEquals(take(), [ENCODED, UNENCODED, UNENCODED]);
});

Deno.test("an option formEncode of the caller selects the only form that is sent", async () => {
  const [newJson] = CLIENTS;
  const json = { ...newJson!() as KnownClient, formEncode: false };
  const object = clientSecretBasic("c1", SECRET, {
    issuer: AS,
    formEncode: false,
  });
  for (const client of [json, object]) {
    for (const create of Object.values(FLOWS)) {
      const { fetch, take } = serverOf();
      const { client: kept } = await create(client)({ ...REQUEST, fetch });
      assertEquals([...new Set(take())], [UNENCODED]);
      assertEquals(kept!.formEncode, client === json ? false : undefined);
    }
  }
});
