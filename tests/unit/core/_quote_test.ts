/** Text of a server cannot change the line of a message that quotes it. */

import { assertEquals } from "@std/assert";
import {
  describeMs,
  describeThrown,
  printable,
  printableJson,
  quote,
} from "../../../lib/core/_quote.ts";

Deno.test("printableJson() escapes control and bidi characters", () => {
  const value = { "a\u009b": ["\x1b]0;\x07\u202e\u2028\x7f", "\u00fc\n"] };
  const json = printableJson(value);
  assertEquals(JSON.parse(json), value);
  assertEquals(printable(json.replaceAll("\n", "")), json.replaceAll("\n", ""));
  assertEquals(json.includes("\u00fc"), true);
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

Deno.test("describeThrown() finds the reason by the codes of Node and Bun", () => {
  const rows: [code: string, reason?: string][] = [
    ["ECONNREFUSED", "connection_refused"],
    ["ConnectionRefused", "connection_refused"],
    ["ENOTFOUND", "host_not_found"],
    ["EAI_AGAIN", "host_not_found"],
    ["CERT_HAS_EXPIRED", "certificate_expired"],
    ["CERT_NOT_YET_VALID", "certificate"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "certificate"],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "certificate"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate"],
    ["ECONNRESET"],
    ["UND_ERR_SOCKET"],
  ];
  for (const [code, reason] of rows) {
    const message = `request to https://a.example/ failed, ${code}`;
    const cause = Object.assign(new Error(message), { code });
    // Bun has the code in the error itself, Node in its cause.
    for (const thrown of [cause, new TypeError("fetch failed", { cause })]) {
      assertEquals(describeThrown(thrown).reason, reason, code);
    }
  }
});

Deno.test("describeThrown() finds the reason by the messages of Deno, not by a URL", () => {
  const host = "connectionrefused.dnserror.certificate.example";
  const rows: [problem: string, reason?: string][] = [
    [
      "(Connect): tcp connect error: Connection refused (os error 111)",
      "connection_refused",
    ],
    [
      "(Connect): tcp connect error: Aktiv verweigert. (os error 10061)",
      "connection_refused",
    ],
    [
      "(Connect): dns error: failed to lookup address information",
      "host_not_found",
    ],
    ["(Connect): invalid peer certificate: UnknownIssuer", "certificate"],
    ["(Connect): invalid peer certificate: Expired", "certificate_expired"],
    [
      "(Connect): invalid peer certificate: certificate expired: " +
      "verification time 1795323413 (UNIX), but certificate is not valid " +
      "after 1609459200 (185864213 seconds ago)",
      "certificate_expired",
    ],
    [
      "(Connect): invalid peer certificate: certificate not valid yet: " +
      "verification time 1795323413 (UNIX)",
      "certificate",
    ],
    [
      "(Connect): invalid peer certificate: certificate not valid " +
      `for name "${host}"; certificate is only valid for DnsName(" dns error: ")`,
      "certificate",
    ],
    ["(SendRequest): connection closed before message completed"],
  ];
  for (const [problem, reason] of rows) {
    const url = `https://${host}/ECONNREFUSED/CERT_HAS_EXPIRED/certificate`;
    const message = `error sending request for url (${url}): client error ` +
      problem;
    const cause = new Error(message);
    // Older versions of Deno have the message in the error itself.
    const rows = [
      new TypeError(message),
      new TypeError("fetch failed", { cause }),
    ];
    for (const thrown of rows) {
      assertEquals(describeThrown(thrown).reason, reason, problem);
    }
  }
});

Deno.test("describeMs() uses the largest unit that fits", () => {
  for (
    const [ms, words] of [
      [300_000, "5 minutes"],
      [60_000, "1 minute"],
      [90_000, "90 seconds"],
      [1_500, "1500 ms"],
    ] as const
  ) {
    assertEquals(describeMs(ms), words);
  }
});
