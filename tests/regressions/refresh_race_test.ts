/** Two refreshes with one refresh token can revoke all tokens (RFC 9700, section 4.14.2). */

import { assertEquals } from "@std/assert";
import {
  createSingleFlight,
  type IRefreshTokenOptions,
  type IToken,
  publicClient,
  refreshToken,
} from "../../mod.ts";
import { SERVER, TOKEN_ENDPOINT } from "../support/fixtures.ts";
import { type Answer, stubFetch } from "../support/stub_fetch.ts";

/** A server that rotates, and revokes all tokens when one is used twice. */
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

Deno.test("createSingleFlight() makes one refresh of several at the same time", async () => {
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

  // The same race without it, so that this server can revoke at all.
  const race = [1, 2].map(() => refreshToken(SERVER, token, options));
  const outcomes = await Promise.allSettled(race);
  assertEquals(outcomes.map(({ status }) => status).sort(), [
    "fulfilled",
    "rejected",
  ]);
  assertEquals(server.isAlive(), false);
});
