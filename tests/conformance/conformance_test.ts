/** What the table of `deno task conformance` calls a success, and what not. */
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
    report: "What the suite says",
    ...more,
  };
}

Deno.test("readList() takes the authorization scenarios only", () => {
  const list = `Client scenarios (test against a client):
  - tools_call [2025-06-18,2025-11-25]
  - auth/2025-03-26-fallback [2025-03-26]
  - auth/dpop [extension]
`;
  assertEquals(readList(list), ["auth/2025-03-26-fallback", "auth/dpop"]);
});

Deno.test("choose() completes names, takes all for none, refuses others", () => {
  const all = ["auth/a", "auth/b"];
  assertEquals(choose(all, []), all);
  assertEquals(choose(all, ["b", "auth/a"]), ["auth/b", "auth/a"]);
  assertThrows(() => choose(all, ["a", "c"]), Error, "auth/c");
});

Deno.test("hasPassed() wants successes and nothing else that counts", () => {
  assert(hasPassed(outcome(["SUCCESS", "INFO"])));
  assert(!hasPassed(outcome(["SUCCESS", "FAILURE"])));
  assert(!hasPassed(outcome(["SUCCESS", "WARNING"])));
  assert(!hasPassed(outcome(["INFO"])), "nothing was checked");
  assert(!hasPassed(outcome([])), "the scenario was skipped");
  assert(!hasPassed(outcome(["SUCCESS"], { success: false })));
});

Deno.test("hasPassed() tells a client that refused from one that broke", () => {
  const complaint = "issuer_mismatch: Authorization response is not from x";
  assert(hasPassed(outcome(["SUCCESS"], { complaint })));
  const broken = "TypeError: x is not a function\n    at client.ts:1:1";
  assert(!hasPassed(outcome(["SUCCESS"], { complaint: broken })));
});

Deno.test("toCells() counts checks and names the client's refusal", () => {
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

Deno.test("explain() shows the failed checks, else what the suite says", () => {
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
    What the suite says`,
  );
});
