/** How often `renew()` obtains another token. */
import { assertEquals } from "@std/assert";
import { memoryStore } from "../../../mod.ts";
import { MCP, SERVER } from "../../support/fixtures.ts";
import {
  resourceFetch,
  SESSION,
  unauthorizedAt,
} from "../../support/resource.ts";

/** A fetch whose server refreshes as often as it is asked to. */
function refreshing() {
  const state = { issued: 0, isAccepted: false };
  const { api } = resourceFetch(({ url }) => {
    if (url === SERVER.token_endpoint) {
      return Response.json({
        ...{ access_token: `t${++state.issued}`, token_type: "Bearer" },
        refresh_token: `r${state.issued}`,
      });
    }
    const status = state.isAccepted ? 200 : 401;
    return url === MCP ? new Response(null, { status }) : undefined;
  }, { flow: () => Promise.reject(new Error("asked")) });
  /** Renews for responses to requests of other code. */
  const renew = () =>
    api.renew(unauthorizedAt()).then(() => true, ({ code }) => code);
  return { api, state, renew };
}

for (
  const [what, end] of [
    ["a token is accepted", async ({ api, state }) => {
      state.isAccepted = true;
      await api(MCP);
    }],
    ["signIn()", ({ api }) => api.signIn()],
    ["save()", ({ api }) => api.save(SESSION)],
  ] satisfies [string, (world: ReturnType<typeof refreshing>) => unknown][]
) {
  Deno.test(`createAuthorizedFetch().renew() ends after three new tokens that nothing accepts, until ${what}`, async () => {
    const world = refreshing();
    const { renew, state } = world;
    for (const _ of [1, 2, 3]) assertEquals(await renew(), true);
    assertEquals(await renew(), "sign_in_required");
    assertEquals(state.issued, 3);
    await end(world);
    assertEquals(await renew(), true);
  });
}

Deno.test("createAuthorizedFetch().renew() does not count sessions of another process", async () => {
  let saved = 0;
  const inner = memoryStore(SESSION);
  const { api } = resourceFetch(undefined, {
    store: {
      ...inner,
      async load() {
        const session = await inner.load();
        const token = { ...SESSION.token, access_token: `other${++saved}` };
        await inner.save({ ...SESSION, token });
        return session;
      },
    },
  });
  for (let round = 0; round < 4; round++) {
    const { token } = await api.renew(unauthorizedAt());
    assertEquals(token.access_token.slice(0, 5), "other");
  }
});
