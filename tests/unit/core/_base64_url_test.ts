import { assertEquals, assertMatch } from "@std/assert";
import {
  decodeBase64Url,
  encodeBase64Url as std,
} from "@std/encoding/base64url";
import fc from "fast-check";
import {
  decodeBase64Text,
  encodeBase64Url,
} from "../../../lib/core/_base64.ts";

Deno.test("encodeBase64Url() encodes the vectors of RFC 4648, without padding", () => {
  for (
    const [text, base64] of [
      ["", ""],
      ["f", "Zg"],
      ["fo", "Zm8"],
      ["foo", "Zm9v"],
      ["foob", "Zm9vYg"],
      ["fooba", "Zm9vYmE"],
      ["foobar", "Zm9vYmFy"],
      ["??>?>?", "Pz8-Pz4_"],
      ["\u00fc", "w7w"],
      ["\u{1f600}", "8J-YgA"],
    ] as const
  ) {
    assertEquals(encodeBase64Url(text), base64);
    assertEquals(encodeBase64Url(new TextEncoder().encode(text)), base64);
  }
});

Deno.test("encodeBase64Url() encodes every byte as @std/encoding does", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  assertEquals(encodeBase64Url(bytes), std(bytes));
  assertEquals(encodeBase64Url(bytes.subarray(7, 9)), "Bwg");
});

Deno.test("encodeBase64Url() agrees with @std/encoding on bytes and text", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (array) => {
    const bytes = new Uint8Array(array);
    const encoded = encodeBase64Url(bytes);
    assertEquals(encoded, std(bytes));
    assertMatch(encoded, /^[\w-]*$/);
    assertEquals(decodeBase64Url(encoded), bytes);
  }));
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assertEquals(encodeBase64Url(text), std(text));
    assertEquals(decodeBase64Text(encodeBase64Url(text)), text);
  }));
});

Deno.test("encodeBase64Url() encodes a megabyte", () => {
  const bytes = new Uint8Array(1_048_576).fill(0xfb);
  assertEquals(encodeBase64Url(bytes).slice(0, 8), "-_v7-_v7");
  assertEquals(encodeBase64Url(bytes).length, Math.ceil(1_048_576 * 4 / 3));
});
