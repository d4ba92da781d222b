/** The excerpts of findings: the part of a response that shows each. */

import { assertEquals } from "@std/assert";
import { challenge, type Change, inPlace, server } from "./_changes.ts";
import { diagnosed } from "./_world.ts";

const MANY = Array.from({ length: 12 }, (_, index) => `s${index}`);

const ROWS: Record<string, [change: Change, excerpt: string]> = {
  issuer_mismatch: [
    server({ issuer: "https://other.example" }),
    '{\n  "issuer": "https://other.example"\n}',
  ],
  pkce_not_listed: [
    server({ code_challenge_methods_supported: undefined }),
    '"code_challenge_methods_supported" is absent',
  ],
  auth_methods_need_key: [
    server({ token_endpoint_auth_methods_supported: MANY }),
    '{\n  "token_endpoint_auth_methods_supported": [\n    "s0",\n' +
    '    "s1",\n    "s2",\n    "s3",\n    "s4",\n    "s5",\n    "s6",\n' +
    '    "s7",\n    "… 4 more"\n  ]\n}',
  ],
  no_challenge: [
    challenge('Basic realm="api"'),
    "HTTP status 401\ncontent-type: text/plain;charset=UTF-8\n" +
    'www-authenticate: Basic realm="api"',
  ],
  metadata_unusable: [
    inPlace("<!doctype html>", { headers: { "Content-Type": "text/html" } }),
    "HTTP status 200\ncontent-type: text/html\n\n<!doctype html>",
  ],
};

for (const [id, [change, excerpt]] of Object.entries(ROWS)) {
  Deno.test(`diagnose() shows in an excerpt what leads to ${id}`, async () => {
    const { findings, steps } = await diagnosed(change);
    const finding = findings.find((one) => one.id === id);
    assertEquals(finding?.excerpt, excerpt);
    assertEquals(steps[finding?.step ?? -1]?.url, finding?.url);
  });
}
