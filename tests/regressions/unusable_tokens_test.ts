/** Access tokens that no header field can hold: `fetch` throws, and quotes them. */
import { assert, assertEquals } from "@std/assert";
import { type ISession, memoryStore } from "../../mod.ts";
import { assertRejectsCode, MCP, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { resourceFetch, SESSION } from "../support/resource.ts";
import { shown } from "../support/shown.ts";
import { statusOf, untyped } from "../support/stub_fetch.ts";

const UNUSABLE = [
  "s3cret\ns3cret",
  "s3cret-\u00fc",
  "s3cret-\u20ac",
  "s3 cret",
];

function sessionWith(access_token: string): ISession {
  return { ...SESSION, token: { ...SESSION.token, access_token } };
}

for (const access_token of UNUSABLE) {
  const name = JSON.stringify(access_token);
  Deno.test(`createAuthorizedFetch() stores no session with the token ${name} of a refresh`, async () => {
    const store = memoryStore(SESSION);
    const { api, received } = resourceFetch(
      ({ url }) =>
        url === TOKEN_ENDPOINT
          ? Response.json({ access_token, refresh_token: "r2" })
          : url === MCP
          ? new Response(null, { status: 401 })
          : undefined,
      { store },
    );
    const error = await api(MCP).catch((thrown) => thrown);
    // The user is asked, as the refresh was of no use.
    assertEquals(error.message, "A user is asked");
    assertEquals(await store.load(), SESSION);
    assert(received.length > 0);
  });

  Deno.test(`createAuthorizedFetch() heals a stored session with the token ${name}`, async () => {
    const { api, received } = resourceFetch(
      ({ url, headers }) =>
        url === TOKEN_ENDPOINT
          ? Response.json({ access_token: "a2" })
          : url === MCP && !headers.has("Authorization")
          ? new Response(null, { status: 401 })
          : undefined,
      { store: memoryStore(sessionWith(access_token)) },
    );
    assertEquals(await statusOf(await api(MCP)), 200);
    const sent = received.map(({ headers }) => headers.get("Authorization"));
    assertEquals(sent, [null, null, "Bearer a2"]);
  });

  Deno.test(`createAuthorizedFetch() accepts no session with the token ${name} of the caller`, async () => {
    const session = sessionWith(access_token);
    const { api } = resourceFetch(() => undefined, {
      store: memoryStore(),
      authorize: () => Promise.resolve(session),
    });
    for (const call of [() => api.save(session), () => api.authorize()]) {
      const error = await assertRejectsCode(call, "invalid_argument");
      assert(!shown(error).includes("s3"), error.message);
    }
    assertEquals(await api.session(), undefined);
  });
}

Deno.test("createAuthorizedFetch() uses a session whose refresh token is null as one without", async () => {
  const refresh_token = untyped(null);
  const token = { ...SESSION.token, refresh_token };
  const { api, received } = resourceFetch(() => undefined, {
    store: memoryStore({ ...SESSION, token }),
    onEvent() {},
  });
  assertEquals(await statusOf(api(MCP)), 200);
  const sent = received.map(({ headers }) => headers.get("Authorization"));
  assertEquals(sent, [`Bearer ${SESSION.token.access_token}`]);
});
