/** A step-up requests the authentication that its challenge names. */

import { assertEquals } from "@std/assert";
import { findChallenge } from "../../../mod.ts";
import { stepUpParameters } from "../../../lib/core/_step_up.ts";

const ERROR = 'error="insufficient_user_authentication"';

Deno.test("stepUpParameters() returns what the challenge requires, as strings", () => {
  const rows: [parameters: string, expected: Record<string, string>][] = [
    [`${ERROR}, acr_values="a b", max_age="300"`, {
      acr_values: "a b",
      max_age: "300",
    }],
    [`${ERROR}, max_age=0`, { max_age: "0" }],
    [`${ERROR}, acr_values="a"`, { acr_values: "a" }],
    [ERROR, {}],
    [`${ERROR}, acr_values="", max_age=""`, {}],
    [`${ERROR}, max_age="-1"`, {}],
    [`${ERROR}, max_age="1.5"`, {}],
    [`${ERROR}, max_age="999999999"`, { max_age: "999999999" }],
    [`${ERROR}, max_age="1000000000"`, {}],
    [`${ERROR}, acr_values=" "`, {}],
    ['error="invalid_token", acr_values="a", max_age="300"', {}],
    ['acr_values="a", max_age="300"', {}],
  ];
  for (const [parameters, expected] of rows) {
    const challenge = findChallenge(`Bearer ${parameters}`);
    assertEquals<Record<string, string>>(
      stepUpParameters(challenge!),
      expected,
      parameters,
    );
  }
});
