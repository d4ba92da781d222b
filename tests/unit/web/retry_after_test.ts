/** What a server has put off, where each request has a store object of its own. */
import { assertEquals } from "@std/assert";
import { World } from "./_world.ts";

Deno.test("createWebSignIn() obeys Retry-After if storeOf returns another object for each request", async () => {
  const world: World = new World({
    storeOf: (id) => ({ ...world.storeOf(id) }),
  });
  const { servers } = world;
  const alice = world.browser();
  await alice.signIn();
  servers.advance(3600);
  const errors = new Set<unknown>();
  for (let n = 0; n < 10; n++) {
    const headers = { "Retry-After": "60" };
    servers.failNext("token", new Response(null, { status: 503, headers }));
    await alice.open("/api").catch((error) => errors.add(error.code));
  }
  assertEquals([...errors], ["unexpected_status"]);
  assertEquals(servers.received("token", "refresh_token").length, 1);
});
