import { assertEquals } from "@std/assert";
import {
  buildAuthorizationUrl,
  findChallenge,
  stepUpParameters,
} from "../../../mod.ts";
import { assertInvalidArgument } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";

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
    [`${ERROR}, max_age="99999999999"`, {}],
    ['error="invalid_token", acr_values="a", max_age="300"', {}],
    ['acr_values="a", max_age="300"', {}],
  ];
  for (const [parameters, expected] of rows) {
    const challenge = findChallenge(`Bearer ${parameters}`);
    assertEquals<Record<string, string>>(
      stepUpParameters(challenge),
      expected,
      parameters,
    );
  }
  assertEquals(stepUpParameters(undefined), {});
});

Deno.test("stepUpParameters() returns parameters of an authorization request", () => {
  const url = buildAuthorizationUrl({
    issuer: "https://as.example",
    authorization_endpoint: "https://as.example/authorize",
    code_challenge_methods_supported: ["S256"],
  }, {
    clientId: "c1",
    redirectUri: "http://127.0.0.1/",
    state: "s",
    codeChallenge: "x",
    parameters: stepUpParameters(findChallenge(`DPoP ${ERROR}, max_age="9"`)),
  });
  assertEquals(url.searchParams.get("max_age"), "9");
});

Deno.test("stepUpParameters() rejects anything but a challenge", async () => {
  await assertInvalidArgument(
    () => Promise.resolve().then(() => stepUpParameters(untyped("Bearer"))),
    "challenge",
  );
});
