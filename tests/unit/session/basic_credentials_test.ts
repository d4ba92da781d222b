/** Sessions of clients whose Basic credentials a server accepts only unencoded. */

import { assertEquals } from "@std/assert";
import {
  assertionFlow,
  type Authorize,
  type Client,
  clientCredentialsFlow,
  clientSecretBasic,
  codeFlow,
  deviceFlow,
  finishAuthorization,
  type IAuthorizeRequest,
  type IKnownClient,
  type ISession,
  refreshSession,
  revokeSession,
  startAuthorization,
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
import { type Answer, json, stubFetch } from "../../support/stub_fetch.ts";

const SECRET = "s3cret/+ %";
const ENCODED = "Basic YzE6czNjcmV0JTJGJTJCKyUyNQ==";
const UNENCODED = `Basic ${btoa(`c1:${SECRET}`)}`;
const PAR = CODE_SERVER.pushed_authorization_request_endpoint!;
const REVOKE = CODE_SERVER.revocation_endpoint!;
const REQUEST: IAuthorizeRequest = { context: CONTEXT, scopes: ["read"] };

/** Clients as a program that has just started makes them. */
const CLIENTS: (() => Client)[] = [
  (): IKnownClient => ({
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

const visit = (_url: URL, { pending }: { pending: { state: string } }) =>
  Promise.resolve(new URLSearchParams({ code: "c", state: pending.state }));
const FLOWS: [name: string, create: (client: Client) => Authorize][] = [
  [
    "codeFlow()",
    (client) => codeFlow({ client, redirectUri: REDIRECT_URI, visit }),
  ],
  [
    "codeFlow() with PAR",
    (client) =>
      codeFlow({ client, redirectUri: REDIRECT_URI, visit, par: true }),
  ],
  [
    "deviceFlow()",
    (client) =>
      deviceFlow({ client, show() {}, delay: () => Promise.resolve() }),
  ],
  ["clientCredentialsFlow()", (client) => clientCredentialsFlow({ client })],
  [
    "assertionFlow()",
    (client) =>
      assertionFlow({
        client,
        getAssertion: () => unverifiedJwt({ iss: "https://p.example" }),
      }),
  ],
];

/** A session as another process finds it in a store. */
function stored(session: ISession): ISession {
  return JSON.parse(JSON.stringify(session));
}

for (const [name, create] of FLOWS) {
  Deno.test(`${name} keeps in the session that credentials are sent unencoded`, async () => {
    for (const newClient of CLIENTS) {
      const { fetch, take } = serverOf();
      const first = await create(newClient())({ ...REQUEST, fetch });
      // Once refused, all requests of the flow have them unencoded.
      const [refused, ...others] = take();
      assertEquals(refused, ENCODED);
      assertEquals([...new Set(others)], [UNENCODED]);
      assertEquals(first.client.formEncode, false);

      // After a restart.
      const session = stored(first);
      const next = await create(newClient())({ ...REQUEST, session, fetch });
      assertEquals([...new Set(take())], [UNENCODED]);
      assertEquals(next.client.formEncode, false);
    }
  });

  Deno.test(`${name} keeps nothing about credentials that a server decodes`, async () => {
    for (const newClient of CLIENTS) {
      const { fetch, take } = serverOf(ENCODED);
      const session = await create(newClient())({ ...REQUEST, fetch });
      assertEquals([...new Set(take())], [ENCODED]);
      assertEquals("formEncode" in session.client, false);
    }
  });
}

Deno.test("startAuthorization() keeps for another process how it has pushed the request", async () => {
  for (const newClient of CLIENTS) {
    const { fetch, take } = serverOf();
    const { pending } = await startAuthorization(CONTEXT, {
      client: newClient(),
      redirectUri: REDIRECT_URI,
      par: true,
      fetch,
    });
    assertEquals(take(), [ENCODED, UNENCODED]);
    assertEquals(pending.client.formEncode, false);
    const session = await finishAuthorization(
      `${REDIRECT_URI}?code=c&state=${pending.state}`,
      JSON.parse(JSON.stringify(pending)),
      { client: newClient(), fetch },
    );
    assertEquals(take(), [UNENCODED]);
    assertEquals(session.client.formEncode, false);
  }
});

/** A session of an earlier version. */
function sessionOf(client: Client): ISession {
  return {
    issuer: AS,
    resource: MCP,
    serverMetadata: CODE_SERVER,
    client: "authenticate" in client
      ? { issuer: AS, client_id: client.clientId }
      : client,
    token: { access_token: "a", token_type: "Bearer", refresh_token: "r" },
    scopes: [],
  };
}

Deno.test("refreshSession() keeps in the session that credentials are sent unencoded", async () => {
  for (const newClient of CLIENTS) {
    const { fetch, take } = serverOf();
    const client = newClient();
    const given = sessionOf(client);
    const fresh = await refreshSession(given, { client, fetch });
    assertEquals(take(), [ENCODED, UNENCODED]);
    assertEquals(given.client.formEncode, undefined);
    assertEquals(fresh.client, { ...given.client, formEncode: false });

    const session = stored(fresh);
    const again = await refreshSession(session, {
      client: newClient(),
      fetch,
    });
    assertEquals(take(), [UNENCODED]);
    assertEquals(again.client.formEncode, false);
    await revokeSession(session, { client: newClient(), fetch });
    assertEquals(take(), [UNENCODED, UNENCODED]);
  }
});

Deno.test("refreshSession() and revokeSession() use the encoding that a session has kept", async () => {
  const { fetch, take } = serverOf();
  const [newClient] = CLIENTS;
  const session = sessionOf({ ...newClient!() as IKnownClient });
  session.client.formEncode = false;
  await refreshSession(session, { fetch });
  await revokeSession(session, { fetch });
  assertEquals(take(), [UNENCODED, UNENCODED, UNENCODED]);
  // Another client's is not known.
  const client = clientSecretBasic("c2", SECRET, { issuer: AS });
  await refreshSession(session, { client, fetch }).catch(() => {});
  assertEquals(take()[0], ENCODED.replace("YzE6", "YzI6"));
});

Deno.test("an option formEncode of the caller is stronger than what a session has kept", async () => {
  const { fetch, take } = serverOf(ENCODED);
  const [newJson] = CLIENTS;
  const json = { ...newJson!() as IKnownClient, formEncode: true };
  const object = clientSecretBasic("c1", SECRET, {
    issuer: AS,
    formEncode: true,
  });
  for (
    const [client, kept] of [[json, true], [object, undefined]] as const
  ) {
    const session = sessionOf(json);
    session.client = { ...session.client, formEncode: false };
    for (const [, create] of FLOWS) {
      const next = await create(client)({ ...REQUEST, session, fetch });
      assertEquals([...new Set(take())], [ENCODED]);
      assertEquals(next.client.formEncode, kept);
    }
  }
});
