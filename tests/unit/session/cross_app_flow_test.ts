import { assertEquals, assertMatch } from "@std/assert";
import {
  adviceFor,
  clientSecretBasic,
  createDpop,
  crossAppFlow,
  GRANT_TYPE_JWT_BEARER,
  type IAuthorizeRequest,
  type ICrossAppFlowOptions,
  type ISession,
  type ISubjectTokenRequest,
  type OAuthClientError,
  privateKeyJwt,
  publicClient,
  TOKEN_TYPE_ID_TOKEN,
  TOKEN_TYPE_REFRESH_TOKEN,
  TOKEN_TYPE_SAML2,
} from "../../../mod.ts";
import {
  AS,
  assertRejectsCode,
  assertThrowsCode,
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

function contextOf(
  issuer: string,
  members: Record<string, unknown> = {},
): IAuthorizeRequest["context"] {
  return {
    issuer,
    resource: MCP,
    serverMetadata: metadataOf(issuer, {
      authorization_grant_profiles_supported: [PROFILE],
      ...members,
    }),
    source: "resource_metadata",
    attempts: [],
  };
}

/** An ID token of the identity provider, which nobody verifies here. */
function idToken(exp: number, sub = "u1"): string {
  return unverifiedJwt({ iss: IDP, sub, exp });
}

const VALID = idToken(NOW + 3600);

/** Who was asked for what during a sign-in, in order. */
interface IRun {
  session: ISession;
  error: OAuthClientError;
  /** The hosts of the token requests. */
  hosts: string[];
  forms: Record<string, string>[];
  authorizations: (string | undefined)[];
  asked: ISubjectTokenRequest[];
}

/** What a sign-in is run with. */
interface IWorld {
  options?: Partial<ICrossAppFlowOptions>;
  request?: Partial<IAuthorizeRequest>;
  /** What `getSubjectToken` returns, call by call; the last again and again. */
  subjects?: Awaited<ReturnType<ICrossAppFlowOptions["getSubjectToken"]>>[];
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

/** Responds with each answer once, and with the last one from then on. */
function inTurn(answers: Answer[]): Answer {
  let next = 0;
  return (request) => {
    const answer = answers[Math.min(next++, answers.length - 1)]!;
    return answer(request);
  };
}

/** Runs the flow once. */
async function run(world: IWorld = {}): Promise<IRun> {
  const { subjects = [VALID], options, request } = world;
  const { idp = [idJagReply(await signIdJag())], server = [granted] } = world;
  const redeeming = inTurn(server);
  using stub = stubFetch({
    [`${IDP}/token`]: inTurn(idp),
    [`${AS}/token`]: redeeming,
    [`${SECOND}/token`]: redeeming,
  });
  const asked: ISubjectTokenRequest[] = [];
  const authorize = crossAppFlow({
    idp: metadataOf(IDP),
    idpClient: clientSecretBasic("c-at-idp", "s3cret-at-idp"),
    client: CLIENT,
    getSubjectToken(why) {
      const { signal: _, ...rest } = why;
      asked.push(JSON.parse(JSON.stringify(rest)));
      return subjects[Math.min(asked.length, subjects.length) - 1]!;
    },
    ...options,
  });
  const result = await authorize({
    context: contextOf(AS),
    scopes: ["read"],
    fetch: stub.fetch,
    now: () => NOW * 1000,
    ...request,
  }).then(
    (session) => ({ session, error: untyped(undefined) }),
    (error) => ({ session: untyped(undefined), error }),
  );
  return {
    ...result,
    hosts: stub.urls.map((url) => new URL(url).host),
    forms: stub.requests.map(({ body }) =>
      Object.fromEntries(new URLSearchParams(body))
    ),
    authorizations: stub.requests.map(({ headers }) => headers.Authorization),
    asked,
  };
}

/** The session of an earlier run, which keeps an ID-JAG. */
async function keeping(
  idJag: ISession["idJag"],
  members: Partial<ISession> = {},
): Promise<ISession> {
  const { session } = await run();
  return { ...session, idJag: idJag!, ...members };
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
  assertEquals(session.idJag, { assertion });
  // The identity provider decides at each renewal, not a refresh token.
  assertEquals(session.token.refresh_token, undefined);
  assertEquals(JSON.stringify(session).includes("s3cret"), false);
  assertEquals(JSON.parse(JSON.stringify(session)), session);
});

Deno.test("crossAppFlow() sends other subject tokens with their type", async () => {
  for (
    const [subject, token, type] of [
      [{ token: VALID }, VALID, TOKEN_TYPE_ID_TOKEN],
      [
        { token: "rt1", type: TOKEN_TYPE_REFRESH_TOKEN },
        "rt1",
        TOKEN_TYPE_REFRESH_TOKEN,
      ],
      [
        { token: "PHNhbWw+", type: TOKEN_TYPE_SAML2 },
        "PHNhbWw+",
        TOKEN_TYPE_SAML2,
      ],
      // An identity provider may encrypt its ID tokens.
      ["a.b.c.d.e", "a.b.c.d.e", TOKEN_TYPE_ID_TOKEN],
    ] as const
  ) {
    const { forms: [form], asked } = await run({ subjects: [subject] });
    assertEquals([form?.subject_token, form?.subject_token_type], [
      token,
      type,
    ]);
    assertEquals(asked.length, 1);
  }
});

Deno.test("crossAppFlow() discovers a named identity provider once, and again after a failure", async () => {
  const reply = idJagReply(await signIdJag());
  const down = () => new Response(null, { status: 503 });
  const configuration = json(metadataOf(IDP));
  for (
    const [idp, answers] of [
      [IDP, [configuration]],
      [new URL(IDP), [configuration]],
      [IDP, [down, configuration]],
    ] as const
  ) {
    using stub = stubFetch({
      [CONFIGURATION]: inTurn([...answers]),
      [`${IDP}/.well-known/openid-configuration`]: down,
      [`${IDP}/token`]: reply,
      [`${AS}/token`]: granted,
    });
    const authorize = crossAppFlow({
      idp,
      idpClient: publicClient("c-at-idp"),
      client: CLIENT,
      getSubjectToken: () => VALID,
    });
    const request = {
      context: contextOf(AS),
      scopes: [],
      fetch: stub.fetch,
      now: () => NOW * 1000,
    };
    if (answers.length > 1) {
      await assertRejectsCode(() => authorize(request), "discovery_failed");
      stub.requests.length = 0;
    }
    await authorize(request);
    await authorize(request);
    assertEquals(stub.urls, [
      ...[CONFIGURATION, `${IDP}/token`, `${AS}/token`],
      ...[`${IDP}/token`, `${AS}/token`],
    ]);
  }
});

Deno.test("crossAppFlow() fails where the server does not list the profile, and says what it lists", async () => {
  for (
    const [members, assumeProfile, message] of [
      [
        { authorization_grant_profiles_supported: ["urn:other"] },
        false,
        /\["urn:other"\]$/,
      ],
      // The server has said that it does not.
      [{ authorization_grant_profiles_supported: [] }, true, /is \[\]$/],
      [
        {
          authorization_grant_profiles_supported: undefined,
          grant_types_supported: [GRANT_TYPE_JWT_BEARER],
        },
        false,
        /jwt-bearer"\] \(set assumeProfile/,
      ],
      [
        { authorization_grant_profiles_supported: undefined },
        false,
        /"missing" \(set assumeProfile/,
      ],
    ] as const
  ) {
    const { error, hosts, asked } = await run({
      options: { assumeProfile },
      request: { context: contextOf(AS, members) },
    });
    assertEquals([error.code, hosts, asked], ["unsupported", [], []]);
    assertMatch(error.message, message);
    assertMatch(error.message, /grant-profile:id-jag/);
  }
  const { session } = await run({
    options: { assumeProfile: true },
    request: {
      context: contextOf(AS, {
        authorization_grant_profiles_supported: undefined,
      }),
    },
  });
  assertEquals(session.token.access_token, "a1");
});

Deno.test("crossAppFlow() redeems the kept ID-JAG again while it is valid, then fetches another", async () => {
  const assertion = await signIdJag({ jti: "kept" });
  const session = await keeping({ assertion });
  const valid = await run({ request: { session } });
  assertEquals([valid.hosts, valid.asked], [[AS_HOST], []]);
  assertEquals(valid.forms[0]?.assertion, assertion);
  assertEquals(valid.session.idJag, { assertion });

  const later = () => (NOW + 300) * 1000;
  const fresh = await signIdJag({ jti: "fresh", exp: NOW + 600 });
  const expired = await run({
    request: { session, now: later },
    idp: [idJagReply(fresh)],
  });
  assertEquals([expired.hosts, expired.asked], [[IDP_HOST, AS_HOST], [{}]]);
  assertEquals(expired.session.idJag, { assertion: fresh });
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
  for (
    const [answer, expected] of [
      [json({ error: "invalid_grant" }, { status: 503 }), "retry"],
      [json({ error: "invalid_client" }, { status: 401 }), "give_up"],
      [json({ error: "access_denied" }, { status: 403 }), "give_up"],
    ] as const
  ) {
    const { error, hosts } = await run({
      request: { session },
      server: [answer],
    });
    assertEquals([hosts, adviceFor(error).action], [[AS_HOST], expected]);
  }
});

Deno.test("crossAppFlow() does not use a kept ID-JAG for anything else than it was issued for", async () => {
  const assertion = await signIdJag();
  const rows: Record<string, Partial<IAuthorizeRequest>> = {
    "further scopes": { scopes: ["read", "write"] },
    "a sign-in anew": { isFresh: true },
    "another authentication": { acrValues: "mfa" },
    "a more recent authentication": { maxAge: 60 },
  };
  const session = await keeping({ assertion });
  for (const [name, request] of Object.entries(rows)) {
    const { hosts } = await run({ request: { session, ...request } });
    assertEquals(hosts, [IDP_HOST, AS_HOST], name);
  }
  const resource = `${MCP}/other`;
  const { hosts } = await run({
    request: { session: { ...session, resource } },
  });
  assertEquals(hosts, [IDP_HOST, AS_HOST], "another resource");
  // The resource by another name, or none: the ID-JAG is for the former one.
  for (const named of ["urn:inside", false] as const) {
    const { hosts, forms } = await run({
      options: { resource: named },
      request: { session },
      idp: [idJagReply(await signIdJag({ resource: named || undefined }))],
    });
    assertEquals(hosts, [IDP_HOST, AS_HOST], String(named));
    assertEquals(forms[0]?.resource, named || undefined);
  }
  const inside = { ...session, resourceIndicator: "urn:inside" };
  const kept = await run({
    options: { resource: "urn:inside" },
    request: { session: inside },
  });
  assertEquals(kept.hosts, [AS_HOST]);
});

Deno.test("crossAppFlow() sends an ID-JAG to no second server", async () => {
  const assertion = await signIdJag();
  const session = await keeping({ assertion });
  const other = await signIdJag({ aud: SECOND, jti: "second" });
  const { hosts, forms } = await run({
    options: { client: ANYWHERE },
    // As a resource does that moves, or lies.
    request: { session, context: contextOf(SECOND) },
    idp: [idJagReply(other)],
  });
  assertEquals(hosts, [IDP_HOST, new URL(SECOND).host]);
  assertEquals([forms[0]?.audience, forms[1]?.assertion], [SECOND, other]);
  // An identity provider that names another audience than the requested one.
  const { error, hosts: asked } = await run({
    options: { client: ANYWHERE },
    request: { context: contextOf(SECOND) },
    idp: [idJagReply(assertion)],
  });
  assertEquals([error.code, asked], ["invalid_id_jag", [IDP_HOST]]);
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
  for (
    const [code, action] of [
      ["access_denied", "give_up"],
      ["unauthorized_client", "give_up"],
      ["consent_required", "give_up"],
      ["invalid_target", "give_up"],
      ["invalid_scope", "give_up"],
      ["invalid_grant", "reauthorize"],
    ] as const
  ) {
    const { error, hosts, asked } = await run({
      idp: [json({ error: code }, { status: 400 })],
    });
    assertEquals([error.error, error.request], [code, "assertion"]);
    assertEquals([hosts, asked], [[IDP_HOST], [{}]], code);
    assertEquals(adviceFor(error).action, action, code);
  }
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
  assertEquals(session.idJag?.scope, "read admin");
  const again = await run({
    request: { session, scopes: ["read", "write"] },
  });
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

Deno.test("crossAppFlow() binds the ID-JAG and the token to the DPoP key", async () => {
  const dpop = await createDpop();
  const bound = await signIdJag({ cnf: { jkt: dpop.thumbprint } });
  const server = [json({ access_token: "a1", token_type: "DPoP" })];
  const request = { dpop };
  const { session } = await run({ request, server, idp: [idJagReply(bound)] });
  assertEquals(session.dpopThumbprint, dpop.thumbprint);
  // Without the claim, whoever has the ID-JAG could use it with any key.
  const { error, hosts } = await run({ request, server });
  assertEquals([error.code, hosts], ["invalid_id_jag", [IDP_HOST]]);
});

Deno.test("crossAppFlow() uses a client metadata document at any server", async () => {
  const url = "https://app.example/client.json";
  for (const issuer of [AS, SECOND]) {
    const { forms, session } = await run({
      options: { client: privateKeyJwt(url, PRIVATE_JWK) },
      request: { context: contextOf(issuer) },
      idp: [idJagReply(await signIdJag({ aud: issuer, client_id: url }))],
    });
    assertEquals(forms[1]?.client_id, url);
    assertMatch(forms[1]?.client_assertion ?? "", /^ey/);
    assertEquals([session.issuer, session.client.client_id], [issuer, url]);
  }
});

Deno.test("crossAppFlow() rejects an ID-JAG for another client", async () => {
  const reply = idJagReply(await signIdJag({ client_id: "other" }));
  const { error, hosts } = await run({ idp: [reply] });
  assertEquals([error.code, hosts], ["invalid_id_jag", [IDP_HOST]]);
});

Deno.test("crossAppFlow() sends credentials to the server that they belong to only", async () => {
  const { error, hosts, asked } = await run({
    request: { context: contextOf(SECOND) },
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
  const options = {
    idp: IDP,
    idpClient: publicClient("c"),
    client: CLIENT,
    getSubjectToken: () => VALID,
  };
  for (
    const wrong of [
      { idp: "idp" },
      { idp: undefined },
      { idpClient: undefined },
      { client: undefined },
      { client: clientSecretBasic("c", "s") },
      { getSubjectToken: VALID },
      { tokenParameters: "a=b" },
    ]
  ) {
    assertThrowsCode(
      () => crossAppFlow(untyped({ ...options, ...wrong })),
      "invalid_argument",
    );
  }
});
