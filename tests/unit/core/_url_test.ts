import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  ENDPOINT_NAMES,
  isLoopback,
  requireEndpoint,
  requireSafeUrl,
} from "../../../lib/core/_endpoint.ts";
import {
  type IAuthorizationServerMetadata,
  OAuthClientError,
} from "../../../mod.ts";

const LOOPBACK = [
  "localhost",
  "LOCALHOST",
  "foo.localhost",
  "a.b.localhost",
  "127.0.0.1",
  "127.1",
  "127.255.255.254",
  "2130706433",
  "0x7f.1",
  "0177.0.0.1",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
];
const ELSEWHERE = [
  "as.example",
  "localhost.evil.example",
  "notlocalhost",
  "evil-localhost",
  "localhost-evil",
  "127.0.0.1.evil.example",
  "evil127.0.0.1.example",
  "127.0.0.1.nip.io",
  "128.0.0.1",
  "12.7.0.1",
  "0.0.0.0",
  "10.0.0.1",
  "169.254.169.254",
  "192.168.127.0",
  "[::]",
  "[::2]",
  "[::1:1]",
  "[fe80::1]",
];

Deno.test("isLoopback() knows addresses of this machine", () => {
  for (const host of LOOPBACK) {
    for (const rest of ["", ":8080", "/x", ":1/?q#f"]) {
      for (const scheme of ["http", "https"]) {
        assert(isLoopback(new URL(`${scheme}://${host}${rest}`)), host);
      }
    }
  }
});

Deno.test("isLoopback() does not take other addresses for it", () => {
  for (const host of ELSEWHERE) {
    assertFalse(isLoopback(new URL(`http://${host}/`)), host);
  }
  for (
    const url of [
      "http://localhost@evil.example/",
      "http://evil.example/localhost",
      "http://evil.example/?127.0.0.1",
      "http://evil.example#localhost",
    ]
  ) assertFalse(isLoopback(new URL(url)), url);
});

Deno.test("requireSafeUrl() takes https, and http on loopback", () => {
  for (
    const address of [
      "https://as.example",
      "https://as.example:8443/x?y=z#f",
      "HTTPS://AS.example/",
      "https://10.0.0.1/",
      ...LOOPBACK.map((host) => `http://${host}:8080/x`),
    ]
  ) {
    for (const allowHttp of [undefined, false, true]) {
      assertEquals(
        requireSafeUrl("The address", address, allowHttp).href,
        new URL(address).href,
      );
    }
  }
});

Deno.test("requireSafeUrl() takes http elsewhere when allowed", () => {
  for (const host of ELSEWHERE) {
    const address = `http://${host}/`;
    assertEquals(requireSafeUrl("It", address, true).href, address);
    for (const allowHttp of [undefined, false]) {
      const error = assertThrows(
        () => requireSafeUrl("It", address, allowHttp),
        OAuthClientError,
        "It is not used: expected an https URL, or http on loopback, got " +
          `"${address}"`,
      );
      assertEquals(error.code, "url_refused");
    }
  }
});

Deno.test("requireSafeUrl() reads nothing out of what is no text", () => {
  const href = "https://as.example";
  for (
    const address of [
      { toString: 1 },
      { toString: () => href },
      { href },
      Object.create(null),
      Symbol("x"),
      () => href,
    ]
  ) {
    const error = assertThrows(
      () => requireSafeUrl("It", address, false),
      OAuthClientError,
      `It is not used: expected an absolute URL, got ${typeof address}`,
    );
    assertEquals(error.code, "url_refused");
  }
});

Deno.test("requireSafeUrl() refuses other addresses, allowed http or not", () => {
  const notAbsolute = "an absolute URL";
  const otherScheme = "an https URL";
  for (
    const [address, expected] of [
      [undefined, notAbsolute],
      [null, notAbsolute],
      [1, notAbsolute],
      [{}, notAbsolute],
      [[], notAbsolute],
      [["https://as.example"], notAbsolute],
      [new URL("https://as.example"), notAbsolute],
      ["", notAbsolute],
      ["as.example", notAbsolute],
      ["/authorize", notAbsolute],
      ["//as.example/", notAbsolute],
      ["https://", notAbsolute],
      ["https://a b.example/", notAbsolute],
      [" https://as.example/", notAbsolute],
      ["https://as.example/ ", notAbsolute],
      ["https://as.example/a b", notAbsolute],
      ["java\nscript:alert(1)", notAbsolute],
      ["java\tscript:alert(1)", notAbsolute],
      ["https://as.example/\r\nX: y", notAbsolute],
      ["https://as.example/\u0000", notAbsolute],
      ["https://as.example/\u007f", notAbsolute],
      ["javascript:alert(1)", otherScheme],
      ["JavaScript:alert(1)", otherScheme],
      ["javascript://as.example/%0aalert(1)", otherScheme],
      ["data:text/html,x", otherScheme],
      ["file:///etc/passwd", otherScheme],
      ["blob:https://as.example/1", otherScheme],
      ["ftp://as.example/", otherScheme],
      ["ws://localhost/", otherScheme],
      ["app://localhost/", otherScheme],
      ["localhost:8080/x", otherScheme],
    ] as const
  ) {
    for (const allowHttp of [undefined, true]) {
      const error = assertThrows(
        () => requireSafeUrl("It", address, allowHttp),
        OAuthClientError,
        `It is not used: expected ${expected}`,
        String(address),
      );
      assertEquals(error.code, "url_refused");
      // deno-lint-ignore no-control-regex
      assertFalse(/[\x00-\x1f]/.test(error.message));
    }
  }
});

Deno.test("requireSafeUrl() refuses credentials and does not show them", () => {
  for (
    const address of [
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
      // What is shown is cut, and must not be cut between the two.
      `https://user:hunter2${"x".repeat(300)}@as.example/`,
    ]
  ) {
    for (const allowHttp of [undefined, true]) {
      const error = assertThrows(
        () => requireSafeUrl("It", address, allowHttp),
        OAuthClientError,
      );
      assertEquals(error.code, "url_refused");
      assertFalse(error.message.includes("hunter2"), error.message);
    }
  }
});

Deno.test("requireSafeUrl() cuts what it shows", () => {
  const { message } = assertThrows(
    () => requireSafeUrl("It", "x".repeat(100_000), false),
    OAuthClientError,
  );
  assert(message.length < 400);
});

const server = (
  members: Partial<IAuthorizationServerMetadata>,
): IAuthorizationServerMetadata => ({
  issuer: "https://as.example",
  response_types_supported: ["code"],
  ...members,
});

Deno.test("requireEndpoint() hands out the address byte for byte", () => {
  for (const name of ENDPOINT_NAMES) {
    for (const address of ["https://AS.example:443/x/../y?q", "http://[::1]"]) {
      assertEquals(
        requireEndpoint(server({ [name]: address }), name, undefined),
        address,
      );
    }
    assertEquals(
      requireEndpoint(server({ [name]: "http://as.example" }), name, true),
      "http://as.example",
    );
  }
});

Deno.test("requireEndpoint() tells a missing endpoint from a refused one", () => {
  for (const name of ENDPOINT_NAMES) {
    for (const address of [undefined, "", null]) {
      const error = assertThrows(
        () => requireEndpoint(server({ [name]: address }), name, true),
        OAuthClientError,
        `Authorization server https://as.example has no ${name}`,
      );
      assertEquals(error.code, "unsupported");
    }
    for (const address of ["http://as.example", "javascript:x", 1, [], {}]) {
      const error = assertThrows(
        () => requireEndpoint(server({ [name]: address }), name, false),
        OAuthClientError,
        `The ${name} is not used: expected`,
      );
      assertEquals(error.code, "url_refused");
    }
  }
});
