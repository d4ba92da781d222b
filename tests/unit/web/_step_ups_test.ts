/**
 * A response of an API leads to a sign-in, and never to one after the other without
 * end.
 */

import { assertEquals } from "@std/assert";
import { type Browser, World } from "./_world.ts";

const locationOf = ({ headers }: Response) => headers.get("Location");

/** Opens a page, and follows redirects; returns how many visits it took. */
async function open(world: World, browser: Browser): Promise<number> {
  for (let visits = 0; visits < 50; visits++) {
    const response = await browser.open("/notes");
    const location = locationOf(response);
    if (location === null) return visits;
    const back = new URL(await world.servers.receiver.visit(location));
    assertEquals((await browser.open(back.pathname + back.search)).status, 303);
  }
  throw new Error("The redirects are endless");
}

/** Has the API refuse each call. */
function refusing(challenge: () => string, status = 401) {
  const world = new World({}, {
    handle: () =>
      new Response(null, {
        status,
        headers: { "WWW-Authenticate": challenge() },
      }),
  });
  return { world, browser: world.browser() };
}

Deno.test("loginFor() redirects for no response of a URL outside of the API", async () => {
  const world = new World();
  const browser = world.browser();
  const request = new Request(`${world.options.origin}/notes`, {
    headers: browser.headers(),
  });
  const { resource } = world.servers;
  for (
    const [url, isFor] of [[resource, true], [`${resource}x`, false]] as const
  ) {
    const response = new Response(null, {
      status: 401,
      headers: { "WWW-Authenticate": "Bearer" },
    });
    Object.defineProperty(response, "url", { value: url });
    const login = await world.signIn.loginFor(request, response);
    assertEquals(login !== undefined, isFor, url);
  }
});

Deno.test("onEvent hears of a step-up, and of no other sign-in as one", async () => {
  const stepUps: unknown[] = [];
  const world = new World({
    onEvent: (event) => void (event.type === "step_up" && stepUps.push(event)),
  });
  const browser = world.browser();
  await browser.signIn();
  assertEquals(stepUps, []);
  world.servers.requiredScopes = ["write"];
  assertEquals(await open(world, browser), 1);
  assertEquals(stepUps.length, 1);
});

Deno.test("loginFor() requests the same authentication once, if the API does not accept it", async () => {
  const { world, browser } = refusing(() =>
    'Bearer error="insufficient_user_authentication", acr_values="mfa"'
  );
  await browser.signIn();
  assertEquals(await open(world, browser), 1);
  // An API that takes longer than browsers need for redirects.
  world.servers.advance(3000);
  assertEquals(await open(world, browser), 0);
  // The user signs in anew.
  await browser.signIn();
  assertEquals(await open(world, browser), 1);
});

Deno.test("loginFor() requests an authentication again that has become too old", async () => {
  const { world, browser } = refusing(() =>
    'Bearer error="insufficient_user_authentication", max_age="300"'
  );
  await browser.signIn();
  assertEquals(await open(world, browser), 1);
  world.servers.advance(290);
  assertEquals(await open(world, browser), 0);
  world.servers.advance(12);
  assertEquals(await open(world, browser), 1);
  // One of a second is not: it would be too old at each response.
  const other = refusing(() =>
    'Bearer error="insufficient_user_authentication", max_age="1"'
  );
  await other.browser.signIn();
  assertEquals(await open(other.world, other.browser), 1);
  other.world.servers.advance(20);
  assertEquals(await open(other.world, other.browser), 0);
});

Deno.test("loginFor() ends although a slow API refuses each token", async () => {
  const { world, browser } = refusing(() => {
    world.servers.advance(20);
    return "Bearer";
  });
  await browser.signIn();
  assertEquals(await open(world, browser), 1);
  // Later, a sign-in may help.
  world.servers.advance(60);
  assertEquals(await open(world, browser), 1);
  // After it, an authentication may be required that was required before.
  let isRefused = false;
  const again: ReturnType<typeof refusing> = refusing(() => {
    again.world.servers.advance(20);
    return isRefused
      ? "Bearer"
      : 'Bearer error="insufficient_user_authentication", acr_values="a"';
  });
  await again.browser.signIn();
  assertEquals(await open(again.world, again.browser), 1);
  isRefused = true;
  assertEquals(await open(again.world, again.browser), 1);
  isRefused = false;
  assertEquals(await open(again.world, again.browser), 1);
  // Nor does it end another loop's count.
  const both: ReturnType<typeof refusing> = refusing(() => {
    both.world.servers.advance(20);
    return both.world.servers.received("authorization").length % 2 === 1
      ? "Bearer"
      : 'Bearer error="insufficient_user_authentication", acr_values="a"';
  });
  await both.browser.signIn();
  assertEquals(await open(both.world, both.browser), 2);
});

Deno.test("loginFor() requests a sign-in after a step-up, although one of an hour ago was for the same", async () => {
  let challenge = "Bearer";
  const { world, browser } = refusing(() => {
    world.servers.advance(12);
    return challenge;
  });
  await browser.signIn();
  assertEquals(await open(world, browser), 1);
  world.servers.advance(3000);
  challenge =
    'Bearer error="insufficient_user_authentication", acr_values="mfa"';
  assertEquals(await open(world, browser), 1);
  challenge = "Bearer";
  assertEquals(await open(world, browser), 1);
  assertEquals(await open(world, browser), 0);
});

Deno.test("loginFor() ends although the API requires other scopes each time", async () => {
  let count = 0;
  const { world, browser } = refusing(
    () => `Bearer error="insufficient_scope", scope="s${count++}"`,
    403,
  );
  await browser.signIn();
  assertEquals(await open(world, browser), 8);
  let turn = 0;
  const both = refusing(() =>
    turn++ % 2 === 0
      ? 'Bearer error="insufficient_user_authentication", acr_values="a"'
      : 'Bearer error="insufficient_user_authentication", acr_values="b"'
  );
  await both.browser.signIn();
  assertEquals(await open(both.world, both.browser), 2);
});
