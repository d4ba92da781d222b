/** A fetch without `authorize`: sessions of others are used and refreshed. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { memoryStore, OAuthClientError, type Session } from "../../mod.ts";
import { eachRowInTurn } from "../support/each_row.ts";
import { AS, MCP, pinRejected } from "../support/fixtures.ts";
import { resourceFetch, type Respond, SESSION } from "../support/resource.ts";

const TOKEN = `${AS}/token`;
const NOW = 1_000_000_000_000;
const { access_token, refresh_token } = SESSION.token;

/** A fetch without `authorize` at a resource that accepts `t2` only. */
function refreshOnly(session: Session | undefined, refresh: Respond) {
  const store = memoryStore(session);
  const respond: Respond = (received) =>
    received.url === TOKEN
      ? refresh(received)
      : received.headers.get("Authorization") === "Bearer t2"
      ? new Response("used")
      : new Response("refused", { status: 401 });
  const fetched = resourceFetch(respond, {
    flow: undefined,
    store,
    now: () => NOW,
  });
  return { ...fetched, store };
}

const renewed = () => Response.json({ access_token: "t2" });
const dead = () => Response.json({ error: "invalid_grant" }, { status: 400 });

Deno.test("createAuthorizedFetch() without authorize refreshes a session", async () => {
  const { api, urls } = refreshOnly(SESSION, renewed);
  assertEquals(await (await api(MCP)).text(), "used");
  assertEquals(urls, [MCP, TOKEN, MCP]);
  assertEquals((await api.signIn()).token.access_token, "t2");
});

Deno.test("createAuthorizedFetch() without authorize returns the 401 with its body", async () => {
  const { refresh_token: _, ...token } = SESSION.token;
  await eachRowInTurn(
    [
      [undefined, [MCP]],
      [{ ...SESSION, token }, [MCP]],
      [SESSION, [MCP, TOKEN]],
    ] as const,
    async ([session, urls]) => {
      const fetched = refreshOnly(session, dead);
      const response = await fetched.api(MCP);
      assertEquals([response.status, await response.text()], [401, "refused"]);
      assertEquals(fetched.urls, [...urls]);
      // The refresh token is refused for good.
      const expected = session === SESSION ? undefined : session?.token;
      assertEquals((await fetched.store.load())?.token, expected);
    },
  );
});

Deno.test("createAuthorizedFetch() without authorize does not send a token that has expired", async () => {
  const expires_at = NOW / 1000;
  const token = { access_token, token_type: "Bearer", expires_at };
  const plain = refreshOnly({ ...SESSION, token }, dead);
  await plain.api(MCP);
  const refreshable = { ...token, refresh_token };
  const refreshing = refreshOnly({ ...SESSION, token: refreshable }, dead);
  await refreshing.api(MCP);
  for (const { received } of [plain, refreshing]) {
    assertEquals(received.at(-1)!.headers.get("Authorization"), null);
  }
  // 20 seconds before that, it is.
  const soon = { ...token, expires_at: expires_at + 20 };
  const { api, received } = refreshOnly({ ...SESSION, token: soon }, dead);
  await api(MCP);
  const sent = received.map(({ headers }) => headers.get("Authorization"));
  assertEquals(sent, [`Bearer ${access_token}`]);
});

Deno.test("createAuthorizedFetch() without authorize rejects where a refresh may be possible later", async () => {
  for (const status of [503, 404]) {
    const { api, store } = refreshOnly(
      SESSION,
      () => new Response("", { status }),
    );
    const error = await assertRejects(() => api(MCP), OAuthClientError);
    assertEquals([error.code, error.status], ["unexpected_status", status]);
    assertEquals(await store.load(), SESSION);
  }
});

Deno.test("createAuthorizedFetch() without authorize closes the 401 where a refresh fails", async () => {
  let isClosed = false;
  const body = new ReadableStream({
    cancel() {
      isClosed = true;
    },
  });
  const { api } = resourceFetch(
    ({ url }) =>
      url === MCP
        ? new Response(body, { status: 401 })
        : new Response(null, { status: 503 }),
    { flow: undefined },
  );
  await assertRejects(() => api(MCP), OAuthClientError);
  assert(isClosed);
});

Deno.test("createAuthorizedFetch() without authorize deletes no session whose server refuses a client that the caller has named", async () => {
  const refused = () =>
    Response.json({ error: "invalid_client" }, { status: 401 });
  for (const isNamed of [true, false]) {
    const store = memoryStore(SESSION);
    const { api } = resourceFetch(
      ({ url }) =>
        url === TOKEN ? refused() : new Response("", { status: 401 }),
      {
        ...{ flow: undefined, store },
        ...(isNamed && {
          client: { issuer: AS, client_id: "c1", client_secret: "an old one" },
        }),
      },
    );
    const outcome = api(MCP);
    if (isNamed) {
      const { error } = await assertRejects(() => outcome, OAuthClientError);
      assertEquals(error, "invalid_client");
    } else assertEquals((await outcome).status, 401);
    assertEquals(await store.load(), isNamed ? SESSION : undefined);
  }
});

Deno.test("createAuthorizedFetch() without authorize uses a session that another process has stored", async () => {
  const { api, store, urls } = refreshOnly(undefined, dead);
  assertEquals((await api(MCP)).status, 401);
  const token = { access_token: "t2", token_type: "Bearer" };
  await store.save({ ...SESSION, token });
  assertEquals((await api(MCP)).status, 200);
  assertEquals(urls, [MCP, MCP]);
});

Deno.test("signIn() and renew() without authorize reject with unsupported if there is no session", async () => {
  const { api } = refreshOnly(SESSION, dead);
  const response = await api(MCP);
  for (
    const call of [
      () => api.signIn(),
      () => api.signIn({ fresh: true }),
      () => api.renew(response),
    ]
  ) {
    await pinRejected(call, "unsupported");
  }
});
