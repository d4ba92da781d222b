import { assertEquals, assertStrictEquals } from "@std/assert";
import { redactorOf } from "../../../lib/http/_redact.ts";

const SECRET = "p4/x+y=z &<\"'ü";
const form = (code: string) => new URLSearchParams({ code }).toString();
const bytesOf = (text: string) => [...new TextEncoder().encode(text)];
const hex = (code: number, digits: number) =>
  code.toString(16).padStart(digits, "0");

/** The ways in which servers are known to give back what they were sent. */
const ENCODINGS: Record<string, (secret: string) => string> = {
  "as it is": (secret) => secret,
  "in JSON": (secret) => JSON.stringify(secret).slice(1, -1),
  "in JSON as PHP writes it": (secret) =>
    JSON.stringify(secret).slice(1, -1).replaceAll("/", "\\/"),
  "in JSON within JSON": (secret) =>
    JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  "in JSON as numbers of units": (secret) =>
    secret.split("").map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`).join(""),
  "in JSON as numbers of units, upper case": (secret) =>
    secret.split("").map((unit) =>
      `\\u${hex(unit.charCodeAt(0), 4).toUpperCase()}`
    ).join(""),
  "in a URL": encodeURIComponent,
  "in a URL, lower case": (secret) =>
    bytesOf(secret).map((byte) => `%${hex(byte, 2)}`).join(""),
  "in a form": (secret) => form(secret).slice("code=".length),
  "in HTML": (secret) =>
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
      .replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
  "in HTML, as numbers": (secret) =>
    [...secret].map((char) => `&#x${hex(char.codePointAt(0) ?? 0, 1)};`)
      .join(""),
  "in base64": btoa,
  "in base64 for URLs": (secret) =>
    btoa(secret).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
};

for (const [name, encode] of Object.entries(ENCODINGS)) {
  Deno.test(`redactorOf() finds a secret ${name}`, () => {
    const redact = redactorOf({}, form(SECRET));
    const text = redact(`It was ${encode(SECRET)} of c1`);
    assertEquals(text.replace(/\]=*/, "]"), "It was [redacted] of c1");
  });
}

Deno.test("redactorOf() finds a secret with backslashes in its usual spellings", () => {
  const secret = 'p4"\\w\\\\u';
  const redact = redactorOf({}, form(secret));
  const usual = Object.entries(ENCODINGS).filter(([name]) =>
    /^(as it is|in JSON|in JSON within JSON|in a URL|in a form|in base64)$/
      .test(name)
  );
  assertEquals(usual.length, 6);
  for (const [name, encode] of usual) {
    const text = redact(`It was ${encode(secret)} of c1`);
    assertEquals([name, text.replace(/\]=*/, "]")], [
      name,
      "It was [redacted] of c1",
    ]);
  }
});

Deno.test("redactorOf() finds secrets in members, their names, lists and numbers", () => {
  const redact = redactorOf({}, "code=1234567890&client_id=c1");
  assertEquals(
    redact({
      error: "invalid_grant",
      "code=1234567890": "",
      received: { code: 1234567890, others: ["1234567890", 7, null, true] },
      client: "c1",
    }),
    {
      error: "invalid_grant",
      "code=[redacted]": "",
      received: {
        code: "[redacted]" as unknown as number,
        others: ["[redacted]", 7, null, true],
      },
      client: "c1",
    } as unknown,
  );
});

Deno.test("redactorOf() leaves out what is nested too deep to be looked at", () => {
  let value: unknown = "s3cret";
  for (let depth = 0; depth < 50; depth++) value = [value];
  const text = JSON.stringify(redactorOf({}, "code=s3cret")(value));
  assertEquals(text, "[".repeat(21) + '"[left out]"' + "]".repeat(21));
});

Deno.test("redactorOf() keeps values without a secret as they are", () => {
  const redact = redactorOf({ Accept: "application/json" }, "code=s3cret");
  for (const value of ["x", "", 7, NaN, true, null, undefined]) {
    assertStrictEquals(redact(value), value);
  }
  assertEquals(redactorOf({})("application/json"), "application/json");
});

Deno.test("redactorOf() takes a short word for a secret only where it stands alone", () => {
  const rows: [secret: string, said: string, redacted: string][] = [
    ["invalid", "invalid_grant: invalid", "invalid_grant: [redacted]"],
    ["authorization", "authorization_pending", "authorization_pending"],
    ["hunter", "x=%2Fhunter&y", "x=%2F[redacted]&y"],
    [
      "hunter",
      "x\\nhunter\\u000Ahunter 1hunter2",
      "x\\n[redacted]\\u000A[redacted] 1[redacted]2",
    ],
    ["hunter2", "xhunter2x", "x[redacted]x"],
    ["s3/cret", "xs3/cretx", "x[redacted]x"],
    ["abc", "abc", "abc"],
  ];
  for (const [secret, said, redacted] of rows) {
    assertEquals(redactorOf({}, form(secret))(said), redacted);
  }
});

Deno.test("redactorOf() takes the rest of a long secret with its beginning", () => {
  const secret = "eyJ".repeat(100);
  const redact = redactorOf({}, `assertion=${secret}`);
  assertEquals(redact(`No ${secret}.x-y_z~ here`), "No [redacted] here");
});

const BASIC = (pair: string) => `Basic ${btoa(pair)}`;

const HEADERS: [name: string, value: string, secrets: string[]][] = [
  ["Authorization", "Bearer t0ken-1", ["t0ken-1"]],
  ["authorization", "Bearer  t0ken-1", ["t0ken-1"]],
  ["Authorization", "t0ken-1", ["t0ken-1"]],
  ["Proxy-Authorization", "Bearer t0ken-1", ["t0ken-1"]],
  ["Authorization", BASIC("c1:s3cret%2B1"), ["s3cret%2B1", "s3cret+1"]],
  ["Authorization", BASIC("c1:abc:long/value"), ["abc:long/value"]],
  ["Authorization", BASIC("c1:100%secret"), ["100%secret"]],
  ["Authorization", BASIC("c1:s\u00c3\u00a9cret"), ["s\u00e9cret"]],
  ["Cookie", "a=first-1; b=second=2", ["first-1", "second=2"]],
  ["X-Api-Key", "key-of-mine", ["key-of-mine"]],
  ["X-Session", "sess-0042", ["sess-0042"]],
];

for (const [name, value, secrets] of HEADERS) {
  Deno.test(`redactorOf() finds what the header ${name}: ${value} keeps to itself`, () => {
    const redact = redactorOf({ [name]: value });
    for (const secret of secrets) {
      assertEquals(redact(`No ${secret} here`), "No [redacted] here");
    }
    const text = redact(`No ${value} here`);
    for (const secret of secrets) assertEquals(text.includes(secret), false);
  });
}

Deno.test("redactorOf() takes other header fields for no secrets", () => {
  const redact = redactorOf({
    Accept: "application/json",
    "MCP-Protocol-Version": "2025-11-25",
  });
  const text = "application/json of 2025-11-25";
  assertEquals(redact(text), text);
});

Deno.test("redactorOf() finds a secret beyond Latin-1", () => {
  const redact = redactorOf({}, form("s\u20accret-1"));
  assertEquals(redact("No s\u20accret-1 here"), "No [redacted] here");
  assertEquals(redact("No s%E2%82%ACcret-1 here"), "No [redacted] here");
});

Deno.test("redactorOf() reads the secrets of a registration", () => {
  const body = JSON.stringify({
    client_name: "Mine, all mine",
    software_statement: "eyJhbGciOi.x.y",
  });
  assertEquals(
    redactorOf({}, body)("Mine, all mine: eyJhbGciOi.x.y"),
    "Mine, all mine: [redacted]",
  );
});

Deno.test("redactorOf() comes to an end with texts that nearly hold a secret", () => {
  // A pattern that could read these in many ways would not end at all.
  const rows: [secret: string, said: string][] = [
    ["\\".repeat(60) + "b", "\\".repeat(50_000)],
    ["a\\".repeat(30) + "b", "a\\\\\\\\\\".repeat(10_000)],
    ["u0075".repeat(12) + "b", "\\u0075".repeat(10_000)],
    ["\\u005c".repeat(10) + "b", "\\\\u005c".repeat(10_000)],
    ['"'.repeat(60) + "b", '\\\\\\"'.repeat(10_000)],
    ["&".repeat(60) + "b", "&#0000".repeat(10_000)],
  ];
  for (const [secret, said] of rows) {
    assertStrictEquals(redactorOf({}, form(secret))(said), said);
  }
});
