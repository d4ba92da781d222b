/**
 * A refreshed session keeps what the response leaves out; a revoked one has both
 * tokens revoked.
 */

import { assertEquals, assertRejects } from "@std/assert";
import {
  createDpop,
  OAuthClientError,
  privateKeyJwt,
  refreshSession,
  revokeSession,
  type Session,
  type SessionOptions,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  assertRejectsCode,
  CODE_SERVER,
  createSigningKeys,
  MCP,
  TOKEN_ENDPOINT,
} from "../../support/fixtures.ts";
import { json, stubFetch, text } from "../../support/stub_fetch.ts";
import { SESSION as RESOURCE_SESSION } from "../../support/resource.ts";

const REVOKE = CODE_SERVER.revocation_endpoint!;
const SESSION: Session = {
  ...RESOURCE_SESSION,
  server: CODE_SERVER,
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
  const before = JSON.stringify(SESSION);
  const now = () => 100_000;
  const issued = { expires_in: 60 };
  const { fresh, form } = await refreshed(SESSION, issued, { now });
  assertEquals(fresh, {
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
  assertEquals(form, {
    ...{ grant_type: "refresh_token", refresh_token: "r1" },
    ...{ resource: MCP, client_id: "c1" },
  });
});

/** Refreshes at a server that issues a token: the session, and what was sent. */
async function refreshed(
  session: Session,
  issued: object = {},
  options: SessionOptions = {},
) {
  const token = json({ access_token: "a2", ...issued });
  using stub = stubFetch({ [TOKEN_ENDPOINT]: token });
  const { fetch } = stub;
  const fresh = await refreshSession(session, { fetch, ...options });
  return { fresh, form: stub.forms[0]! };
}

Deno.test("refreshSession() drops scopes that are a token of the session", async () => {
  const former = { access_token: "former-token", id_token: "former-id-token" };
  const scope = `read ${former.access_token} ${former.id_token}`;
  const session = { ...SESSION, token: { ...SESSION.token, ...former } };
  assertEquals((await refreshed(session, { scope })).fresh.token.scope, "read");
});

Deno.test("refreshSession() leaves the resource out for a session that omits it", async () => {
  const internal = { resourceIndicator: false };
  const { fresh, form } = await refreshed({ ...SESSION, internal });
  assertEquals([fresh.internal, form.resource], [internal, undefined]);
});

Deno.test("refreshSession() uses credentials that are not stored", async () => {
  const { privateKey } = await createSigningKeys();
  const client = privateKeyJwt("c1", privateKey, { issuer: SESSION.issuer });
  const { form } = await refreshed(SESSION, {}, { client });
  assertEquals(form.client_assertion?.split(".").length, 3);
});

Deno.test("refreshSession() fails without a request if the token is bound to another key", async () => {
  using stub = stubFetch({});
  const { fetch } = stub;
  const [dpop, other] = await Promise.all([createDpop(), createDpop()]);
  const bound = { ...SESSION, dpopThumbprint: dpop.thumbprint };
  const rows = [
    [bound, { fetch, dpop: other }],
    [bound, { fetch }],
    [SESSION, { fetch, dpop }],
  ] as const;
  for (const [session, options] of rows) {
    const refresh = () => refreshSession(session, options);
    await assertRejectsCode(refresh, "invalid_argument");
  }
});

Deno.test("refreshSession() fails without a refresh token", async () => {
  const { refresh_token: _, ...token } = SESSION.token;
  const session = { ...SESSION, token: token as Session["token"] };
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

Deno.test("revokeSession() is done if the server revokes the refresh token, or else the access token", async () => {
  const accessOnly = { access_token: "a1", token_type: "Bearer" };
  const none = { access_token: "", token_type: "Bearer" };
  // The tokens of a type that the server cannot revoke; and whether that is an error.
  await eachRowInTurn(
    [
      [SESSION.token, [], true],
      [SESSION.token, ["a1"], true],
      [SESSION.token, ["r1"], false],
      [SESSION.token, ["r1", "a1"], false],
      [accessOnly, [], true],
      [accessOnly, ["a1"], false],
      [none, ["a1"], true],
    ] as const,
    async ([token, unsupported, isDone]) => {
      using stub = stubFetch({
        [REVOKE]: (request) => {
          const { token } = stub.forms.at(-1)!;
          return unsupported.some((one) => one === token)
            ? json({ error: "unsupported_token_type" }, { status: 400 })(
              request,
            )
            : text("", 200)(request);
        },
      });
      const { fetch } = stub;
      const error = await revokeSession({ ...SESSION, token }, { fetch })
        .catch((error) => error);
      assertEquals(error?.error, isDone ? undefined : "unsupported_token_type");
      const { refresh_token, access_token } = token as Session["token"];
      const sent = [refresh_token, access_token].filter(Boolean);
      assertEquals(stub.forms.map(({ token }) => token), sent);
    },
  );
});

Deno.test("revokeSession() tries both tokens, and fails with the first other error", async () => {
  await eachRowInTurn(
    [[503, 500], [503, 200], [200, 503]] as const,
    async ([first, second]) => {
      const statuses = [first, second];
      using stub = stubFetch({
        [REVOKE]: (request) => text("", statuses.shift()!)(request),
      });
      const revoke = () => revokeSession(SESSION, { fetch: stub.fetch });
      const { status } = await assertRejects(revoke, OAuthClientError);
      assertEquals(status, 503);
      assertEquals(stub.forms.map(({ token }) => token), ["r1", "a1"]);
    },
  );
});

Deno.test("revokeSession() fails if the server has no revocation endpoint", async () => {
  using stub = stubFetch({});
  const { fetch } = stub;
  const { revocation_endpoint: _, ...serverMetadata } = SESSION.server;
  const call = () =>
    revokeSession({ ...SESSION, server: serverMetadata }, { fetch });
  await assertRejectsCode(call, "unsupported");
});
