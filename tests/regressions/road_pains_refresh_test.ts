/** What people suffer from when tokens are refreshed; the numbers are ROAD.md's. */

import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import {
  createSingleFlight,
  type IRefreshTokenOptions,
  type IToken,
  publicClient,
  refreshToken,
} from "../../mod.ts";
import { SERVER, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import {
  type Answer,
  failing,
  json,
  stubFetch,
  text,
} from "../support/stub_fetch.ts";

/** A server that rotates, and revokes the family when one is used twice. */
function rotating(): { answer: Answer; isAlive(): boolean } {
  let current = 1;
  let alive = true;
  return {
    isAlive: () => alive,
    answer({ body }) {
      const given = new URLSearchParams(body).get("refresh_token");
      alive &&= given === `r${current}`;
      return alive
        ? Response.json({ access_token: "t", refresh_token: `r${++current}` })
        : Response.json({ error: "invalid_grant" }, { status: 400 });
    },
  };
}

Deno.test("createSingleFlight() keeps a token family alive through a race (pain 12)", async () => {
  const server = rotating();
  using stubbed = stubFetch({ [TOKEN_ENDPOINT]: server.answer });
  const options: IRefreshTokenOptions = {
    fetch: stubbed.fetch,
    client: publicClient("c1"),
  };
  const singleFlight = createSingleFlight<IToken>();
  let token: IToken = {
    access_token: "t",
    token_type: "Bearer",
    refresh_token: "r1",
  };
  const refresh = () =>
    singleFlight("user-1", async () => {
      token = await refreshToken(SERVER, token, options);
      return token;
    });
  const fresh = await Promise.all([refresh(), refresh(), refresh()]);
  assertEquals(fresh.map((one) => one.refresh_token), ["r2", "r2", "r2"]);
  assertEquals(stubbed.requests.length, 1);
  assertEquals((await refresh()).refresh_token, "r3");
  assertEquals(server.isAlive(), true);

  // The same race without it, so that this server can kill at all.
  const race = [1, 2].map(() => refreshToken(SERVER, token, options));
  const outcomes = await Promise.allSettled(race);
  assertEquals(outcomes.map(({ status }) => status).sort(), [
    "fulfilled",
    "rejected",
  ]);
  assertEquals(server.isAlive(), false);
});

Deno.test("createSingleFlight() runs again after a failure, and apart for other keys (pain 12)", async () => {
  const singleFlight = createSingleFlight<number>();
  let runs = 0;
  const fail = () => Promise.reject(new Error(`Run ${++runs}`));
  for (const run of ["Run 1", "Run 2"]) {
    await assertRejects(() => singleFlight("a", fail), Error, run);
  }
  const [a, b] = await Promise.all(
    ["a", "b"].map((key) => singleFlight(key, () => Promise.resolve(++runs))),
  );
  assertNotEquals(a, b);
});

Deno.test("refreshToken() keeps the old refresh token, and tells invalid_grant from a bad line (pain 12)", async () => {
  const answers: [Answer, outcome: unknown[]][] = [
    [json({ access_token: "t" }), ["r1"]],
    [json({ access_token: "t", refresh_token: "r2" }), ["r2"]],
    [json({ error: "invalid_grant" }, { status: 400 }), [
      "oauth_error",
      "invalid_grant",
    ]],
    [failing(new TypeError("Cable cut")), ["network_error", undefined]],
    [text("", 503), ["unexpected_status", undefined]],
  ];
  for (const [answer, outcome] of answers) {
    using stubbed = stubFetch({ [TOKEN_ENDPOINT]: answer });
    const { fetch } = stubbed;
    const result = await refreshToken(SERVER, { refresh_token: "r1" }, {
      fetch,
    }).then(
      (token) => [token.refresh_token],
      (error) => [error.code, error.error],
    );
    assertEquals(result, outcome);
  }
});
