/** A message is cleaned of what was sent, except in its own words and in origins. */

import { assertEquals, assertFalse } from "@std/assert";
import { errorOf, literal, words } from "../../../lib/http/_error.ts";
import { eachRow } from "../../support/each_row.ts";

const SECRET = "s3cret/of the+client";
const CONTEXT = { sent: [SECRET, { headers: { "X-Host": "api.example" } }] };

function messageOf(message: ReturnType<typeof words>): string {
  return errorOf(CONTEXT, "timeout", message).message;
}

Deno.test("errorOf() cleans what a message quotes, and leaves its words and origins", () => {
  const form = new URLSearchParams({ a: SECRET }).toString().slice(2);
  const rows: [message: ReturnType<typeof words>, expected: string][] = [
    [words`got ${SECRET}`, "got [redacted]"],
    [words`api.example got ${"api.example"}`, "api.example got [redacted]"],
    [words`${literal("api.example")} got ${404}`, "api.example got 404"],
    [
      words`from ${{ url: "https://api.example/api.example" }}`,
      "from https://api.example/[redacted]",
    ],
    [
      words`from ${{ url: new URL(`https://api.example?${form}`) }}`,
      "from https://api.example/?[redacted]",
    ],
    [words`got ${{ json: { a: [SECRET] } }}`, 'got {"a":["[redacted]"]}'],
    [words`a ${words`b ${SECRET} c`} d`, "a b [redacted] c d"],
  ];
  eachRow(rows, ([message, expected]) => {
    assertEquals(messageOf(message), expected);
  });
});

Deno.test("errorOf() changes nothing of text that is clean", () => {
  const once = messageOf(words`got ${`${SECRET} \u202e ${"x".repeat(1_900)}`}`);
  assertEquals(messageOf(words`${once}`), once);
});

Deno.test("errorOf() shows no part of a value that is divided where text is cut", () => {
  for (let length = 1_970; length < 2_010; length++) {
    const text = "x".repeat(length) + SECRET;
    for (const quoted of [text, { url: `https://a.example/${text}` }]) {
      const { message, url = "" } = errorOf(
        CONTEXT,
        "timeout",
        words`got ${quoted}`,
        { url: `https://a.example/${text}` },
      );
      // Fewer than 8 characters are not looked for.
      assertFalse(/s3cret\/o/.test(message + url), `${length}`);
    }
  }
});

Deno.test("errorOf() makes an error whose url and stack are clean", () => {
  const url = `https://api.example/${encodeURIComponent(SECRET)}`;
  const message = words`Request to ${{ url }} failed`;
  const error = errorOf(CONTEXT, "unexpected_status", message, {
    url,
    status: 404,
  });
  assertEquals([error.url, error.status], [
    "https://api.example/[redacted]",
    404,
  ]);
  assertFalse(`${error.stack}${JSON.stringify(error)}`.includes("s3cret"));
});
