/** The stored form of sessions, version 1, of every flow and in every state. */

import { assert, assertEquals } from "@std/assert";
import {
  assertionFlow,
  type AuthorizedFetchOptions,
  cibaFlow,
  type Client,
  clientCredentialsFlow,
  codeFlow,
  type CodeFlowOptions,
  createAuthorizedFetch,
  createDpop,
  crossAppFlow,
  deviceFlow,
  exchangeFlow,
  sharedSignIn,
  TOKEN_TYPE_ACCESS_TOKEN,
} from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import {
  AS,
  CODE_SERVER,
  idJagReply,
  MCP,
  metadataOf,
  signIdJag,
  TOKEN_ENDPOINT,
  unverifiedJwt,
} from "../support/fixtures.ts";
import { SESSION } from "../support/resource.ts";
import {
  assertStorable,
  schemaProblem,
  schemaStore,
} from "../support/session_schema.ts";
import { json, stubFetch, untyped } from "../support/stub_fetch.ts";

const CLIENT = { issuer: AS, client_id: "c1", client_secret: "s3cret" };
const REGISTERED = {
  ...CLIENT,
  redirect_uris: ["http://127.0.0.1:33418/callback"],
};
const IDP = "https://idp.example";

Deno.test("the schema of stored sessions rejects what is none", () => {
  const { version: _, ...unversioned } = SESSION;
  const { client: __, token: ___, ...empty } = SESSION;
  const rows: Record<string, object> = {
    "no version": unversioned,
    "another version": { ...SESSION, version: 2 },
    "no server": { ...SESSION, server: undefined },
    "neither a token nor a client": empty,
    "an empty token": {
      ...SESSION,
      token: { access_token: "", token_type: "Bearer" },
    },
    "a client without an identifier": { ...SESSION, client: { client_id: "" } },
    "an issuer of the client": { ...SESSION, client: CLIENT },
    "an issuer of the server": { ...SESSION, server: { issuer: AS } },
    "a mark that is none": { ...SESSION, internal: { isUserAway: "yes" } },
  };
  for (const [name, session] of Object.entries(rows)) {
    assert(schemaProblem(session) !== undefined, name);
  }
  assertEquals(schemaProblem({ ...SESSION, later: 1 }), undefined);
});

Deno.test("sessions of flows with a user have the form of the schema, also during a visit and after their end", async () => {
  const servers = createTestServers({ clients: [REGISTERED] });
  const { resource, now } = servers;
  const clientMetadata = { client_name: "Test" };
  const client: Client = { ...CLIENT, issuer: servers.issuer };
  const delay = (milliseconds: number) => {
    servers.advance(milliseconds / 1000);
    return Promise.resolve();
  };
  const terms = {
    tokenParameters: { tenant: "t1" },
    sendScopeOnRefresh: true,
    resourceIndicator: resource,
  };
  const codeWith = (options: Partial<CodeFlowOptions> = {}) =>
    codeFlow({ ...servers.receiver, clientMetadata, ...options });
  const code = codeWith();
  const dpop = await createDpop({ now });
  const rows: Record<string, Partial<AuthorizedFetchOptions>> = {
    "codeFlow": { flow: code },
    "codeFlow with DPoP": { flow: code, dpop },
    "codeFlow with terms": {
      flow: codeWith({ ...terms, sendRedirectUriOnRefresh: true }),
    },
    "codeFlow with a client": { flow: codeWith({ client }) },
    "deviceFlow": {
      flow: deviceFlow({ clientMetadata, delay, show() {}, ...terms }),
    },
    "cibaFlow": {
      flow: cibaFlow({ client, delay, getLoginHint: () => "ann" }),
    },
    "apis": {
      flow: code,
      apis: sharedSignIn({
        [resource]: {},
        "https://other.example/v1": {
          scopes: ["read"],
          tokenParameters: terms.tokenParameters,
        },
      }),
    },
  };
  for (const [name, options] of Object.entries(rows)) {
    const store = schemaStore();
    const fetch = servers.fetch;
    const api = createAuthorizedFetch(resource, {
      ...{ fetch, now, store, ...options },
    });
    assertEquals((await api(resource)).status, 200, name);
    servers.advance(3600);
    assertEquals((await api(resource)).status, 200, name);
    servers.revoke();
    assertEquals((await api(resource)).status, 200, name);
    await api.signIn({ fresh: true });
    assertStorable(store.saved, name);
  }
});

Deno.test("sessions of flows without a user have the form of the schema", async () => {
  const assertion = unverifiedJwt({ iss: IDP, aud: AS });
  const rows: Record<string, AuthorizedFetchOptions["flow"]> = {
    "clientCredentialsFlow": clientCredentialsFlow({ client: CLIENT }),
    "assertionFlow": assertionFlow({
      client: CLIENT,
      getAssertion: () => assertion,
    }),
    "assertionFlow without a client": assertionFlow({
      getAssertion: () => assertion,
      resourceIndicator: false,
    }),
    "exchangeFlow": exchangeFlow({
      client: CLIENT,
      getSubjectToken: () => "of-ann",
    }),
    "crossAppFlow": crossAppFlow({
      idp: metadataOf(IDP),
      idpClient: { ...CLIENT, issuer: IDP },
      client: CLIENT,
      getSubjectToken: () => unverifiedJwt({ iss: IDP, sub: "ann", exp: 4e9 }),
      assumeProfile: true,
    }),
  };
  for (const [name, flow] of Object.entries(rows)) {
    using stub = stubFetch({
      [TOKEN_ENDPOINT]: json({
        access_token: "a1",
        token_type: "Bearer",
        issued_token_type: TOKEN_TYPE_ACCESS_TOKEN,
      }),
      [`${IDP}/token`]: idJagReply(
        await signIdJag({
          client_id: "c1",
          exp: Date.now() / 1000 + 300,
        }),
      ),
    });
    const store = schemaStore();
    const api = createAuthorizedFetch(MCP, {
      ...{ fetch: untyped(stub.fetch), store, flow },
      serverMetadata: CODE_SERVER,
    });
    await api.signIn();
    assertStorable(store.saved, name);
  }
});

Deno.test("a session that codeFlow() abandons has the form of the schema while the user is away", async () => {
  const servers = createTestServers();
  const { resource, fetch, now } = servers;
  const store = schemaStore();
  const clientMetadata = { client_name: "Test" };
  const flow = codeFlow({
    clientMetadata,
    redirectUri: "http://127.0.0.1/callback",
    visit: () => Promise.reject(new Error("left")),
  });
  const first = createAuthorizedFetch(resource, {
    ...{
      fetch,
      now,
      store,
      flow: codeFlow({ ...servers.receiver, clientMetadata }),
    },
  });
  await first.signIn();
  const api = createAuthorizedFetch(resource, { fetch, now, store, flow });
  await api.signIn({ fresh: true }).catch(() => {});
  assert(store.saved.some((text) => text.includes('"isUserAway":true')));
  assertStorable(store.saved, "a visit");
});
