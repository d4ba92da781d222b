/** What a web server remembers of a session, although each request has another store. */
import { assertEquals } from "@std/assert";
import { Memories } from "../../../lib/fetch/keeper/_session_memory.ts";
import { skipSaveWaits } from "../../support/timers.ts";
import { World } from "./_world.ts";

Deno.test("createWebSignIn() obeys Retry-After in later requests", async () => {
  const world = new World();
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

Deno.test("createWebSignIn() remembers in later requests that an API refuses the tokens of a user", async () => {
  const world = new World();
  const { servers } = world;
  const [alice, bob] = [world.browser(), world.browser()];
  await alice.signIn();
  await bob.signIn();
  world.change = (response) =>
    response.url === servers.resource
      ? new Response(null, { status: 401 })
      : response;
  for (let n = 0; n < 10; n++) {
    assertEquals((await alice.open("/api")).status, 401);
  }
  assertEquals(servers.received("token", "refresh_token").length, 1);
  // Nothing is known of the session of another user.
  assertEquals((await bob.open("/api")).status, 401);
  assertEquals(servers.received("token", "refresh_token").length, 2);
});

Deno.test("createWebSignIn() uses a session in later requests that could not be saved, and signs out of it", async () => {
  using _waits = skipSaveWaits();
  let isFull = false;
  const world: World = new World({
    storeOf: (id) => {
      const store = world.storeOf(id);
      const save = (session: Parameters<typeof store.save>[0]) =>
        isFull ? Promise.reject(new Error("full")) : store.save(session);
      return { ...store, save };
    },
  });
  const { servers } = world;
  const alice = world.browser();
  await alice.signIn();
  servers.advance(3600);
  isFull = true;
  for (let n = 0; n < 3; n++) assertEquals(await alice.isSignedIn(), true);
  assertEquals(servers.received("token", "refresh_token").length, 1);
  isFull = false;
  assertEquals((await alice.signOut()).status, 303);
  assertEquals(servers.accessTokens(), []);
});

Deno.test("Memories keeps the thousand sessions that were used last", () => {
  const memories = new Memories();
  const [first, second] = [memories.of("0"), memories.of("1")];
  for (let n = 2; n < 1_000; n++) memories.of(String(n));
  assertEquals(memories.of("0") === first, true);
  memories.of("1000");
  assertEquals(memories.of("0") === first, true);
  assertEquals(memories.of("1") === second, false);
});
