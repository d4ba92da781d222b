/** The secret values that were sent are found, and left out of text that is shown. */

import { assert, assertEquals } from "@std/assert";
import { printableWithout, quote } from "../../../lib/core/_quote.ts";
import { cleanErrorResponse, secretsOf } from "../../../lib/http/_redact.ts";
import { cpuTimeMs } from "../../support/cpu_time.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";

const form = (code: string) => new URLSearchParams({ code }).toString();
const basic = (pair: string) => `Basic ${btoa(pair)}`;

// secrets_test.ts has each encoding of a value.
const HEADERS: [name: string, value: string, secrets: string[]][] = [
  ["Authorization", "Bearer t0ken-01", ["t0ken-01", "Bearer t0ken-01"]],
  ["authorization", "Bearer  t0ken-01", ["t0ken-01"]],
  ["Proxy-Authorization", "t0ken-01", ["t0ken-01"]],
  ["Authorization", basic("c1:s3cret%2B1"), ["s3cret%2B1", "s3cret+1"]],
  ["Authorization", basic("c1:abc:long/value"), ["abc:long/value"]],
  ["Authorization", basic("c1:100%secret"), ["100%secret", "c1:100%secret"]],
  ["Cookie", "a=first-01; b=second=2", ["first-01", "second=2"]],
  ["X-Gateway-Credential", "key-of-mine", ["key-of-mine"]],
  ["X-Session", "sess-0042", ["sess-0042"]],
];
const BODIES: [body: string, secrets: string[]][] = [
  ["pre-authorized_code=first-01&otp=12345678", ["first-01", "12345678"]],
  ["code=first-01&code=second-2", ["first-01", "second-2"]],
  ['{"software_statement":"eyJhbGciOi.x.y"}', ["eyJhbGciOi.x.y"]],
];

Deno.test("secretsOf() returns the values of header fields and of a body", () => {
  const rows = [
    ...HEADERS.map(([name, value, expected]) =>
      [secretsOf({ [name]: value }), expected] as const
    ),
    ...BODIES.map(([body, expected]) =>
      [secretsOf({}, body), expected] as const
    ),
  ];
  eachRow(rows, ([secrets, expected]) => {
    for (const secret of expected) assert(secrets.includes(secret), secret);
  });
});

Deno.test("secretsOf() leaves out what is public or shorter than 8 characters", () => {
  const value = "public-value";
  const headers = [
    "Accept",
    "accept-language",
    "Content-Type",
    "User-Agent",
    "MCP-Protocol-Version",
  ];
  const parameters = [
    ...["grant_type", "scope", "resource", "client_id", "redirect_uri"],
    ...["audience", "subject_token_type"],
  ];
  for (const name of headers) assertEquals(secretsOf({ [name]: value }), []);
  for (const name of parameters) {
    assertEquals(secretsOf({}, `${name}=${value}`), []);
  }
  const registration = {
    client_name: value,
    redirect_uris: [value],
    token_endpoint_auth_method: value,
  };
  assertEquals(secretsOf({}, JSON.stringify(registration)), []);
  assertEquals(secretsOf({ Cookie: "1234567" }, "code=1234567"), []);
});

Deno.test("secretsOf() decodes no Basic credentials that are not Base64", () => {
  assertEquals(secretsOf({ Authorization: "Basic (no)" }), [
    "Basic (no)",
    "Basic%20(no)",
    "Basic+%28no%29",
  ]);
});

Deno.test("quote() replaces each of several values, the longer first", () => {
  const secrets = secretsOf({ Cookie: "a=first-01; b=first-01-longer" });
  assertEquals(
    quote("first-01 first-01-longer first-01-longer-still", secrets),
    "[redacted] [redacted] [redacted]-still",
  );
});

Deno.test("quote() cuts to 2,000 characters, and shows no part of a value", () => {
  const secrets = ["s3cret-value"];
  for (const length of [1_980, 1_990, 1_999, 2_000, 2_005, 2_011]) {
    for (const total of [2_001, 2_012, 2_013, 5_000]) {
      const start = "s3cret-value".repeat(10) + "x".repeat(length - 120);
      const shown = quote(`${start}s3cret-value`.padEnd(total), secrets);
      assert(shown.startsWith("[redacted]".repeat(10) + "xxx"), shown);
      assert(!shown.includes("s3"), shown);
    }
  }
  // A part of what is quoted may have been cut before.
  assertEquals(
    quote(quote("x".repeat(1_990) + "s3cret-value"), secrets),
    `${"x".repeat(1_990)}[redacted]\u2026`,
  );
  assertEquals(quote("[redacted", ["redacted-01"]), "[[redacted]");
  assertEquals(quote("x".repeat(3_000), []), `${"x".repeat(2_000)}\u2026`);
  assertEquals(quote("a\u0007b", []), "a\ufffdb");
});

Deno.test("printableWithout() removes control and bidi characters, and keeps other languages", () => {
  assertEquals(
    printableWithout([], "\u001b[2J\u202eGr\u00fc\u00dfe\n \u4e16"),
    "[2JGr\u00fc\u00dfe  \u4e16",
  );
  assertEquals(printableWithout([], undefined), undefined);
  assertEquals(printableWithout([], "x".repeat(3_000))?.length, 2_000);
  assertEquals(printableWithout(["Bearer t0ken-01"], "Bearer"), "Bearer");
  const divided = [..."s3cret-value"].join("\u200e".repeat(190));
  assertEquals(printableWithout(["s3cret-value"], divided), undefined);
});

Deno.test("cleanErrorResponse() leaves out tokens, and strings with a secret at any depth", () => {
  const secrets = secretsOf({}, "code=1234567890&client_id=c1");
  const members = {
    error: "invalid_grant",
    access_token: "t",
    refresh_token: "t",
    id_token: "t",
    error_description: "The code 1234567890",
    "code=1234567890": "",
    received: { code: 1234567890, others: ["1234567890", 7, null, true] },
    client: "c1",
    deep: { deeper: { deepest: ["The code 1234567890"], access_token: "t" } },
  };
  assertEquals(
    cleanErrorResponse(members, JSON.stringify(members), secrets),
    untyped({
      error: "invalid_grant",
      received: { others: [null, 7, null, true] },
      client: "c1",
      deep: { deeper: { deepest: [null] } },
    }),
  );
});

Deno.test("cleanErrorResponse() returns undefined for what is large, no object or not read as text", () => {
  for (const json of [undefined, null, "x", 7, [{}]]) {
    assertEquals(cleanErrorResponse(json, "", []), undefined);
  }
  assertEquals(cleanErrorResponse({ a: 1 }, undefined, []), undefined);
  assertEquals(cleanErrorResponse({ a: 1 }, "x".repeat(16_384), []), { a: 1 });
  assertEquals(cleanErrorResponse({ a: 1 }, "x".repeat(16_385), []), undefined);
  const deep = `{"a":${"[".repeat(8_000)}${"]".repeat(8_000)}}`;
  cleanErrorResponse(JSON.parse(deep), deep, []);
});

Deno.test("quote() needs no long time for many secrets, or text that nearly holds one", () => {
  const cookies = Array.from(
    { length: 200 },
    (_, n) => `c${n}=${crypto.randomUUID()}`,
  );
  const rows: [secrets: string[], text: string][] = [
    [secretsOf({ Cookie: cookies.join("; ") }), "Not found"],
    [secretsOf({ Cookie: cookies.join("; ") }), "-".repeat(1_000_000)],
    [secretsOf({}, form("a".repeat(1_999) + "b")), "a".repeat(1_000_000)],
    [secretsOf({}, form("\\".repeat(60) + "b")), "\\".repeat(50_000)],
    [
      secretsOf(
        {},
        form(`${"\u00e9".repeat(20_000)}b${"\u00e9".repeat(20_000)}`),
      ),
      "\u00e9".repeat(500_000),
    ],
  ];
  eachRow(rows, ([secrets, text]) => {
    const start = cpuTimeMs();
    quote(text, secrets);
    printableWithout(secrets, text);
    assert(cpuTimeMs() - start < 1_000);
  });
});

Deno.test("secretsOf() returns few values for a token that has many parts", () => {
  const parts = Array.from(
    { length: 100_000 },
    (_, index) => `part${1e6 + index}`,
  );
  const token = parts.join(",");
  const secrets = secretsOf({ Authorization: `Bearer ${token}` });
  assert(secrets.length < 10_000, `${secrets.length} values`);
  for (const value of [`Bearer ${token}`, parts[0]!, parts[900]!]) {
    assert(secrets.includes(value));
  }
});
