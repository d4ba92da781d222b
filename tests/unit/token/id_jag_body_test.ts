import { assert, assertEquals } from "@std/assert";
import {
  buildIdJagExchangeBody,
  buildResourceRedemptionBody,
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
  TOKEN_TYPE_ID_JAG,
  TOKEN_TYPE_ID_TOKEN,
} from "../../../mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";

type Arguments = [
  clientId: string,
  clientSecret: string | undefined,
  token: string,
  resource: string | undefined,
  scopes: readonly string[],
];

const AUDIENCE = "https://as.example/ä b&c";

/** A builder, its arguments by name, and the parameters that it sends. */
interface IBuilder {
  name: string;
  build: (...args: Arguments) => URLSearchParams;
  call: (...args: never[]) => URLSearchParams;
  args: [name: string, kind: Kind][];
  right: unknown[];
  parameters: (token: string) => [name: string, value: string][];
}
type Kind = "string" | "optional string" | "strings";

const BUILDERS: IBuilder[] = [
  {
    name: "buildIdJagExchangeBody",
    build: (id, secret, token, ...rest) =>
      buildIdJagExchangeBody(id, secret, token, AUDIENCE, ...rest),
    call: buildIdJagExchangeBody,
    args: [
      ["clientId", "string"],
      ["clientSecret", "optional string"],
      ["idToken", "string"],
      ["audience", "string"],
      ["resource", "optional string"],
      ["scopes", "strings"],
    ],
    right: ["client", "secret", "token", "audience", "resource", ["scope"]],
    parameters: (token) => [
      ["grant_type", GRANT_TYPE_TOKEN_EXCHANGE],
      ["subject_token", token],
      ["subject_token_type", TOKEN_TYPE_ID_TOKEN],
      ["requested_token_type", TOKEN_TYPE_ID_JAG],
      ["audience", AUDIENCE],
    ],
  },
  {
    name: "buildResourceRedemptionBody",
    build: buildResourceRedemptionBody,
    call: buildResourceRedemptionBody,
    args: [
      ["clientId", "string"],
      ["clientSecret", "optional string"],
      ["idJag", "string"],
      ["resource", "optional string"],
      ["scopes", "strings"],
    ],
    right: ["client", "secret", "jag", "resource", ["scope"]],
    parameters: (token) => [
      ["grant_type", GRANT_TYPE_JWT_BEARER],
      ["assertion", token],
    ],
  },
];

const NO_STRING: unknown[] = [
  ...[true, 42, 1n, Symbol("HIDDEN"), {}, [], ["HIDDEN"], () => "HIDDEN"],
  ...[{ toString: () => "HIDDEN" }, new URL("https://HIDDEN.example")],
];
const WRONG: Record<Kind, [values: unknown[], expected: string]> = {
  "string": [[...NO_STRING, undefined, null, false, 0], "a string"],
  "optional string": [NO_STRING, "a string"],
  "strings": [[
    ...[undefined, null, 0, "HIDDEN", { length: 1, 0: "HIDDEN" }],
    ...[new Set(["HIDDEN"]), [42], [null], ["HIDDEN", {}], [["HIDDEN"]]],
  ], "an array of strings"],
};

for (const { name, build, call, args, right, parameters } of BUILDERS) {
  /** The parameters of these arguments, in the order of the literal contract. */
  const expected = (...[id, secret, token, resource, scopes]: Arguments) =>
    [
      ["client_id", id],
      ...(secret ? [["client_secret", secret]] : []),
      ...parameters(token),
      ...(resource ? [["resource", resource]] : []),
      ...(scopes.length > 0 ? [["scope", scopes.join(" ")]] : []),
    ] as [string, string][];

  Deno.test(`${name}() returns the parameters in order, without the optional ones that are empty`, () => {
    for (const secret of ["s", "", undefined]) {
      for (const resource of ["r", "", undefined]) {
        for (const scopes of [["b", "a", "b"], []]) {
          const given: Arguments = ["c", secret, "t", resource, scopes];
          const body = build(...given);
          assert(body instanceof URLSearchParams);
          assertEquals([...body], expected(...given));
        }
      }
    }
  });

  Deno.test(`${name}() sends strings as they are, empty ones as well`, () => {
    const given: Arguments = ["", "", "", "", Object.freeze(["", "x y", '"'])];
    assertEquals([...build(...given)], expected(...given));
    assertEquals(build("", "", "", "", [""]).get("scope"), "");
  });

  for (const [place, [argument, kind]] of args.entries()) {
    Deno.test(`${name}() rejects a wrong ${argument} without quoting it`, () => {
      const [values, wanted] = WRONG[kind];
      for (const value of values) {
        const error = assertThrowsCode(
          () => call(...right.with(place, value) as never[]),
          "invalid_argument",
        );
        assertEquals(error.message, `${argument} must be ${wanted}`);
      }
    });
  }
}
