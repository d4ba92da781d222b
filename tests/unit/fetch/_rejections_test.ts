/** What is kept of the memory to tokens. */
import { assertEquals } from "@std/assert";
import { SessionMemory } from "../../../lib/fetch/keeper/_session_memory.ts";
import type { PromptPolicy } from "../../../lib/fetch/policy/_decisions.ts";
import {
  isGivenUp,
  isTokenRejected,
  mayLeadToSignIn,
  verdictAfter,
} from "../../../lib/fetch/policy/_rejections.ts";
import { eachRow } from "../../support/each_row.ts";
import { MCP } from "../../support/fixtures.ts";

const at = (n: number | string) => new URL(`${MCP}/${n}?query`);
const policy: PromptPolicy = { signInOn: "call" };
const refusal = new Response(null, { status: 401 });

Deno.test("SessionMemory keeps 100 URLs, and those that refuse each token among them", () => {
  const memory = new SessionMemory();
  memory.signedIn(policy, "t1");
  memory.responded("t1", refusal, { url: at("admin"), isNew: true });
  memory.responded("t1", new Response(), { url: at("open"), isNew: false });
  for (let n = 0; n < 1000; n++) {
    memory.responded("t1", new Response(), { url: at(n), isNew: false });
  }
  assertEquals(isGivenUp(memory, at("admin")), true);
  const kept = Array.from({ length: 1000 }, (_, n) => n)
    .filter((n) => mayLeadToSignIn(memory, at(n)));
  assertEquals([kept.length, kept[0]], [99, 901]);
});

Deno.test("SessionMemory does not count a challenge for another authentication as a refusal", () => {
  const memory = new SessionMemory();
  const challenge = 'Bearer error="insufficient_user_authentication"';
  const headers = { "WWW-Authenticate": challenge };
  memory.signedIn(policy, "t1");
  memory.responded("t1", new Response(null, { status: 401, headers }), {
    url: at(1),
    isNew: true,
  });
  assertEquals([isGivenUp(memory, at(1)), isTokenRejected(memory, "t1")], [
    false,
    false,
  ]);
});

Deno.test("SessionMemory counts the token of a sign-in as lost, not as refused, after a response such as 404", () => {
  eachRow([[404, true], [304, true], [502, false]], ([status, isLost]) => {
    const memory = new SessionMemory();
    const response = new Response(null, { status: Number(status) });
    memory.signedIn(policy, "t1");
    memory.responded("t1", response, { url: at(1), isNew: true });
    memory.responded("t1", refusal, { url: at(1), isNew: false });
    assertEquals(mayLeadToSignIn(memory, at(1)), isLost);
  });
});

Deno.test("SessionMemory keeps 100 URLs, also if more refuse each token", () => {
  const memory = new SessionMemory();
  memory.signedIn(policy, "t1");
  for (let n = 0; n < 1000; n++) {
    memory.responded("t1", refusal, { url: at(n), isNew: true });
  }
  // Until now, the token could have been one that no URL accepts.
  memory.responded("t1", new Response(null, { status: 404 }), {
    url: at("open"),
    isNew: false,
  });
  const kept = Array.from({ length: 1000 }, (_, n) => n)
    .filter((n) => isGivenUp(memory, at(n)));
  assertEquals([kept.length, kept.at(-1)], [100, 99]);
});

const NOT_FOUND = new Response(null, { status: 404 });
const BEFORE: [
  what: string,
  before: [token: string, response: Response][],
  isFinal: boolean,
][] = [
  ["nothing", [], false],
  ["the token that it replaces", [["t1", refusal]], true],
  ["it, before a 404", [["t1", refusal], ["t1", NOT_FOUND]], false],
  ["an earlier token", [["t0", refusal]], false],
];

for (const [what, before, isFinal] of BEFORE) {
  Deno.test(`SessionMemory expects a URL to accept the token that the user wished for if it refused another: ${what}`, () => {
    // Also where another URL has accepted the token in the meantime.
    for (const isAccepted of [false, true]) {
      const memory = new SessionMemory();
      for (const [token, response] of before) {
        memory.responded(token, response, { url: at(1), isNew: false });
      }
      memory.signedIn(policy, "t2", { isUserInitiated: true, refused: "t1" });
      assertEquals(isGivenUp(memory, at(1)), false);
      if (isAccepted) {
        memory.responded("t2", new Response(), { url: at(2), isNew: false });
      }
      memory.responded("t2", refusal, { url: at(1), isNew: false });
      assertEquals(isGivenUp(memory, at(1)), isFinal);
      assertEquals(mayLeadToSignIn(memory, at(1)), !isFinal);
    }
  });
}

Deno.test("SessionMemory expects a URL that has refused each token to accept the one that the user wished for", () => {
  const memory = new SessionMemory();
  memory.signedIn(policy, "t1");
  memory.responded("t1", refusal, { url: at(1), isNew: true });
  for (const token of ["t2", "t3"]) {
    memory.signedIn(policy, token, { isUserInitiated: true });
    assertEquals(isGivenUp(memory, at(1)), false);
    memory.responded(token, refusal, { url: at(1), isNew: false });
    assertEquals(isGivenUp(memory, at(1)), true);
  }
  memory.responded("t3", new Response(), { url: at(1), isNew: false });
  assertEquals(isGivenUp(memory, at(1)), false);
});

Deno.test("SessionMemory expects of a refreshed token less than of the one that the user wished for", () => {
  const memory = new SessionMemory();
  memory.responded("t1", refusal, { url: at(1), isNew: false });
  memory.signedIn(policy, "t2", { isUserInitiated: true, refused: "t1" });
  memory.responded("f2", refusal, { url: at(1), isNew: true });
  assertEquals(isGivenUp(memory, at(1)), false);
});

Deno.test("SessionMemory expects no other token to help where a new one was refused, once it is accepted elsewhere", () => {
  const memory = new SessionMemory();
  for (const isNew of [true, false]) {
    memory.responded("f1", refusal, { url: at(1), isNew });
  }
  assertEquals(isGivenUp(memory, at(1)), false);
  memory.responded("f1", new Response(), { url: at(2), isNew: false });
  assertEquals(isGivenUp(memory, at(1)), true);
  // It refuses the token, which is valid all the same.
  memory.responded("f1", refusal, { url: at(1), isNew: false });
  assertEquals(isTokenRejected(memory, "f1"), false);
});

const NO_WISH = {
  token: "t2",
  isUserInitiated: false,
  state: "unknown",
} as const;
const WISH = { ...NO_WISH, isUserInitiated: true } as const;
const SEEN = { state: "valid" } as const;
const RECORD = { rejected: "t1" } as const;

/** The token that is rejected, what was known before, and the verdict that follows. */
const REFUSALS = [
  ["t3", {}, NO_WISH, false, undefined],
  ["t3", { verdict: "given_up" }, NO_WISH, false, "given_up"],
  ["t2", {}, NO_WISH, false, "given_up"],
  ["t2", RECORD, NO_WISH, false, "given_up"],
  ["t2", {}, { ...NO_WISH, ...SEEN }, false, undefined],
  ["t2", {}, WISH, false, "rejects_new"],
  ["t2", RECORD, WISH, false, "given_up"],
  ["t2", RECORD, { ...WISH, ...SEEN }, false, "given_up"],
  ["t2", { rejected: "t2" }, { ...WISH, ...SEEN }, false, undefined],
  ["t3", RECORD, WISH, false, undefined],
  ["t3", RECORD, NO_WISH, true, "rejects_new"],
  [
    "t3",
    { rejected: "t3", verdict: "rejects_new" },
    NO_WISH,
    false,
    "rejects_new",
  ],
  ["t3", { ...RECORD, verdict: "rejects_new" }, NO_WISH, false, undefined],
] as const;

Deno.test("verdictAfter() returns what a rejection says of its URL", () => {
  for (const row of REFUSALS) {
    const [token, record, signIn, isNew, expected] = row;
    const verdict = verdictAfter(token, record, { signIn, isNew });
    assertEquals(verdict, expected, JSON.stringify(row));
  }
});

Deno.test("SessionMemory counts the refreshes that were wanted until a click, a wanted sign-in or an accepted token", () => {
  const place = { url: at(1), isNew: false };
  const rows: [act: (memory: SessionMemory) => void, left: number][] = [
    [() => {}, 2],
    [(memory) => memory.refreshed("t2"), 2],
    [(memory) => memory.refreshed(undefined), 2],
    [(memory) => memory.signedIn(policy, "t3"), 2],
    [(memory) => memory.signedIn(policy, "t3", { isUserInitiated: true }), 0],
    [(memory) => memory.responded("t2", refusal, place), 2],
    [(memory) => memory.responded("t2", new Response(), place), 0],
    [(memory) => memory.clicked(undefined), 0],
    [(memory) => memory.clicked("t3"), 1],
  ];
  eachRow(rows, ([act, left]) => {
    const memory = new SessionMemory();
    memory.refreshed("t1");
    memory.refreshed("t2");
    act(memory);
    assertEquals(memory.refreshes.length, left);
  });
});
