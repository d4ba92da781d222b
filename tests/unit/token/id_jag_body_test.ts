/** The bodies of both legs of cross-app access have their parameters in order. */

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
import { eachRow } from "../../support/each_row.ts";

const AUDIENCE = "https://as.example/ä b&c";

/** A builder, the names of its arguments, those in the middle, and what these send. */
type Row = [
  build: (...args: never[]) => URLSearchParams,
  names: string[],
  middle: string[],
  parameters: [name: string, value: string][],
];

const BUILDERS: Row[] = [
  [
    buildIdJagExchangeBody,
    ["clientId", "clientSecret", "idToken", "audience", "resource", "scopes"],
    ["t", AUDIENCE],
    [
      ["grant_type", GRANT_TYPE_TOKEN_EXCHANGE],
      ["subject_token", "t"],
      ["subject_token_type", TOKEN_TYPE_ID_TOKEN],
      ["requested_token_type", TOKEN_TYPE_ID_JAG],
      ["audience", AUDIENCE],
    ],
  ],
  [
    buildResourceRedemptionBody,
    ["clientId", "clientSecret", "idJag", "resource", "scopes"],
    ["t"],
    [["grant_type", GRANT_TYPE_JWT_BEARER], ["assertion", "t"]],
  ],
];

const NO_STRING: unknown[] = [
  ...[true, 42, 1n, Symbol("HIDDEN"), {}, [], ["HIDDEN"], () => "HIDDEN"],
  ...[{ toString: () => "HIDDEN" }, new URL("https://HIDDEN.example")],
];
const NO_STRINGS: unknown[] = [
  ...[undefined, null, 0, "HIDDEN", { length: 1, 0: "HIDDEN" }],
  ...[new Set(["HIDDEN"]), [42], [null], ["HIDDEN", {}], [["HIDDEN"]]],
];

for (const [build, names, middle, parameters] of BUILDERS) {
  Deno.test(`${build.name}() returns the parameters in order, without the optional ones that are empty`, () => {
    const rows: [args: unknown[], before: string[][], after: string[][]][] = [
      [
        ["c", "s", "r", Object.freeze(["b", "a", "b"])],
        [["client_id", "c"], ["client_secret", "s"]],
        [["resource", "r"], ["scope", "b a b"]],
      ],
      [["c", "", "", []], [["client_id", "c"]], []],
      [["c", undefined, undefined, []], [["client_id", "c"]], []],
      // Required ones are sent as they are.
      [["", "", "", [""]], [["client_id", ""]], [["scope", ""]]],
      [["", "", "", ["", "x y", '"']], [["client_id", ""]], [
        ["scope", ' x y "'],
      ]],
    ];
    eachRow(rows, ([[id, secret, ...rest], before, after]) => {
      const body = build(...[id, secret, ...middle, ...rest] as never[]);
      assert(body instanceof URLSearchParams);
      assertEquals<unknown>([...body], [...before, ...parameters, ...after]);
    });
    const empty = middle.map(() => "");
    const body = build(...["", "", ...empty, "", []] as never[]);
    assertEquals([...body.keys()], [
      "client_id",
      ...parameters.map(([name]) => name),
    ]);
  });

  for (const [place, name] of names.entries()) {
    Deno.test(`${build.name}() rejects a wrong ${name} without quoting it`, () => {
      const isOptional = name === "clientSecret" || name === "resource";
      const [wrong, wanted] = name === "scopes"
        ? [NO_STRINGS, "an array of strings"]
        : [NO_STRING, "a string"];
      const absent = isOptional ? [] : [undefined, null, false, 0];
      const right = ["c", "s", ...middle, "r", ["scope"]];
      for (const value of [...wrong, ...absent]) {
        const error = assertThrowsCode(
          () => build(...right.with(place, value as string) as never[]),
          "invalid_argument",
        );
        assertEquals(error.message, `${name} must be ${wanted}`);
      }
    });
  }
}
