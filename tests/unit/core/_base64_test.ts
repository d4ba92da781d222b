/** Base64url is encoded as the runtime encodes it, at any length. */

import { assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import {
  decodeBase64String,
  decodeBase64Url,
  encodeBase64Url,
} from "../../../lib/core/_base64.ts";
import * as runtime from "../../support/base64url.ts";

/**
 * Strings of all characters but lone surrogates. The strings of fast-check with
 * `unit: "binary"` are these too, and need a table that takes seconds to build.
 */
const anyText = fc.array(
  fc.nat(0x10ffff).filter((point) => point < 0xd800 || point > 0xdfff),
  { maxLength: 20 },
).map((points) => String.fromCodePoint(...points));

Deno.test("encodeBase64Url() encodes random bytes and strings as the runtime does", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 100 }), (array) => {
    const bytes = new Uint8Array(array);
    const encoded = encodeBase64Url(bytes);
    assertEquals(encoded, runtime.encodeBase64Url(bytes));
    assertMatch(encoded, /^[\w-]*$/);
    assertEquals(runtime.decodeBase64Url(encoded), bytes);
    assertEquals(decodeBase64Url(encoded), bytes);
  }));
  fc.assert(fc.property(anyText, (text) => {
    assertEquals(encodeBase64Url(text), runtime.encodeBase64Url(text));
    assertEquals(decodeBase64String(encodeBase64Url(text)), text);
  }));
});

Deno.test("encodeBase64Url() encodes a megabyte", () => {
  const bytes = new Uint8Array(1_048_576).fill(0xfb);
  assertEquals(encodeBase64Url(bytes).slice(0, 8), "-_v7-_v7");
  assertEquals(encodeBase64Url(bytes).length, Math.ceil(1_048_576 * 4 / 3));
});
