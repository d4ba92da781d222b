/** A refresh accepts an ID token for the same user only. */

import { assertEquals, assertRejects } from "@std/assert";
import {
  memoryStore,
  refreshSession,
  type Session,
  type StoredSession,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  assertRejectsCode,
  MCP,
  pinRejected,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import { resourceFetch, SESSION } from "../../support/resource.ts";

const NOW = 1_000_000;
const now = () => NOW * 1000;

const CLAIMS = {
  iss: AS,
  sub: "ada",
  aud: "c1",
  iat: NOW - 5_000,
  exp: NOW - 4_000,
  auth_time: NOW - 5_100,
  nonce: "n1",
};
const EARLIER = unverifiedJwt(CLAIMS);
const FRESH = { ...CLAIMS, iat: NOW, exp: NOW + 1_000, nonce: undefined };

function sessionWith(id_token: string | undefined): Session {
  const token = { ...SESSION.token, ...(id_token && { id_token }) };
  return { ...SESSION, token };
}

async function refresh(earlier: string | undefined, id_token: unknown) {
  const answer = { access_token: "a2", id_token };
  return await refreshSession(sessionWith(earlier), {
    now,
    fetch: () => Promise.resolve(Response.json(answer)),
  });
}

Deno.test("refreshSession() accepts an ID token for the same user", async () => {
  const rows: [original: object, fresh: object][] = [
    [{}, {}],
    [{}, { nonce: "n1" }],
    [{ auth_time: undefined, nonce: undefined }, { nonce: "n2" }],
    [{}, { auth_time: undefined }],
    [{}, { aud: ["c1"] }],
    [{ aud: ["c1", "x"], azp: "c1" }, { aud: ["x", "c1"], azp: "c1" }],
    [{}, { name: "Ada", email: "ada@as.example" }],
  ];
  await eachRowInTurn(rows, async ([original, fresh]) => {
    const idToken = unverifiedJwt({ ...FRESH, ...fresh });
    const earlier = unverifiedJwt({ ...CLAIMS, ...original });
    assertEquals((await refresh(earlier, idToken)).token.id_token, idToken);
  });
});

Deno.test("refreshSession() checks no ID token where there is nothing to compare it with", async () => {
  const rows = [
    // The same one again, which has expired.
    [EARLIER, EARLIER],
    ["opaque", "another"],
    ["a.b.c.d.e", "f.g.h.i.j"],
    [unverifiedJwt({ sub: "ada" }), unverifiedJwt(FRESH)],
  ];
  await eachRowInTurn(rows, async ([earlier, fresh]) => {
    assertEquals((await refresh(earlier, fresh)).token.id_token, fresh);
  });
});

Deno.test("refreshSession() adds no ID token to a session that has none", async () => {
  for (const fresh of [unverifiedJwt(FRESH), "opaque"]) {
    const { token } = await refresh(undefined, fresh);
    assertEquals([token.access_token, token.id_token], ["a2", undefined]);
  }
});

const REFUSED: [problem: string, claims: Record<string, unknown>][] = [
  ["sub", { sub: "eve" }],
  ["sub", { sub: undefined }],
  ["sub", { sub: ["ada"] }],
  ["iss", { iss: "https://evil.example" }],
  ["aud", { aud: "c2" }],
  ["aud", { aud: ["c1", "c2"], azp: "c1" }],
  ["aud", { aud: undefined }],
  ["azp", { azp: "c2" }],
  ["auth_time", { auth_time: NOW }],
  ["nonce", { nonce: "n2" }],
  ["nonce", { nonce: ["n1", "n1"] }],
  ["iat", { iat: NOW + 60 }],
  ["iat", { iat: undefined }],
  ["expired", { exp: NOW - 60 }],
  ["at_hash", { at_hash: "x" }],
];

for (const [problem, claims] of REFUSED) {
  Deno.test(`refreshSession() refuses an ID token by its ${problem}: ${JSON.stringify(claims)}`, async () => {
    const idToken = unverifiedJwt({ ...FRESH, ...claims });
    const call = () => refresh(EARLIER, idToken);
    await pinRejected(call, "invalid_id_token");
  });
}

Deno.test("refreshSession() refuses an ID token that is no JWT, where the session has one", async () => {
  const call = () => refresh(EARLIER, "opaque");
  await assertRejectsCode(call, "invalid_id_token");
});

Deno.test("createAuthorizedFetch() has the user sign in after a refresh for another user, and uses none of its tokens", async () => {
  const session = sessionWith(EARLIER);
  const store = memoryStore(session);
  const answer = {
    access_token: "a-token-of-eve",
    refresh_token: "r2",
    id_token: unverifiedJwt({ ...FRESH, sub: "eve" }),
  };
  let stored: StoredSession | null | undefined;
  let isLeft = true;
  const { api, received } = resourceFetch(({ url, headers }) => {
    if (url.endsWith("/token")) return Response.json(answer);
    const isAccepted = headers.get("Authorization") === "Bearer a3";
    if (url !== MCP || isAccepted) return undefined;
    return new Response(null, { status: 401 });
  }, {
    ...{ store, now },
    async flow() {
      stored = await store.load();
      if (isLeft) throw new Error("Not now");
      const token = { access_token: "a3", token_type: "Bearer" };
      return { ...SESSION, token };
    },
  });
  await assertRejects(() => api(MCP), Error, "Not now");
  isLeft = false;
  assertEquals((await api(MCP)).status, 200);
  // The server may take a second use of the refresh token for theft.
  const { token: _, ...left } = session;
  assertEquals(stored, left);
  const refreshes = received.filter(({ body }) =>
    body.includes("refresh_token")
  );
  assertEquals(refreshes.length, 1);
  const sent = received.map(({ headers }) => headers.get("Authorization"));
  assertEquals(sent.includes("Bearer a-token-of-eve"), false);
});
