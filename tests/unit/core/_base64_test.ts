import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  decodeBase64Url as stdDecode,
  encodeBase64Url as stdEncode,
} from "@std/encoding/base64url";
import fc from "fast-check";
import {
  decodeBase64String,
  decodeBase64Url,
  encodeBase64Url,
} from "../../../lib/core/_base64.ts";

Deno.test("decodeBase64String() accepts both alphabets, also in one string", () => {
  // These hold the six-bit values 62 and 63, which the alphabets write differently.
  assertEquals(decodeBase64String("Pz8+Pz4/"), "??>?>?");
  assertEquals(decodeBase64String("Pz8-Pz4_"), "??>?>?");
  assertEquals(decodeBase64String("Pz8+Pz4_"), "??>?>?");
  assertEquals(decodeBase64String("Pj4-Pz8/Pj4+Pz8_"), ">>>???>>>???");
});

Deno.test("decodeBase64String() keeps a byte order mark", () => {
  assertEquals(decodeBase64String("77u/e30="), "\ufeff{}");
  assertEquals(decodeBase64String("77u_e30"), "\ufeff{}");
});

Deno.test("decodeBase64String() rejects characters outside the alphabets", () => {
  for (
    const base64 of [
      ...[" Zm9v", "Zm9v ", "Zm 9v", "Zm9v\n", "Zm\t9v", "Zm9v\r\n", "Zm9v\f"],
      ...["Zm9v\u00a0", "\ufeffZm9v", "Zm9v\u2028", "Zm9v.", "Zm9v!"],
      ...["Zm9v%3D", "Zm~v", "Zmäv", "Zm9v\u0000", "\u{1f600}"],
    ]
  ) assertThrows(() => decodeBase64String(base64), Error, "", base64);
});

Deno.test("decodeBase64String() rejects impossible lengths and padding", () => {
  for (
    const base64 of [
      ...["Z", "Zm9vZ", "=", "==", "====", "Zg=", "Zg===", "Zm8==", "Zm9v="],
      ...["Zm9v====", "Z===", "Zg==Zg==", "Z=g=", "=Zg="],
    ]
  ) assertThrows(() => decodeBase64String(base64), Error, "", base64);
});

Deno.test("decodeBase64String() rejects whitespace at any place", () => {
  for (const valid of ["", "e30", "e30=", "eyJh", "eyJhIjoxfQ", "Zg=="]) {
    for (let place = 0; place <= valid.length; place++) {
      for (const space of [" ", "\n", "  ", "\t\r\n", "    "]) {
        const invalid = valid.slice(0, place) + space + valid.slice(place);
        assertThrows(() => decodeBase64String(invalid), SyntaxError);
      }
    }
  }
});

Deno.test("encodeBase64Url() encodes random bytes and strings as @std/encoding does", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (array) => {
    const bytes = new Uint8Array(array);
    const encoded = encodeBase64Url(bytes);
    assertEquals(encoded, stdEncode(bytes));
    assertMatch(encoded, /^[\w-]*$/);
    assertEquals(stdDecode(encoded), bytes);
    assertEquals(decodeBase64Url(encoded), bytes);
  }));
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assertEquals(encodeBase64Url(text), stdEncode(text));
    assertEquals(decodeBase64String(encodeBase64Url(text)), text);
  }));
});

Deno.test("encodeBase64Url() encodes a megabyte", () => {
  const bytes = new Uint8Array(1_048_576).fill(0xfb);
  assertEquals(encodeBase64Url(bytes).slice(0, 8), "-_v7-_v7");
  assertEquals(encodeBase64Url(bytes).length, Math.ceil(1_048_576 * 4 / 3));
});
