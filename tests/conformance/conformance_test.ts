/** What `deno task conformance` counts as a success. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  choose,
  explain,
  hasPassed,
  type IOutcome,
  readList,
  toCells,
} from "../../scripts/conformance.ts";

function outcome(statuses: string[], more: Partial<IOutcome> = {}): IOutcome {
  return {
    scenario: "auth/one",
    revision: "2025-11-25",
    checks: statuses.map((status) => ({
      id: "an-id",
      description: "What is checked",
      status,
    })),
    success: true,
    complaint: "",
    report: "Output of the suite",
    ...more,
  };
}

Deno.test("readList() returns the authorization scenarios only", () => {
  const list = `Client scenarios (test against a client):
  - tools_call [2025-06-18,2025-11-25]
  - auth/2025-03-26-fallback [2025-03-26]
  - auth/dpop [extension]
`;
  assertEquals(readList(list), ["auth/2025-03-26-fallback", "auth/dpop"]);
});

Deno.test("choose() completes names, returns all without names, and rejects others", () => {
  const all = ["auth/a", "auth/b"];
  assertEquals(choose(all, []), all);
  assertEquals(choose(all, ["b", "auth/a"]), ["auth/b", "auth/a"]);
  assertThrows(() => choose(all, ["a", "c"]), Error, "auth/c");
});

Deno.test("hasPassed() requires a success, and no failure or warning", () => {
  assert(hasPassed(outcome(["SUCCESS", "INFO"])));
  assert(!hasPassed(outcome(["SUCCESS", "FAILURE"])));
  assert(!hasPassed(outcome(["SUCCESS", "WARNING"])));
  assert(!hasPassed(outcome(["INFO"])), "nothing was checked");
  assert(!hasPassed(outcome([])), "the scenario was skipped");
  assert(!hasPassed(outcome(["SUCCESS"], { success: false })));
});

Deno.test("hasPassed() rejects a client that stopped with anything but an error code", () => {
  const complaint = "issuer_mismatch: Authorization response is not from x";
  assert(hasPassed(outcome(["SUCCESS"], { complaint })));
  const broken = "TypeError: x is not a function\n    at client.ts:1:1";
  assert(!hasPassed(outcome(["SUCCESS"], { complaint: broken })));
});

Deno.test("toCells() counts checks and names the client's error code", () => {
  assertEquals(
    toCells(
      outcome(["SUCCESS", "INFO", "SUCCESS"], { complaint: "code: why" }),
    ),
    ["auth/one", "2025-11-25", "2", "0", "0", "passed (client: code)"],
  );
  assertEquals(
    toCells(outcome(["SUCCESS", "WARNING"])),
    ["auth/one", "2025-11-25", "1", "0", "1", "FAILED"],
  );
});

Deno.test("explain() prints the failed checks, else the output of the suite", () => {
  assertEquals(
    explain(outcome(["SUCCESS", "FAILURE"], { complaint: "a\nb\n" })),
    `auth/one failed:
  FAILURE an-id: What is checked
  The client:
    a
    b`,
  );
  assertEquals(
    explain(outcome([], { success: false })),
    `auth/one failed:
  The suite:
    Output of the suite`,
  );
});
