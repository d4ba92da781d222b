/** Clicks on a button that calls `signIn()`, while the API refuses what refreshes bring. */
import { assertEquals } from "@std/assert";
import { memoryStore, type Session } from "../../../mod.ts";
import { MCP, SERVER } from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";
import { statusOf } from "../../support/stub_fetch.ts";

/**
 * An API that moves to another authorization server, while the former one goes on
 * refreshing: `/admin` refuses each token, and other paths those of the former server.
 */
function movingApi() {
  const state = { hasMoved: false, seconds: 0, prompts: 0 };
  const store = memoryStore();
  let issued = 0;
  const issue = (server: string) => ({
    access_token: `${server}${++issued}`,
    refresh_token: `r${issued}`,
    token_type: "Bearer",
    expires_in: 60,
  });
  const signedIn = (server: string): Session => {
    const expires_at = state.seconds + 60;
    return { ...SESSION, token: { ...issue(server), expires_at } };
  };
  const { api } = resourceFetch(({ url, headers }) => {
    if (url === SERVER.token_endpoint) return Response.json(issue("old"));
    if (!url.startsWith(MCP)) return undefined;
    const server = state.hasMoved ? "Bearer new" : "Bearer old";
    const isAccepted = !url.endsWith("/admin") &&
      headers.get("Authorization")?.startsWith(server);
    return new Response(null, { status: isAccepted ? 200 : 401 });
  }, {
    now: () => state.seconds * 1000,
    store,
    flow: () => {
      state.prompts++;
      return Promise.resolve(signedIn(state.hasMoved ? "new" : "old"));
    },
  });
  const call = (path: string) => statusOf(api(MCP + path));
  /** Another process has refreshed the session. */
  const refreshElsewhere = () => store.save(signedIn("old"));
  return { api, call, state, refreshElsewhere };
}

for (const isAccepted of [true, false]) {
  const before = isAccepted ? "has accepted" : "has never accepted";
  Deno.test(`signIn() prompts the user at the second click if an API that ${before} tokens refuses what the first one has refreshed`, async () => {
    const { api, call, state, refreshElsewhere } = movingApi();
    // It refuses the token of a sign-in: calls lead to no other sign-in.
    assertEquals(await call("/admin"), 401);
    if (isAccepted) assertEquals(await call("/a"), 200);
    else await refreshElsewhere();
    Object.assign(state, { hasMoved: true, seconds: 90 });
    for (const status of [401, 200]) {
      await api.signIn();
      assertEquals(await call("/b"), status);
    }
    assertEquals(state.prompts, 2);
  });
}
