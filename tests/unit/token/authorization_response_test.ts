import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  type IAuthorizationServerMetadata,
  OAuthClientError,
  parseAuthorizationResponse,
} from "../../../mod.ts";
import { untyped } from "../../support/stub_fetch.ts";

const server = (
  members: Partial<IAuthorizationServerMetadata> = {},
): IAuthorizationServerMetadata => ({
  issuer: "https://as.example",
  authorization_endpoint: "https://as.example/authorize",
  response_types_supported: ["code"],
  ...members,
});
const expect = (members: Partial<IAuthorizationServerMetadata> = {}) => ({
  state: "st-1",
  serverMetadata: server(members),
});
const PROMISED = { authorization_response_iss_parameter_supported: true };
const NOT_PROMISED = { authorization_response_iss_parameter_supported: false };

/** Fails unless the response is refused, and shows neither code nor error. */
function refusalOf(query: string, members = {}): OAuthClientError {
  const error = assertThrows(
    () => parseAuthorizationResponse(query, expect(members)),
    OAuthClientError,
  );
  if (error.code !== "oauth_error") {
    const shown = JSON.stringify(error) + error.message;
    assertFalse(/c0de|st-1|bad-state|access_denied|Evil/.test(shown), shown);
    assertFalse("error" in error || "error_description" in error);
  }
  return error;
}

Deno.test("parseAuthorizationResponse() reads addresses of any form", () => {
  const query = "code=c0de%2B%2F%20+&state=st-1&session=x";
  for (
    const source of [
      `http://127.0.0.1:8123/callback?x=1&${query}`,
      `app.example:/callback?${query}#frag`,
      new URL(`https://c.example/callback?${query}`),
      new URLSearchParams(query),
      `/callback?${query}`,
      `?${query}`,
      query,
    ]
  ) {
    assertEquals(parseAuthorizationResponse(source, expect()), {
      code: "c0de+/  ",
      state: "st-1",
    });
  }
});

Deno.test("parseAuthorizationResponse() leaves a fragment out of the last value", () => {
  const query = "code=c0de&state=st-1";
  for (const fragment of ["#_=_", "#", "#frag?code=other", "#&code=x#\n#"]) {
    for (const start of ["https://c.example/", "/callback?", "?", ""]) {
      const mark = start.startsWith("https:") ? "?" : "";
      const source = `${start}${mark}${query}${fragment}`;
      assertEquals(parseAuthorizationResponse(source, expect()), {
        code: "c0de",
        state: "st-1",
      });
    }
  }
});

Deno.test("parseAuthorizationResponse() takes a question mark in a value for what it is", () => {
  for (const source of ["code=a?b&state=st-1", "/cb?code=a?b&state=st-1"]) {
    assertEquals(parseAuthorizationResponse(source, expect()), {
      code: "a?b",
      state: "st-1",
    });
  }
  const iss =
    "state=st-1&iss=https://as.example&code=https://c.example/?code=x";
  assertEquals(
    parseAuthorizationResponse(iss, expect()).code,
    "https://c.example/?code=x",
  );
});

Deno.test("parseAuthorizationResponse() applies the table of RFC 9207, section 2.4", () => {
  const others = "https://as.example/ https://AS.example https://evil.example" +
    " https://as.example:443 https://as.example/t1 null ";
  for (const outcome of ["code=c0de", "error=access_denied"]) {
    const query = `${outcome}&error_description=Evil&state=st-1`;
    for (const members of [PROMISED, NOT_PROMISED, {}]) {
      for (const other of others.split(" ")) {
        const { code } = refusalOf(
          `${query}&iss=${encodeURIComponent(other)}`,
          members,
        );
        assertEquals(code, "issuer_mismatch", other);
      }
    }
    assertEquals(refusalOf(query, PROMISED).code, "issuer_mismatch");
  }
  const query = "code=c0de&state=st-1";
  for (
    const [text, members] of [
      [`${query}&iss=https://as.example`, PROMISED],
      [`${query}&iss=https%3A%2F%2Fas.example`, NOT_PROMISED],
      [`${query}&iss=https%3A%2F%2Fas.example`, {}],
      [query, NOT_PROMISED],
      [query, {}],
    ] as const
  ) {
    const { code } = parseAuthorizationResponse(text, expect(members));
    assertEquals(code, "c0de");
  }
});

Deno.test("parseAuthorizationResponse() refuses another state, a duplicate, or no code", () => {
  const good = "code=c0de&state=st-1&iss=https://as.example";
  for (
    const query of [
      "",
      "code=c0de",
      "code=c0de&state=",
      "code=c0de&state=bad-state",
      "code=c0de&state=ST-1",
      "error=access_denied&state=bad-state&error_description=Evil",
      "code=c0de&state=bad-state&iss=https://evil.example",
      `${good}&code=c0de`,
      `${good}&state=st-1`,
      `${good}&iss=https://as.example`,
      `${good}&error=access_denied&error=x`,
      // RFC 6749, section 3.1: not even one that is unknown here.
      `${good}&error_description=Evil&error_description=x`,
      `${good}&x=1&x=2`,
      `${good}&x=&x=`,
      "state=st-1",
      "code=&state=st-1",
    ]
  ) {
    const { code } = refusalOf(query);
    assertEquals(code, "invalid_authorization_response", query);
  }
});

Deno.test("parseAuthorizationResponse() passes on the server's refusal", () => {
  for (const iss of ["", "&iss=https://as.example"]) {
    for (const code of ["", "&code=c0de"]) {
      const error = refusalOf(
        "error=access_denied&error_description=User+said%0D%0Ano&state=st-1" +
          `&error_uri=https://as.example/e${iss}${code}`,
      );
      assertEquals(error.code, "oauth_error");
      assertEquals(error.error, "access_denied");
      assertEquals(error.error_description, "User said\r\nno");
      assertEquals(error.error_uri, "https://as.example/e");
      assert(error.message.includes("access_denied: User said"));
      assertFalse(/c0de|st-1|\r/.test(error.message), error.message);
    }
  }
  const bare = refusalOf("error=oauth_error&state=st-1");
  assertEquals("error_description" in bare, false);
});

Deno.test("parseAuthorizationResponse() keeps an error_uri only where a user may go", () => {
  const rows: [error_uri: string, isKept: boolean][] = [
    ["https://as.example/help?a=1#b", true],
    ["http://as.example/help", true],
    ["javascript:alert(1)", false],
    ["JavaScript:alert(1)", false],
    [" javascript:alert(1)", false],
    ["java\tscript:alert(1)", false],
    ["data:text/html,x", false],
    ["file:///etc/passwd", false],
    ["/help", false],
    ["", false],
  ];
  for (const [error_uri, isKept] of rows) {
    const query = new URLSearchParams({
      error: "access_denied",
      state: "st-1",
      error_uri,
    });
    const error = refusalOf(query.toString());
    assertEquals([error.code, error.error], ["oauth_error", "access_denied"]);
    assertEquals(error.error_uri, isKept ? error_uri : undefined);
    assertEquals("error_uri" in error, isKept);
  }
});

Deno.test("parseAuthorizationResponse() wants to know what to expect", () => {
  for (const state of [undefined, null, "", 1]) {
    const recorded = { ...expect(), state } as ReturnType<typeof expect>;
    const error = assertThrows(
      () => parseAuthorizationResponse("code=c0de&state=", recorded),
      OAuthClientError,
      "state must be",
    );
    assertEquals(error.code, "invalid_argument");
  }
});

Deno.test("parseAuthorizationResponse() wants an issuer to compare with", () => {
  for (const issuer of [undefined, null, "", 7]) {
    for (
      const serverMetadata of [{ issuer }, { issuer, ...PROMISED }, undefined]
    ) {
      for (const query of ["", "&iss=", "&iss=undefined"]) {
        const error = assertThrows(
          () =>
            parseAuthorizationResponse(
              `code=c0de&state=st-1${query}`,
              untyped({ state: "st-1", serverMetadata }),
            ),
          OAuthClientError,
          "serverMetadata.issuer must be",
        );
        assertEquals(error.code, "invalid_argument");
      }
    }
  }
});
