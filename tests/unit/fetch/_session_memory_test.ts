/** What each event leaves in the memory of a fetch. */
import { assertEquals } from "@std/assert";
import {
  Memories,
  SessionMemory,
} from "../../../lib/fetch/keeper/_session_memory.ts";
import type { Need } from "../../../lib/fetch/policy/_need.ts";
import type { PromptPolicy } from "../../../lib/fetch/policy/_decisions.ts";
import { MCP } from "../../support/fixtures.ts";
import { SESSION, SESSION_CLIENT } from "../../support/resource.ts";

const policy: PromptPolicy = { signInOn: "call" };
const url = new URL(MCP);
const api = { resource: url, apis: undefined };
const need: Need = { reason: "refused", refused: "t0", mayRefresh: true };
const abandoned = new Error("The user has left");
const { issuer, resource, client, scopes, token } = SESSION;
const identity = JSON.stringify([issuer, resource, client.client_id, scopes]);
const left = { error: abandoned, api, token: token.access_token, identity };
const rejection = new Response(null, { status: 401 });
const nothing = new SessionMemory().snapshot();
const signIn = { token: "t1", isUserInitiated: true } as const;

/** Events, in their order, and what is remembered after each. */
const EVENTS: [
  name: string,
  event: (memory: SessionMemory) => void,
  object,
][] = [
  ["nothing", () => {}, {}],
  ["a call lacks a session", (memory) => memory.needUnmet(policy, need), {}],
  [
    "the user abandons the sign-in",
    (memory) => memory.signInAbandoned(abandoned, SESSION, need, api),
    { abandoned: left },
  ],
  ["the same session is seen", (memory) => memory.sessionSeen(SESSION), {
    abandoned: left,
  }],
  ["a sign-in has a client", (memory) => memory.clientChosen(SESSION_CLIENT), {
    abandoned: left,
    client: SESSION_CLIENT,
  }],
  ["it fails", (memory) => memory.signInFailed(abandoned), {
    abandoned: left,
  }],
  ["the user asks for a sign-in", (memory) => memory.signInRequested(), {}],
  [
    "the user signs in",
    (memory) =>
      memory.signedIn(policy, "t1", { isUserInitiated: true, refused: "t0" }),
    { signIn: { ...signIn, state: "unknown" } },
  ],
  [
    "the resource rejects the new token",
    (memory) => memory.responded("t1", rejection, { url, isNew: true }),
    {
      signIn: { ...signIn, state: "unknown" },
      urls: new Map([[MCP, { rejected: "t1", verdict: "rejects_new" }]]),
    },
  ],
  [
    "the resource accepts it",
    (memory) => memory.responded("t1", new Response(), { url, isNew: false }),
    {
      signIn: { ...signIn, state: "accepted" },
      urls: new Map([[MCP, {
        accepted: { ...signIn, state: "accepted" },
        rejected: undefined,
        verdict: undefined,
      }]]),
    },
  ],
];

Deno.test("SessionMemory is told events, and answers by what they leave", () => {
  const memory = new SessionMemory();
  for (const [name, event, expected] of EVENTS) {
    event(memory);
    const { unmetNeeds: _, ...snapshot } = memory.snapshot() as SessionMemory;
    const { unmetNeeds: __, ...first } = nothing as SessionMemory;
    assertEquals(snapshot as object, { ...first, ...expected }, name);
  }
});

Deno.test("SessionMemory has no map before its first event", () => {
  for (const value of Object.values(nothing)) {
    const isMap = [Map, Set, WeakMap].some((one) => value instanceof one);
    assertEquals(isMap, false);
  }
});

Deno.test("SessionMemory forgets what the user and the calls had left once the session is revoked", () => {
  const memory = new SessionMemory();
  memory.needUnmet(policy, need);
  memory.signInAbandoned(abandoned, SESSION, need, api);
  assertEquals([memory.abandoned?.error, memory.revocations], [abandoned, 0]);
  memory.sessionRevoked();
  assertEquals([memory.abandoned, memory.revocations], [undefined, 1]);
  assertEquals(memory.unmetNeeds?.get(policy), undefined);
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
