/** The default redirect URIs are two hosted pages and two URLs on loopback. */

import { assertEquals } from "@std/assert";
import { DEFAULT_REDIRECT_URIS } from "../../../mod.ts";

// tests/support/public_api.txt has the values of the other constants.
Deno.test("DEFAULT_REDIRECT_URIS holds two hosted pages and two loopback URLs", () => {
  // RFC 2606, section 2: names below .example cannot be registered.
  assertEquals(DEFAULT_REDIRECT_URIS, [
    "https://client.example/redirect",
    "https://insiders.client.example/redirect",
    "http://127.0.0.1/",
    "http://127.0.0.1:33418/",
  ]);
});
