/** What each event leaves in the memory of a fetch. */
import { assertEquals } from "@std/assert";
import { type IAsking, Memories, Memory } from "../../../lib/fetch/keeper/_session_memory.ts";
import type { INeed } from "../../../lib/fetch/policy/_need.ts";
import { MCP } from "../../support/fixtures.ts";
import { SESSION } from "../../support/resource.ts";

const asking: IAsking = { signInOn: "call" };
const url = new URL(MCP);
const api = { resource: url, apis: undefined };
const need: INeed = { reason: "refused", refused: "t0", mayRefresh: true };
const left = new Error("The user has left");
const first = { token: undefined, isWanted: false, state: "unknown" };
const refusal = new Response(null, { status: 401 });

/** Events, in their order, and what is remembered after each. */
const EVENTS: [name: string, event: (memory: Memory) => void, object][] = [
  ["nothing", () => {}, {}],
  ["a call lacks a session", (memory) => memory.lacks(asking, need), {}],
  [
    "the user leaves the sign-in",
    (memory) => memory.left(left, SESSION, need, api),
    { left },
  ],
  ["the user wants to sign in", (memory) => memory.wanted(), {}],
  [
    "the user signs in",
    (memory) =>
      memory.signedIn(asking, "t1", { isWanted: true, refused: "t0" }),
    { last: { token: "t1", isWanted: true, state: "unknown" } },
  ],
  [
    "the resource refuses the new token",
    (memory) => memory.responses.note("t1", refusal, { url, isNew: true }),
    {
      last: { token: "t1", isWanted: true, state: "unknown" },
      places: { [MCP]: { refused: "t1", doubt: "new" } },
    },
  ],
  [
    "the resource accepts it",
    (memory) =>
      memory.responses.note("t1", new Response(), { url, isNew: false }),
    {
      last: { token: "t1", isWanted: true, state: "accepted" },
      places: {
        [MCP]: {
          accepted: { token: "t1", isWanted: true, state: "accepted" },
          refused: undefined,
          doubt: undefined,
        },
      },
    },
  ],
];

Deno.test("Memory is told events, and answers by what they leave", () => {
  const memory = new Memory();
  for (const [name, event, expected] of EVENTS) {
    event(memory);
    assertEquals(memory.snapshot(), {
      ...{ left: undefined, revocations: 0, last: first, places: {} },
      ...expected,
    }, name);
  }
});

Deno.test("Memory forgets what the user and the calls had left once the session is revoked", () => {
  const memory = new Memory();
  memory.lacks(asking, need);
  memory.left(left, SESSION, need, api);
  const isRevoked = memory.watchRevocation();
  assertEquals([memory.leftWith(SESSION), isRevoked()], [left, false]);
  memory.revoked();
  assertEquals([memory.leftWith(SESSION), isRevoked()], [undefined, true]);
  assertEquals(memory.lackedBy(asking), undefined);
  assertEquals(memory.snapshot().revocations, 1);
});

Deno.test("Memories keeps the 1,000 sessions that were used last", () => {
  const memories = new Memories();
  const kept = memories.of("first");
  for (let n = 0; n < 999; n++) memories.of(`other ${n}`);
  assertEquals(memories.of("first") === kept, true);
  memories.of("one more");
  assertEquals(memories.of("first") === kept, true);
  const second = memories.of("other 1");
  for (let n = 0; n < 1000; n++) memories.of(`later ${n}`);
  assertEquals(memories.of("other 1") === second, false);
});
