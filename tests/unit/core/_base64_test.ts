import { assertEquals, assertThrows } from "@std/assert";
import { decodeBase64Url, encodeBase64Url } from "@std/encoding/base64url";
import fc from "fast-check";
import { decodeBase64Text } from "../../../lib/core/_base64.ts";

const utf8 = new TextEncoder();

function standard(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

Deno.test("decodeBase64Text() decodes the vectors of RFC 4648, section 10", () => {
  for (
    const [base64, text] of [
      ["", ""],
      ["Zg==", "f"],
      ["Zm8=", "fo"],
      ["Zm9v", "foo"],
      ["Zm9vYg==", "foob"],
      ["Zm9vYmE=", "fooba"],
      ["Zm9vYmFy", "foobar"],
    ] as const
  ) {
    assertEquals(decodeBase64Text(base64), text);
    assertEquals(decodeBase64Text(base64.replaceAll("=", "")), text);
  }
});

Deno.test("decodeBase64Text() knows both alphabets, also in one text", () => {
  // Every six-bit value once would be no UTF-8, so these hold 62 and 63.
  assertEquals(decodeBase64Text("Pz8+Pz4/"), "??>?>?");
  assertEquals(decodeBase64Text("Pz8-Pz4_"), "??>?>?");
  assertEquals(decodeBase64Text("Pz8+Pz4_"), "??>?>?");
  assertEquals(decodeBase64Text("Pj4-Pz8/Pj4+Pz8_"), ">>>???>>>???");
});

Deno.test("decodeBase64Text() decodes UTF-8", () => {
  for (
    const text of [
      "\u0000",
      "\u007f",
      "äöüß",
      "日本語",
      "👩‍🚀",
      "\u0080",
      "\ud7ff\ue000",
      "\u{10ffff}",
      "a\n\t b",
    ]
  ) {
    const bytes = utf8.encode(text);
    assertEquals(decodeBase64Text(encodeBase64Url(bytes)), text);
    assertEquals(decodeBase64Text(standard(bytes)), text);
  }
});

Deno.test("decodeBase64Text() keeps a byte order mark", () => {
  assertEquals(decodeBase64Text("77u/e30="), "\ufeff{}");
  assertEquals(decodeBase64Text("77u_e30"), "\ufeff{}");
});

Deno.test("decodeBase64Text() refuses characters outside the alphabets", () => {
  for (
    const base64 of [
      " Zm9v",
      "Zm9v ",
      "Zm 9v",
      "Zm9v\n",
      "Zm\t9v",
      "Zm9v\r\n",
      "Zm9v\f",
      "Zm9v\u00a0",
      "\ufeffZm9v",
      "Zm9v\u2028",
      "Zm9v.",
      "Zm9v!",
      "Zm9v%3D",
      "Zm~v",
      "Zmäv",
      "Zm9v\u0000",
      "\u{1f600}",
    ]
  ) assertThrows(() => decodeBase64Text(base64), Error, "", base64);
});

Deno.test("decodeBase64Text() refuses impossible lengths and padding", () => {
  for (
    const base64 of [
      "Z",
      "Zm9vZ",
      "=",
      "==",
      "====",
      "Zg=",
      "Zg===",
      "Zm8==",
      "Zm9v=",
      "Zm9v====",
      "Z===",
      "Zg==Zg==",
      "Z=g=",
      "=Zg=",
    ]
  ) assertThrows(() => decodeBase64Text(base64), Error, "", base64);
});

Deno.test("decodeBase64Text() refuses what is no UTF-8", () => {
  for (
    const bytes of [
      [0x80],
      [0xff],
      [0xc3],
      [0xc3, 0x28],
      [0xc0, 0xaf],
      [0xe2, 0x82],
      [0xed, 0xa0, 0x80],
      [0xf0, 0x9f, 0x98],
      [0xf4, 0x90, 0x80, 0x80],
      [0x7b, 0x7d, 0xfe],
    ]
  ) {
    const base64 = standard(new Uint8Array(bytes));
    assertThrows(() => decodeBase64Text(base64), Error, "", base64);
  }
});

Deno.test("decodeBase64Text() decodes any text that @std/encoding encodes", () => {
  const text = fc.string({ unit: "binary", maxLength: 30 });
  fc.assert(
    fc.property(text, (text) => {
      const bytes = utf8.encode(text);
      const base64Url = encodeBase64Url(bytes);
      const padding = "=".repeat((4 - base64Url.length % 4) % 4);
      for (
        const base64 of [base64Url, base64Url + padding, standard(bytes)]
      ) assertEquals(decodeBase64Text(base64), text);
    }),
    { numRuns: 500 },
  );
});

Deno.test("decodeBase64Text() decodes any bytes as @std/encoding and TextDecoder do", () => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const read = (decode: () => string) => {
    try {
      return decode();
    } catch {
      return undefined;
    }
  };
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 12 }),
    fc.array(
      fc.constantFrom(0x41, 0x7f, 0x80, 0xbf, 0xc3, 0xe2, 0xed, 0xf0, 0xff),
      { maxLength: 5 },
    ).map((list) => new Uint8Array(list)),
  );
  fc.assert(
    fc.property(bytes, (bytes) => {
      const base64 = encodeBase64Url(new Uint8Array(bytes));
      assertEquals(
        read(() => decodeBase64Text(base64)),
        read(() => decoder.decode(decodeBase64Url(base64))),
      );
    }),
    { numRuns: 1000 },
  );
});
