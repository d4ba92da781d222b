/** What is kept of the responses to tokens. */
import { assertEquals } from "@std/assert";
import {
  doubtAfter,
  TokenResponses,
} from "../../../lib/fetch/policy/_rejections.ts";
import { eachRow } from "../../support/each_row.ts";
import { MCP } from "../../support/fixtures.ts";

const at = (n: number | string) => new URL(`${MCP}/${n}?query`);
const refusal = new Response(null, { status: 401 });

Deno.test("TokenResponses keeps 100 URLs, and those that refuse each token among them", () => {
  const responses = new TokenResponses();
  responses.noteSignIn("t1");
  responses.note("t1", refusal, { url: at("admin"), isNew: true });
  responses.note("t1", new Response(), { url: at("open"), isNew: false });
  for (let n = 0; n < 1000; n++) {
    responses.note("t1", new Response(), { url: at(n), isNew: false });
  }
  assertEquals(responses.isFinal(at("admin")), true);
  const kept = Array.from({ length: 1000 }, (_, n) => n)
    .filter((n) => responses.mayAsk(at(n)));
  assertEquals([kept.length, kept[0]], [99, 901]);
});

Deno.test("TokenResponses does not count a challenge for another authentication as a refusal", () => {
  const responses = new TokenResponses();
  const challenge = 'Bearer error="insufficient_user_authentication"';
  const headers = { "WWW-Authenticate": challenge };
  responses.noteSignIn("t1");
  responses.note("t1", new Response(null, { status: 401, headers }), {
    url: at(1),
    isNew: true,
  });
  assertEquals([responses.isFinal(at(1)), responses.hasRefused("t1")], [
    false,
    false,
  ]);
});

Deno.test("TokenResponses counts the token of a sign-in as lost, not as refused, after a response such as 404", () => {
  eachRow([[404, true], [304, true], [502, false]], ([status, isLost]) => {
    const responses = new TokenResponses();
    const response = new Response(null, { status: Number(status) });
    responses.noteSignIn("t1");
    responses.note("t1", response, { url: at(1), isNew: true });
    responses.note("t1", refusal, { url: at(1), isNew: false });
    assertEquals(responses.mayAsk(at(1)), isLost);
  });
});

Deno.test("TokenResponses keeps 100 URLs, also if more refuse each token", () => {
  const responses = new TokenResponses();
  responses.noteSignIn("t1");
  for (let n = 0; n < 1000; n++) {
    responses.note("t1", refusal, { url: at(n), isNew: true });
  }
  // Until now, the token could have been one that no URL accepts.
  responses.note("t1", new Response(null, { status: 404 }), {
    url: at("open"),
    isNew: false,
  });
  const kept = Array.from({ length: 1000 }, (_, n) => n)
    .filter((n) => responses.isFinal(at(n)));
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
  Deno.test(`TokenResponses expects a URL to accept the token that the user wished for if it refused another: ${what}`, () => {
    // Also where another URL has accepted the token in the meantime.
    for (const isAccepted of [false, true]) {
      const responses = new TokenResponses();
      for (const [token, response] of before) {
        responses.note(token, response, { url: at(1), isNew: false });
      }
      responses.noteSignIn("t2", true, "t1");
      assertEquals(responses.isFinal(at(1)), false);
      if (isAccepted) {
        responses.note("t2", new Response(), { url: at(2), isNew: false });
      }
      responses.note("t2", refusal, { url: at(1), isNew: false });
      assertEquals(responses.isFinal(at(1)), isFinal);
      assertEquals(responses.mayAsk(at(1)), !isFinal);
    }
  });
}

Deno.test("TokenResponses expects a URL that has refused each token to accept the one that the user wished for", () => {
  const responses = new TokenResponses();
  responses.noteSignIn("t1");
  responses.note("t1", refusal, { url: at(1), isNew: true });
  for (const token of ["t2", "t3"]) {
    responses.noteSignIn(token, true);
    assertEquals(responses.isFinal(at(1)), false);
    responses.note(token, refusal, { url: at(1), isNew: false });
    assertEquals(responses.isFinal(at(1)), true);
  }
  responses.note("t3", new Response(), { url: at(1), isNew: false });
  assertEquals(responses.isFinal(at(1)), false);
});

Deno.test("TokenResponses expects of a refreshed token less than of the one that the user wished for", () => {
  const responses = new TokenResponses();
  responses.note("t1", refusal, { url: at(1), isNew: false });
  responses.noteSignIn("t2", true, "t1");
  responses.note("f2", refusal, { url: at(1), isNew: true });
  assertEquals(responses.isFinal(at(1)), false);
});

Deno.test("TokenResponses expects no other token to help where a new one was refused, once it is accepted elsewhere", () => {
  const responses = new TokenResponses();
  for (const isNew of [true, false]) {
    responses.note("f1", refusal, { url: at(1), isNew });
  }
  assertEquals(responses.isFinal(at(1)), false);
  responses.note("f1", new Response(), { url: at(2), isNew: false });
  assertEquals(responses.isFinal(at(1)), true);
  // It refuses the token, which is valid all the same.
  responses.note("f1", refusal, { url: at(1), isNew: false });
  assertEquals(responses.hasRefused("f1"), false);
});

const NO_WISH = { token: "t2", isWanted: false, state: "unknown" } as const;
const WISH = { ...NO_WISH, isWanted: true } as const;
const SEEN = { state: "valid" } as const;
const PLACE = { refused: "t1" } as const;

/** The token that is refused, what was known before, and the doubt that follows. */
const REFUSALS = [
  ["t3", {}, NO_WISH, false, undefined],
  ["t3", { doubt: "final" }, NO_WISH, false, "final"],
  ["t2", {}, NO_WISH, false, "final"],
  ["t2", PLACE, NO_WISH, false, "final"],
  ["t2", {}, { ...NO_WISH, ...SEEN }, false, undefined],
  ["t2", {}, WISH, false, "new"],
  ["t2", PLACE, WISH, false, "final"],
  ["t2", PLACE, { ...WISH, ...SEEN }, false, "final"],
  ["t2", { refused: "t2" }, { ...WISH, ...SEEN }, false, undefined],
  ["t3", PLACE, WISH, false, undefined],
  ["t3", PLACE, NO_WISH, true, "new"],
  ["t3", { refused: "t3", doubt: "new" }, NO_WISH, false, "new"],
  ["t3", { ...PLACE, doubt: "new" }, NO_WISH, false, undefined],
] as const;

Deno.test("doubtAfter() returns what a refusal says of its place", () => {
  for (const row of REFUSALS) {
    const [token, place, last, isNew, expected] = row;
    const doubt = doubtAfter(token, place, { last, isNew });
    assertEquals(doubt, expected, JSON.stringify(row));
  }
});

Deno.test("TokenResponses counts the refreshes that were wanted until a click, a wanted sign-in or an accepted token", () => {
  const place = { url: at(1), isNew: false };
  const rows: [act: (responses: TokenResponses) => void, left: number][] = [
    [() => {}, 2],
    [(responses) => responses.noteRefresh("t2"), 2],
    [(responses) => responses.noteRefresh(undefined), 2],
    [(responses) => responses.noteSignIn("t3"), 2],
    [(responses) => responses.noteSignIn("t3", true), 0],
    [(responses) => void responses.note("t2", refusal, place), 2],
    [(responses) => void responses.note("t2", new Response(), place), 0],
    [(responses) => responses.noteClick(undefined), 0],
    [(responses) => responses.noteClick("t3"), 1],
  ];
  eachRow(rows, ([act, left]) => {
    const responses = new TokenResponses();
    responses.noteRefresh("t1");
    responses.noteRefresh("t2");
    act(responses);
    assertEquals(responses.refreshes, left);
  });
});
