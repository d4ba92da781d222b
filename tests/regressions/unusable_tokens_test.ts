/** Access tokens that no header field can hold: `fetch` throws, and quotes them. */
import { assert, assertEquals } from "@std/assert";
import { type ISession, memoryStore } from "../../mod.ts";
import { assertRejectsCode, MCP, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { resourceFetch, SESSION } from "../support/resource.ts";
import { shown } from "../support/shown.ts";
import { statusOf, untyped } from "../support/stub_fetch.ts";

const UNUSABLE: ISession = {
  ...SESSION,
  token: { ...SESSION.token, access_token: "s3cret\ns3cret" },
};

Deno.test("createAuthorizedFetch() heals a stored session with a token that no header field can hold", async () => {
  const { api, received } = resourceFetch(
    ({ url, headers }) =>
      url === TOKEN_ENDPOINT
        ? Response.json({ access_token: "a2" })
        : url === MCP && !headers.has("Authorization")
        ? new Response(null, { status: 401 })
        : undefined,
    { store: memoryStore(UNUSABLE) },
  );
  assertEquals(await statusOf(await api(MCP)), 200);
  const sent = received.map(({ headers }) => headers.get("Authorization"));
  assertEquals(sent, [null, null, "Bearer a2"]);
});

Deno.test("createAuthorizedFetch() accepts no session with such a token of the caller", async () => {
  const { api } = resourceFetch(() => undefined, {
    store: memoryStore(),
    authorize: () => Promise.resolve(UNUSABLE),
  });
  for (const call of [() => api.save(UNUSABLE), () => api.authorize()]) {
    const error = await assertRejectsCode(call, "invalid_argument");
    assert(!shown(error).includes("s3"), error.message);
  }
  assertEquals(await api.session(), undefined);
});

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
