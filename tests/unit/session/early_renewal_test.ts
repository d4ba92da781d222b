/** Renewals of a token that is about to expire, and still valid. */
import { assertEquals, assertRejects } from "@std/assert";
import { memoryStore, OAuthClientError, type Session } from "../../../mod.ts";
import { MCP, TOKEN_ENDPOINT } from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";
import { statusOf } from "../../support/stub_fetch.ts";
import { turn } from "../../support/within.ts";

const { refresh_token } = SESSION.token;

/** A session whose token expires in 20 seconds. */
const soon = (members: Partial<Session["token"]> = {}): Session => ({
  ...SESSION,
  token: {
    ...{ access_token: "t1", token_type: "Bearer" },
    ...{ expires_in: 3600, expires_at: 20, ...members },
  },
});

Deno.test("createAuthorizedFetch() signs in for a valid token without a refresh token by signIn() only, or if no user is needed", async () => {
  for (const needsUser of [true, false]) {
    const token = { access_token: "t2", token_type: "Bearer" };
    const signIn = () => Promise.resolve({ ...SESSION, token });
    const { api, received } = resourceFetch(undefined, {
      now: () => 0,
      tokenRequired: true,
      store: memoryStore(soon()),
      flow: Object.assign(signIn, { needsUser }),
    });
    const sent = async () => {
      await statusOf(api(MCP));
      return received.at(-1)?.headers.get("Authorization");
    };
    assertEquals(await sent(), needsUser ? "Bearer t1" : "Bearer t2");
    await api.signIn();
    assertEquals(await sent(), "Bearer t2");
  }
});

Deno.test("createAuthorizedFetch() sends no token of a session that is revoked while its early renewal fails", async () => {
  const store = memoryStore(soon({ refresh_token }));
  const { api, urls } = resourceFetch(async ({ url }) => {
    if (url !== TOKEN_ENDPOINT) return undefined;
    await store.save(undefined);
    return new Response(null, { status: 503 });
  }, { store, now: () => 0 });
  await assertRejects(() => api(MCP), OAuthClientError);
  assertEquals(urls, [TOKEN_ENDPOINT]);
});

Deno.test("createAuthorizedFetch() tries an early renewal that fails once, while the store is slow or cannot be read", async () => {
  const inner = memoryStore(soon({ refresh_token }));
  let next: (() => Promise<void>) | undefined;
  let refreshes = 0;
  const { api, urls } = resourceFetch(({ url }) => {
    if (url !== TOKEN_ENDPOINT) return undefined;
    if (++refreshes > 1) return new Response(null, { status: 503 });
    // What the next read of the store leads to.
    next = async () => {
      next = undefined;
      assertEquals(await statusOf(api(MCP)), 200);
      throw new Error("down");
    };
    return new Response(null, { status: 503 });
  }, {
    now: () => 0,
    store: {
      ...inner,
      load: async () => {
        await next?.();
        return await inner.load();
      },
    },
  });
  assertEquals(await statusOf(api(MCP)), 200);
  await turn();
  assertEquals(urls, [TOKEN_ENDPOINT, MCP, MCP]);
});
