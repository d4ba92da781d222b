/** What `deno task conformance` counts as a success. */
import { assert } from "@std/assert";
import { hasPassed, type Outcome } from "../../scripts/conformance.ts";

function outcome(statuses: string[], more: Partial<Outcome> = {}): Outcome {
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
