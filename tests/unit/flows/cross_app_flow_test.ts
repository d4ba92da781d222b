/**
 * Cross-app access redeems an ID-JAG where it was issued for, and keeps it while it is
 * valid.
 */

import { type Internal, internalOf } from "../../../lib/session/_internal.ts";
import { assertEquals, assertMatch } from "@std/assert";
import {
  adviceFor,
  clientSecretBasic,
  createDpop,
  crossAppFlow,
  type CrossAppFlowOptions,
  type FlowRequest,
  GRANT_TYPE_JWT_BEARER,
  type OAuthClientError,
  privateKeyJwt,
  publicClient,
  type Session,
  type SubjectTokenRequest,
  TOKEN_TYPE_ID_TOKEN,
  TOKEN_TYPE_REFRESH_TOKEN,
  TOKEN_TYPE_SAML2,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  assertRejectsCode,
  assertThrowsCode,
  contextOf,
  idJagReply,
  IDP,
  MCP,
  metadataOf,
  NOW,
  signIdJag,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import { PRIVATE_JWK } from "../../support/keys.ts";
import {
  type Answer,
  json,
  stubFetch,
  untyped,
} from "../../support/stub_fetch.ts";

const PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag";
const SECOND = "https://second.example";
const CONFIGURATION = `${IDP}/.well-known/oauth-authorization-server`;
const CLIENT = clientSecretBasic("c-at-as", "s3cret-at-as", { issuer: AS });
/** A client that may be used at any server. */
const ANYWHERE = publicClient("c-at-as");

/** What a discovery found: a server that lists the profile, with these members. */
function foundAt(issuer: string, members: Record<string, unknown> = {}) {
  const authorization_grant_profiles_supported = [PROFILE];
  const listed = { authorization_grant_profiles_supported, ...members };
  return contextOf(metadataOf(issuer, listed));
}

/** An ID token of the identity provider, which nobody verifies here. */
function idToken(exp: number, sub = "u1"): string {
  return unverifiedJwt({ iss: IDP, sub, exp });
}

const VALID = idToken(NOW + 3600);
const OPTIONS = {
  idp: metadataOf(IDP),
  idpClient: clientSecretBasic("c-at-idp", "s3cret-at-idp"),
  client: CLIENT,
  getSubjectToken: () => VALID,
};
const REQUEST: FlowRequest = {
  context: foundAt(AS),
  scopes: ["read"],
  now: () => NOW * 1000,
};

interface World {
  options?: Partial<CrossAppFlowOptions>;
  request?: Partial<FlowRequest>;
  /** What `getSubjectToken` returns, call by call; the last again and again. */
  subjects?: Awaited<ReturnType<CrossAppFlowOptions["getSubjectToken"]>>[];
  /** The responses of the identity provider and of the servers, request by request. */
  idp?: Answer[];
  server?: Answer[];
}

const granted = json({
  access_token: "a1",
  token_type: "Bearer",
  expires_in: 60,
  refresh_token: "r1",
});

/** Each of these in turn, and the last one from then on. */
function inTurn<T>(all: readonly T[]): () => T {
  let next = 0;
  return () => all[Math.min(next++, all.length - 1)]!;
}

/** Responds with each answer in turn. */
function answering(answers: readonly Answer[]): Answer {
  const answer = inTurn(answers);
  return (request) => answer()(request);
}

/** Runs the flow once: its session or error, and what was requested, in order. */
async function run(world: World = {}) {
  const { subjects = [VALID], options, request } = world;
  const { idp = [idJagReply(await signIdJag())], server = [granted] } = world;
  const redeeming = answering(server);
  using stub = stubFetch({
    [`${IDP}/token`]: answering(idp),
    [`${AS}/token`]: redeeming,
    [`${SECOND}/token`]: redeeming,
  });
  const asked: SubjectTokenRequest[] = [];
  const subject = inTurn(subjects);
  const authorize = crossAppFlow({
    ...OPTIONS,
    getSubjectToken({ signal: _, ...why }) {
      asked.push(JSON.parse(JSON.stringify(why)));
      return subject();
    },
    ...options,
  });
  const result: Session | OAuthClientError = await authorize({
    ...{ ...REQUEST, fetch: stub.fetch },
    ...request,
  }).catch((error) => error);
  return {
    session: result as Session,
    error: result as OAuthClientError,
    hosts: stub.urls.map((url) => new URL(url).host),
    forms: stub.forms,
    authorizations: stub.requests.map(({ headers }) => headers.Authorization),
    asked,
  };
}

/** The session of an earlier run, which keeps an ID-JAG. */
async function keeping(
  idJag: Internal["idJag"],
  members: Partial<Session> = {},
): Promise<Session> {
  const { session } = await run();
  return { ...session, internal: { idJag }, ...members };
}

const IDP_HOST = new URL(IDP).host;
const AS_HOST = new URL(AS).host;

Deno.test("crossAppFlow() exchanges an ID token at one server and redeems the ID-JAG at the other", async () => {
  const assertion = await signIdJag();
  const { session, hosts, forms, authorizations, asked } = await run({
    idp: [idJagReply(assertion)],
  });
  assertEquals(hosts, [IDP_HOST, AS_HOST]);
  assertEquals(forms, [{
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: VALID,
    subject_token_type: TOKEN_TYPE_ID_TOKEN,
    requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
    audience: AS,
    resource: MCP,
    scope: "read",
  }, {
    grant_type: GRANT_TYPE_JWT_BEARER,
    assertion,
    resource: MCP,
    scope: "read",
  }]);
  assertEquals(authorizations, [
    `Basic ${btoa("c-at-idp:s3cret-at-idp")}`,
    `Basic ${btoa("c-at-as:s3cret-at-as")}`,
  ]);
  assertEquals(asked, [{}]);
  assertEquals(internalOf(session).idJag, { assertion });
  // The identity provider decides at each renewal, not a refresh token.
  assertEquals(session.token.refresh_token, undefined);
  assertEquals(JSON.stringify(session).includes("s3cret"), false);
  assertEquals(JSON.parse(JSON.stringify(session)), session);
});

Deno.test("crossAppFlow() sends other subject tokens with their type", async () => {
  const refresh = { token: "rt1", type: TOKEN_TYPE_REFRESH_TOKEN };
  const saml = { token: "PHNhbWw+", type: TOKEN_TYPE_SAML2 };
  const rows = [
    [{ token: VALID }, VALID, TOKEN_TYPE_ID_TOKEN],
    [refresh, refresh.token, refresh.type],
    [saml, saml.token, saml.type],
    // An identity provider may encrypt its ID tokens.
    ["a.b.c.d.e", "a.b.c.d.e", TOKEN_TYPE_ID_TOKEN],
  ] as const;
  await eachRowInTurn(rows, async ([subject, token, type]) => {
    const { forms: [form], asked } = await run({ subjects: [subject] });
    assertEquals([form?.subject_token, form?.subject_token_type], [
      token,
      type,
    ]);
    assertEquals(asked.length, 1);
  });
});

Deno.test("crossAppFlow() discovers a named identity provider once, and again after a failure", async () => {
  const down = () => new Response(null, { status: 503 });
  const configuration = json(metadataOf(IDP));
  const rows: [idp: string | URL, answers: Answer[]][] = [
    [IDP, [configuration]],
    [new URL(IDP), [configuration]],
    [IDP, [down, configuration]],
  ];
  await eachRowInTurn(rows, async ([idp, answers]) => {
    using stub = stubFetch({
      [CONFIGURATION]: answering(answers),
      [`${IDP}/.well-known/openid-configuration`]: down,
      [`${IDP}/token`]: idJagReply(await signIdJag()),
      [`${AS}/token`]: granted,
    });
    const flow = crossAppFlow({ ...OPTIONS, idp });
    const authorize = () => flow({ ...REQUEST, fetch: stub.fetch });
    if (answers.length > 1) {
      await assertRejectsCode(authorize, "discovery_failed");
      stub.requests.length = 0;
    }
    await authorize();
    await authorize();
    const tokens = [`${IDP}/token`, `${AS}/token`];
    assertEquals(stub.urls, [CONFIGURATION, ...tokens, ...tokens]);
  });
});

Deno.test("crossAppFlow() fails where the server does not list the profile, and says what it lists", async () => {
  const none = { authorization_grant_profiles_supported: undefined };
  const grants = { ...none, grant_types_supported: [GRANT_TYPE_JWT_BEARER] };
  const listing = (...authorization_grant_profiles_supported: string[]) => ({
    authorization_grant_profiles_supported,
  });
  const rows: [members: object, assumeProfile: boolean, message: RegExp][] = [
    [listing("urn:other"), false, /\["urn:other"\]$/],
    // The server has said that it does not.
    [listing(), true, /is \[\]$/],
    [grants, false, /jwt-bearer"\] \(set assumeProfile/],
    [none, false, /"missing" \(set assumeProfile/],
  ];
  await eachRowInTurn(rows, async ([members, assumeProfile, message]) => {
    const { error, hosts, asked } = await run({
      options: { assumeProfile },
      request: { context: foundAt(AS, { ...members }) },
    });
    assertEquals([error.code, hosts, asked], ["unsupported", [], []]);
    assertMatch(error.message, message);
    assertMatch(error.message, /grant-profile:id-jag/);
  });
  const { session } = await run({
    options: { assumeProfile: true },
    request: { context: foundAt(AS, none) },
  });
  assertEquals(session.token.access_token, "a1");
});

Deno.test("crossAppFlow() redeems the kept ID-JAG again while it is valid, then fetches another", async () => {
  const assertion = await signIdJag({ jti: "kept" });
  const session = await keeping({ assertion });
  const valid = await run({ request: { session } });
  assertEquals([valid.hosts, valid.asked], [[AS_HOST], []]);
  assertEquals(valid.forms[0]?.assertion, assertion);
  assertEquals(internalOf(valid.session).idJag, { assertion });

  const later = () => (NOW + 300) * 1000;
  const fresh = await signIdJag({ jti: "fresh", exp: NOW + 600 });
  const expired = await run({
    request: { session, now: later },
    idp: [idJagReply(fresh)],
  });
  assertEquals([expired.hosts, expired.asked], [[IDP_HOST, AS_HOST], [{}]]);
  assertEquals(internalOf(expired.session).idJag, { assertion: fresh });
});

Deno.test("crossAppFlow() fetches another ID-JAG where the server accepts one only once", async () => {
  const session = await keeping({ assertion: await signIdJag({ jti: "old" }) });
  const refused = json({ error: "invalid_grant" }, { status: 400 });
  const once = await run({ request: { session }, server: [refused, granted] });
  assertEquals(once.hosts, [AS_HOST, IDP_HOST, AS_HOST]);
  assertEquals(once.session.token.access_token, "a1");
  // The new one is the last.
  const never = await run({ request: { session }, server: [refused] });
  assertEquals(never.hosts, [AS_HOST, IDP_HOST, AS_HOST]);
  assertEquals(never.error.error, "invalid_grant");
});

Deno.test("crossAppFlow() asks the identity provider for nothing while the server is out of order or refuses the client", async () => {
  const session = await keeping({ assertion: await signIdJag() });
  const rows = [
    ["invalid_grant", 503, "retry"],
    ["invalid_client", 401, "give_up"],
    ["access_denied", 403, "give_up"],
  ] as const;
  await eachRowInTurn(rows, async ([error, status, action]) => {
    const server = [json({ error }, { status })];
    const failed = await run({ request: { session }, server });
    assertEquals(failed.hosts, [AS_HOST]);
    assertEquals(adviceFor(failed.error).action, action);
  });
});

Deno.test("crossAppFlow() does not use a kept ID-JAG for anything else than it was issued for", async () => {
  const session = await keeping({ assertion: await signIdJag() });
  const resource = "urn:inside";
  const internal = { ...session.internal, resourceIndicator: resource };
  const inside = { ...session, internal };
  const rows: Record<string, Pick<World, "request" | "options">> = {
    "further scopes": { request: { scopes: ["read", "write"] } },
    "a sign-in anew": { request: { isFresh: true } },
    "another authentication": { request: { acrValues: "mfa" } },
    "a more recent authentication": { request: { maxAge: 60 } },
    "another resource": {
      request: { session: { ...session, resource: `${MCP}/other` } },
    },
    "the resource by another name": {
      options: { resourceIndicator: resource },
    },
    "no resource": { options: { resourceIndicator: false } },
  };
  await eachRowInTurn(
    Object.entries(rows),
    async ([name, { request, options }]) => {
      const named = options?.resourceIndicator;
      const { hosts, forms } = await run({
        ...{ options: options ?? {}, request: { session, ...request } },
        idp: [idJagReply(await signIdJag(named ? { resource } : {}))],
      });
      assertEquals(hosts, [IDP_HOST, AS_HOST], name);
      if (options) assertEquals(forms[0]?.resource, named || undefined);
    },
  );
  const options = { resourceIndicator: resource };
  const kept = await run({ options, request: { session: inside } });
  assertEquals(kept.hosts, [AS_HOST]);
});

Deno.test("crossAppFlow() sends an ID-JAG to no second server", async () => {
  const session = await keeping({ assertion: await signIdJag() });
  const other = await signIdJag({ aud: SECOND, jti: "second" });
  const { hosts, forms } = await run({
    options: { client: ANYWHERE },
    // As a resource does that moves, or lies.
    request: { session, context: foundAt(SECOND) },
    idp: [idJagReply(other)],
  });
  assertEquals(hosts, [IDP_HOST, new URL(SECOND).host]);
  assertEquals([forms[0]?.audience, forms[1]?.assertion], [SECOND, other]);
});

Deno.test("crossAppFlow() redeems no ID-JAG for another audience, client or key than its own", async () => {
  const dpop = await createDpop();
  const second = { context: foundAt(SECOND) };
  const rows: [claims: object, options: object, request: object][] = [
    // The audience is not the one that was requested.
    [{}, { client: ANYWHERE }, second],
    [{ client_id: "other" }, {}, {}],
    // Without the claim, the ID-JAG could be used with any key.
    [{}, {}, { dpop }],
  ];
  await eachRowInTurn(rows, async ([claims, options, request]) => {
    const idp = [idJagReply(await signIdJag({ ...claims }))];
    const { error, hosts } = await run({ options, request, idp });
    assertEquals([error.code, hosts], ["invalid_id_jag", [IDP_HOST]]);
  });
  const bound = await signIdJag({ cnf: { jkt: dpop.thumbprint } });
  const server = [json({ access_token: "a1", token_type: "DPoP" })];
  const idp = [idJagReply(bound)];
  const { session } = await run({ request: { dpop }, server, idp });
  assertEquals(session.dpopThumbprint, dpop.thumbprint);
});

Deno.test("crossAppFlow() asks for another ID token when the first has expired", async () => {
  const old = idToken(NOW);
  const { asked, forms } = await run({ subjects: [old, VALID] });
  assertEquals(asked, [{}, { refusedToken: old }]);
  assertEquals(forms[0]?.subject_token, VALID);
  // The clock of this device may be wrong: the identity provider decides.
  const same = await run({ subjects: [old] });
  assertEquals(same.asked.length, 2);
  assertEquals(same.forms[0]?.subject_token, old);
});

Deno.test("crossAppFlow() takes a denial of the identity provider as final", async () => {
  const rows: [action: string, codes: string[]][] = [
    ["give_up", ["access_denied", "unauthorized_client", "consent_required"]],
    ["give_up", ["invalid_target", "invalid_scope"]],
    ["reauthorize", ["invalid_grant"]],
  ];
  await eachRowInTurn(rows, async ([action, codes]) => {
    for (const code of codes) {
      const idp = [json({ error: code }, { status: 400 })];
      const { error, hosts, asked } = await run({ idp });
      assertEquals([error.error, error.request], [code, "assertion"]);
      assertEquals([hosts, asked], [[IDP_HOST], [{}]], code);
      assertEquals(adviceFor(error).action, action, code);
    }
  });
});

Deno.test("crossAppFlow() asks for a stronger authentication that the identity provider requires, and throws it if there is none", async () => {
  const refusal = json({
    error: "insufficient_user_authentication",
    acr_values: "urn:mfa",
    max_age: 0,
  }, { status: 400 });
  const reply = idJagReply(await signIdJag());
  const stronger = idToken(NOW + 3600, "mfa");
  const { asked, forms, session } = await run({
    subjects: [VALID, stronger],
    idp: [refusal, reply],
  });
  assertEquals(asked, [
    {},
    { acrValues: "urn:mfa", maxAge: 0, refusedToken: VALID },
  ]);
  assertEquals(forms[1]?.subject_token, stronger);
  assertEquals(session.token.access_token, "a1");

  for (const subjects of [[VALID], [VALID, stronger]]) {
    const { error, hosts } = await run({ subjects, idp: [refusal] });
    assertEquals(hosts.length, subjects.length);
    assertEquals(error.error, "insufficient_user_authentication");
    const { acr_values, max_age } = error.errorResponse!;
    assertEquals([acr_values, max_age], ["urn:mfa", 0]);
  }
});

Deno.test("crossAppFlow() passes on the authentication that the resource requires", async () => {
  const { asked } = await run({ request: { acrValues: "mfa", maxAge: 60 } });
  assertEquals(asked, [{ acrValues: "mfa", maxAge: 60 }]);
});

Deno.test("crossAppFlow() requests of the server no more than the identity provider has granted", async () => {
  const reply = idJagReply(await signIdJag(), { scope: "read admin" });
  const { forms, session } = await run({
    request: { scopes: ["read", "write", "openid", "offline_access"] },
    idp: [reply],
  });
  assertEquals(forms.map(({ scope }) => scope), ["read write", "read"]);
  assertEquals(internalOf(session).idJag?.scope, "read admin");
  const again = await run({ request: { session, scopes: ["read", "write"] } });
  assertEquals(again.forms.map(({ scope }) => scope), ["read"]);
});

Deno.test("crossAppFlow() sends tokenParameters to the server of the resource only", async () => {
  const tokenParameters = { tenant: "t1", scope: "own", assertion: "own" };
  const { hosts, forms } = await run({ options: { tokenParameters } });
  assertEquals(hosts.length, 2);
  assertEquals(forms.map(({ tenant }) => tenant), [undefined, "t1"]);
  assertEquals(forms.map(({ scope }) => scope), ["read", "read"]);
  assertEquals(forms[1]!.assertion === "own", false);
});

Deno.test("crossAppFlow() uses a client metadata document at any server", async () => {
  const url = "https://app.example/client.json";
  for (const issuer of [AS, SECOND]) {
    const { forms, session } = await run({
      options: { client: privateKeyJwt(url, PRIVATE_JWK) },
      request: { context: foundAt(issuer) },
      idp: [idJagReply(await signIdJag({ aud: issuer, client_id: url }))],
    });
    assertEquals(forms[1]?.client_id, url);
    assertMatch(forms[1]?.client_assertion ?? "", /^ey/);
    assertEquals([session.issuer, session.client!.client_id], [issuer, url]);
  }
});

Deno.test("crossAppFlow() sends credentials to the server that they belong to only", async () => {
  const { error, hosts, asked } = await run({
    request: { context: foundAt(SECOND) },
  });
  assertEquals([error.code, hosts, asked], ["issuer_mismatch", [], []]);
});

Deno.test("crossAppFlow() throws what getSubjectToken throws, and stops on abort", async () => {
  const failure = new Error("Sign in at the identity provider");
  const { error, hosts } = await run({
    options: { getSubjectToken: () => Promise.reject(failure) },
  });
  assertEquals([error, hosts], [untyped(failure), []]);

  const controller = new AbortController();
  let calls = 0;
  const aborted = await run({
    options: {
      getSubjectToken() {
        calls++;
        controller.abort("enough");
        return idToken(NOW);
      },
    },
    request: { signal: controller.signal },
  });
  assertEquals(calls, 1);
  assertEquals([aborted.error, aborted.hosts], [untyped("enough"), []]);
});

Deno.test("crossAppFlow() refuses options of the wrong type when it is created", () => {
  const rows = [
    { idp: "idp" },
    { idp: undefined },
    { idpClient: undefined },
    { client: undefined },
    { client: clientSecretBasic("c", "s") },
    { getSubjectToken: VALID },
    { tokenParameters: "a=b" },
  ];
  for (const wrong of rows) {
    const create = () => crossAppFlow(untyped({ ...OPTIONS, ...wrong }));
    assertThrowsCode(create, "invalid_argument");
  }
});
