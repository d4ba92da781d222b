/**
 * A URL is used only where its scheme and host are safe, and printed without
 * credentials.
 */

import {
  assert,
  assertEquals,
  assertFalse,
  assertStringIncludes,
} from "@std/assert";
import {
  isLoopback,
  isWebUrl,
  parseUrl,
  quoteUrl,
  requireSafeUrl,
  type UrlRules,
  withAsciiHosts,
} from "../../../lib/core/_url.ts";
import type { OAuthClientError } from "../../../mod.ts";
import { assertThrowsCode } from "../../support/fixtures.ts";
import { eachRow } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const LOOPBACK = [
  ...["localhost", "LOCALHOST", "localhost.", "a.b.localhost", "127.0.0.1"],
  ...["127.1", "127.255.255.254", "2130706433", "0x7f.1", "0177.0.0.1"],
  ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"],
];
const ELSEWHERE = [
  ...["as.example", "localhost.evil.example", "notlocalhost", "evil-localhost"],
  ...["127.0.0.1.evil.example", "evil127.0.0.1.example", "127.0.0.1.nip.io"],
  ...["128.0.0.1", "12.7.0.1", "10.0.0.1", "169.254.169.254", "192.168.127.0"],
  ...["[::2]", "[::1:1]", "[fe80::1]", "[::ffff:128.0.0.1]"],
];
const ALL_RULES: UrlRules[] = [
  {},
  { allowLoopback: true },
  { allowHttp: true },
  { allowHttp: true, allowLoopback: true },
];

function refusal(value: unknown, rules: UrlRules): OAuthClientError {
  const error = assertThrowsCode(
    () => requireSafeUrl("it", value, rules),
    "url_refused",
  );
  // deno-lint-ignore no-control-regex
  assertFalse(/[\x00-\x1f]/.test(error.message));
  assert(error.message.length < 400);
  return error;
}

Deno.test("isLoopback() recognizes hosts of this machine in any spelling", () => {
  for (const rest of ["", ":8080", "/x", ":1/?q#f"]) {
    for (const host of LOOPBACK) {
      assert(isLoopback(new URL(`http://${host}${rest}`)), host);
    }
    for (const host of ELSEWHERE) {
      assertFalse(isLoopback(new URL(`http://${host}${rest}`)), host);
    }
  }
  const rows = [
    "http://localhost@evil.example/",
    "http://evil.example/localhost",
    "http://evil.example/?127.0.0.1",
    "http://evil.example#localhost",
  ];
  for (const url of rows) assertFalse(isLoopback(new URL(url)), url);
});

Deno.test("requireSafeUrl() accepts http and loopback where the rules allow them", () => {
  for (const rules of ALL_RULES) {
    const { allowHttp = false, allowLoopback = false } = rules;
    const rows: [url: string, isAllowed: boolean][] = [
      ...ELSEWHERE.flatMap((host): typeof rows => [
        [`https://${host}:8443/x?y=z#f`, true],
        [`http://${host}/`, allowHttp],
      ]),
      ...LOOPBACK.flatMap((host): typeof rows =>
        ["http", "https"].map((scheme) => [
          `${scheme}://${host}/`,
          allowHttp || allowLoopback,
        ])
      ),
    ];
    eachRow(rows, ([url, isAllowed]) => {
      if (isAllowed) {
        const { href } = requireSafeUrl("it", url, rules);
        assertEquals(href, new URL(url).href);
      } else {
        const { message } = pinMessage(refusal(url, rules));
        assertStringIncludes(message, url);
      }
    });
  }
});

Deno.test("requireSafeUrl() rejects what is no absolute https URL, whatever the rules", () => {
  const href = "https://as.example";
  const notAbsolute: unknown[] = [
    ...[undefined, null, 1, {}, [], [href], Symbol("x")],
    ...[{ toString: () => href }, { href }, Object.create(null), () => href],
    ...["", "as.example", "/authorize", "//as.example/", "https://"],
    ...["x".repeat(100_000)],
    ...["https://a b.example/", ` ${href}/`, `${href}/ `, `${href}/a b`],
    ...["java\nscript:alert(1)", "java\tscript:alert(1)"],
    ...[`${href}/\r\nX: y`, `${href}/\u0000`, `${href}/\u007f`],
    ...[`${href}/\u0085`, `${href}/\u200e`, `${href}/\u202e`, `${href}/\u2066`],
  ];
  const otherScheme = [
    ...["javascript:alert(1)", "JavaScript:alert(1)", "data:text/html,x"],
    ...["javascript://as.example/%0aalert(1)", "file:///etc/passwd"],
    ...["blob:https://as.example/1", "ftp://as.example/", "ws://localhost/"],
    ...["app://localhost/", "localhost:8080/x"],
  ];
  for (const rules of ALL_RULES) {
    for (const value of [...notAbsolute, ...otherScheme]) {
      const { message } = refusal(value, rules);
      if (value === "as.example") pinMessage(message);
    }
  }
});

Deno.test("requireSafeUrl() rejects credentials, does not show them, and cuts what it shows", () => {
  const rows = [
    "https://user:hunter2@as.example/",
    "https://hunter2@as.example/",
    "https://:hunter2@as.example/",
    "https://user:hunter2@localhost/",
    "http://user:hunter2@as.example/",
    "https://user:a@hunter2@as.example/",
    "https://user:hunter2@/",
    "https:user:hunter2@as.example/",
    "https:/user:hunter2@as.example/",
    "https:\\\\user:hunter2@as.example/",
    `https://user:hunter2${"x".repeat(300)}@as.example/`,
    `${"x".repeat(100_000)}:hunter2@`,
  ];
  eachRow(rows, (url) => {
    for (const rules of ALL_RULES) {
      const { message } = refusal(url, rules);
      assertFalse(message.includes("hunter2"), message);
    }
  });
});

Deno.test("quoteUrl() shows a URL without credentials and control characters", () => {
  const rows: [value: unknown, shown: string][] = [
    ["https://as.example/a?b#c", "https://as.example/a?b#c"],
    ["https://as.example/@user", "https://as.example/@user"],
    ["https://me:pw@as.example/", "https://[redacted]@as.example/"],
    ["me:pw@as.example", "[redacted]@as.example"],
    ["https://as.example/\u001b[31m", "https://as.example/\ufffd[31m"],
    ["https://as.example/a\n\tb", "https://as.example/a  b"],
    ["https://as.example/a\rb\u202e", "https://as.example/a\ufffdb\ufffd"],
    // Character for character: a log is searched for what was requested.
    ...["https://\u0430pple.example/\u0430", "https://\uff41s.example:8443"]
      .map((url): [string, string] => [url, url]),
    ["https://a\u202es.example", "https://a\ufffds.example"],
    [7, "number"],
    [null, "object"],
  ];
  for (const [value, shown] of rows) assertEquals(quoteUrl(value), shown);
});

Deno.test("withAsciiHosts() shows hosts in ASCII, and leaves all else as it is", () => {
  const cyrillic = "\u0430pple.example";
  const ascii = "xn--pple-43d.example";
  const rows: [text: string, shown: string][] = [
    // What the URL parser also accepts.
    ...["https://", "HTTPS:\\\\", "https:", "https:///"].map((
      start,
    ): [string, string] => [
      `${start}${cyrillic}/\u0430`,
      `https://${ascii}/\u0430`,
    ]),
    ["https://\uff41s.example:8443", "https://as.example:8443"],
    [
      `Refusing http://${cyrillic}: "https://${cyrillic}", (https://${cyrillic}).`,
      `Refusing http://${ascii}: "https://${ascii}", (https://${ascii}).`,
    ],
    [`\u0430 HTTP://A.example \u0430`, `\u0430 HTTP://A.example \u0430`],
  ];
  for (const [text, shown] of rows) assertEquals(withAsciiHosts(text), shown);
});

Deno.test("parseUrl() and isWebUrl() accept no string that is no URL, or no web URL", () => {
  assertEquals(parseUrl("/a", "https://as.example")?.pathname, "/a");
  // `URL.canParse` of Node 20 fails once the engine has compiled it.
  for (let round = 0; round < 50_000; round++) {
    const { host } = parseUrl("https://b\u00fccher.example") ?? {};
    if (host !== "xn--bcher-kva.example") throw new Error(`got ${host}`);
  }
  assertEquals(parseUrl("/a"), undefined);
  for (const url of ["https://a", "HTTP://a"]) assert(isWebUrl(url));
  for (const url of ["javascript:x", "data:,x", "/a", "https:a", ""]) {
    assertFalse(isWebUrl(url));
  }
});
