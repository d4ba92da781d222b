import { assertEquals, assertRejects } from "@std/assert";
import {
  createDpop,
  type ISession,
  OAuthClientError,
  privateKeyJwt,
  refreshSession,
  revokeSession,
} from "../../../mod.ts";
import {
  assertRejectsCode,
  CODE_SERVER,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { json, stubFetch, text } from "../../support/stub_fetch.ts";
import { SESSION as RESOURCE_SESSION } from "../../support/resource.ts";

const REVOKE = CODE_SERVER.revocation_endpoint!;
const SESSION: ISession = {
  ...RESOURCE_SESSION,
  serverMetadata: CODE_SERVER,
  token: {
    access_token: "a1",
    token_type: "Bearer",
    refresh_token: "r1",
    scope: "read",
    id_token: "i1",
    expires_in: 10,
    expires_at: 10,
    custom: 1,
  },
  scopes: ["read", "write"],
};

Deno.test("refreshSession() keeps what the response leaves out", async () => {
  using stub = stubFetch({
    [TOKEN_ENDPOINT]: json({ access_token: "a2", expires_in: 60 }),
  });
  const before = JSON.stringify(SESSION);
  const session = await refreshSession(SESSION, {
    fetch: stub.fetch,
    now: () => 100_000,
  });
  assertEquals(session, {
    ...SESSION,
    token: {
      access_token: "a2",
      token_type: "Bearer",
      refresh_token: "r1",
      scope: "read",
      id_token: "i1",
      expires_in: 60,
      expires_at: 160,
    },
  });
  assertEquals(JSON.stringify(SESSION), before);
  assertEquals(
    stub.requests[0]!.body,
    "grant_type=refresh_token&refresh_token=r1&" +
      "resource=https%3A%2F%2Fapi.example%2Fmcp&client_id=c1",
  );
});

Deno.test("refreshSession() drops scopes that are a token of the session", async () => {
  const former = { access_token: "former-token", id_token: "former-id-token" };
  const scope = `read ${former.access_token} ${former.id_token}`;
  using stub = stubFetch({
    [TOKEN_ENDPOINT]: json({ access_token: "a2", scope }),
  });
  const { token } = await refreshSession(
    { ...SESSION, token: { ...SESSION.token, ...former } },
    { fetch: stub.fetch },
  );
  assertEquals(token.scope, "read");
});

Deno.test("refreshSession() leaves the resource out for a session that omits it", async () => {
  using stub = stubFetch({ [TOKEN_ENDPOINT]: json({ access_token: "a2" }) });
  const session: ISession = { ...SESSION, omitResource: true };
  const fresh = await refreshSession(session, { fetch: stub.fetch });
  assertEquals(fresh.omitResource, true);
  assertEquals(
    new URLSearchParams(stub.requests[0]!.body).has("resource"),
    false,
  );
});

Deno.test("refreshSession() uses credentials that are not stored", async () => {
  using stub = stubFetch({ [TOKEN_ENDPOINT]: json({ access_token: "a2" }) });
  const { privateKey } = await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    false,
    ["sign", "verify"],
  );
  const client = privateKeyJwt("c1", privateKey, { issuer: SESSION.issuer });
  await refreshSession(SESSION, { fetch: stub.fetch, client });
  const form = new URLSearchParams(stub.requests[0]!.body);
  assertEquals(form.get("client_assertion")?.split(".").length, 3);
});

Deno.test("refreshSession() fails without a request if the token is bound to another key", async () => {
  using stub = stubFetch({});
  const { fetch } = stub;
  const [dpop, other] = await Promise.all([createDpop(), createDpop()]);
  const bound = { ...SESSION, dpopThumbprint: dpop.thumbprint };
  for (
    const [session, options] of [
      [bound, { fetch, dpop: other }],
      [bound, { fetch }],
      [SESSION, { fetch, dpop }],
    ] as const
  ) {
    await assertRejectsCode(
      () => refreshSession(session, options),
      "invalid_argument",
    );
  }
});

Deno.test("refreshSession() fails without a refresh token", async () => {
  const { refresh_token: _, ...token } = SESSION.token;
  const session = { ...SESSION, token: token as ISession["token"] };
  await assertRejectsCode(() => refreshSession(session), "invalid_argument");
});

Deno.test("revokeSession() revokes the refresh token, then the access token", async () => {
  using stub = stubFetch({ [REVOKE]: text("", 200) });
  await revokeSession(SESSION, { fetch: stub.fetch });
  assertEquals(stub.requests.map(({ body }) => body), [
    "token=r1&token_type_hint=refresh_token&client_id=c1",
    "token=a1&token_type_hint=access_token&client_id=c1",
  ]);
});

Deno.test("revokeSession() skips tokens that are missing or of an unsupported type", async () => {
  using stub = stubFetch({
    [REVOKE]: json({ error: "unsupported_token_type" }, { status: 400 }),
  });
  await revokeSession(SESSION, { fetch: stub.fetch });
  assertEquals(stub.requests.length, 2);
  const token = { access_token: "", token_type: "Bearer" };
  await revokeSession({ ...SESSION, token }, { fetch: stub.fetch });
  assertEquals(stub.requests.length, 2);
});

Deno.test("revokeSession() tries both tokens, and fails with the first other error", async () => {
  for (const [first, second] of [[503, 500], [503, 200], [200, 503]] as const) {
    const statuses = [first, second];
    const sent: string[] = [];
    const error = await assertRejects(
      () =>
        revokeSession(SESSION, {
          fetch: (_url, { body }) => {
            sent.push(new URLSearchParams(body).get("token")!);
            const status = statuses[sent.length - 1]!;
            return Promise.resolve(new Response("", { status }));
          },
        }),
      OAuthClientError,
    );
    assertEquals([error.status, sent], [503, ["r1", "a1"]]);
  }
});

Deno.test("revokeSession() fails if the server has no revocation endpoint", async () => {
  using stub = stubFetch({});
  const { fetch } = stub;
  const { revocation_endpoint: _, ...serverMetadata } = SESSION.serverMetadata;
  await assertRejectsCode(
    () => revokeSession({ ...SESSION, serverMetadata }, { fetch }),
    "unsupported",
  );
});
