import { assertEquals } from "@std/assert";
import {
  cut,
  printable,
  quote,
  quoteJson,
  quoteThrown,
} from "../../../lib/core/_quote.ts";

Deno.test("cut() and quote() keep text up to 2,000 characters", () => {
  const most = "x".repeat(1_999);
  const rows: [text: string, kept: string, mark: string][] = [
    ["", "", ""],
    [
      "Gr\u00fc\u00dfe, \u4e16\u754c \u{1f30d}\t\n",
      "Gr\u00fc\u00dfe, \u4e16\u754c \u{1f30d}\t\n",
      "",
    ],
    [`${most}y`, `${most}y`, ""],
    [`${most}yz`, `${most}y`, "\u2026"],
    [`${most}${"y".repeat(100_000)}`, `${most}y`, "\u2026"],
  ];
  for (const [text, kept, mark] of rows) {
    assertEquals(cut(text), kept);
    assertEquals(quote(text), kept + mark);
  }
  assertEquals(quote("\0".repeat(2_001)), `${"\ufffd".repeat(2_000)}\u2026`);
});

Deno.test("quote() replaces control and bidi characters, printable() removes them or makes one space of them", () => {
  const bidi = [0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069];
  const separators = [0x2028, 0x2029];
  const others = [0x20, 0x7e, 0xa0, 0x200d, 0x2027, 0x202f, 0xfeff];
  const codes = Array.from({ length: 0xa0 }, (_, code) => code);
  for (const code of [...codes, ...bidi, ...separators, ...others]) {
    const char = String.fromCharCode(code);
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0) ||
      bidi.includes(code) || separators.includes(code);
    const isReplaced = isControl && !"\t\n".includes(char);
    assertEquals(
      quote(`a${char}b${char}`),
      isReplaced ? "a\ufffdb\ufffd" : `a${char}b${char}`,
    );
    const shown = "\t\r\n".includes(char) ? " " : isControl ? "" : char;
    assertEquals(printable(`a${char}b`), `a${shown}b`);
  }
  assertEquals(printable("a\t\r\n\nb"), "a b");
});

Deno.test("quoteJson() quotes JSON without the credentials of a registration", () => {
  const circle: unknown[] = [];
  circle.push(circle);
  const rows: [value: unknown, shown: string][] = [
    [{ a: [1, null, "x\ty\u007f"] }, '{"a":[1,null,"x\\ty\ufffd"]}'],
    [null, "null"],
    [undefined, "no JSON"],
    ["x".repeat(3_000), `"${"x".repeat(1_999)}\u2026`],
    [
      {
        client_secret: "s3cr3t",
        clients: [{ client_secret: { value: "s3cr3t" }, client_name: "n" }],
        registration_access_token: "t0k3n",
      },
      '{"client_secret":"[redacted]","clients":[{"client_secret":' +
      '"[redacted]","client_name":"n"}],"registration_access_token":' +
      '"[redacted]"}',
    ],
    [circle, "JSON nested too deeply"],
  ];
  for (const [value, shown] of rows) assertEquals(quoteJson(value), shown);
});

Deno.test("quoteThrown() describes a failure, its reason first where it is known", () => {
  const failed = (cause: unknown) => new TypeError("fetch failed", { cause });
  const coded = (code: string, message = "") =>
    Object.assign(new Error(message), { code });
  const client = "error sending request for url (https://a.example/)";
  const rows: [thrown: unknown, start: string][] = [
    [new TypeError("Cable cut\u0007"), "TypeError: Cable cut\ufffd"],
    ["a string", "a string"],
    [null, "null"],
    [
      failed(new Error("Cable cut")),
      "TypeError: fetch failed: Error: Cable cut",
    ],
    [failed("why"), "TypeError: fetch failed: why"],
    // As Node and Deno word them.
    [
      failed(coded("ECONNREFUSED", "connect")),
      "connection refused (TypeError: fetch failed: Error: connect: ECONNREFUSED)",
    ],
    [
      failed(Object.assign(new AggregateError([]), { code: "ECONNREFUSED" })),
      "connection refused (",
    ],
    [
      new TypeError(`${client}: tcp connect error: Connection refused`),
      "connection refused (",
    ],
    [failed(coded("ENOTFOUND")), "host name not found ("],
    [
      new TypeError(`${client}: dns error: failed to lookup address`),
      "host name not found (",
    ],
    [
      failed(coded("DEPTH_ZERO_SELF_SIGNED_CERT")),
      "certificate not accepted (",
    ],
    [failed(coded("UNABLE_TO_GET_ISSUER_CERT")), "certificate not accepted ("],
    [failed(coded("CERT_HAS_EXPIRED")), "certificate not accepted ("],
    [
      new TypeError(`${client}: invalid peer certificate: UnknownIssuer`),
      "certificate not accepted (",
    ],
  ];
  for (const [thrown, start] of rows) {
    const shown = quoteThrown(thrown);
    assertEquals(
      start.endsWith("(") ? shown.slice(0, start.length) : shown,
      start,
    );
  }
});
