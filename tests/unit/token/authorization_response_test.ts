/** An authorization response counts only with its state, its issuer and one code. */

import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import { OAuthClientError, parseAuthorizationResponse } from "../../../mod.ts";
import { AS, assertThrowsCode } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";

const expected = (members: Record<string, unknown> = {}) =>
  untyped({ state: "st-1", serverMetadata: { issuer: AS, ...members } });

/** The error of a response; it must not repeat what was refused. */
function errorOf(query: string, members?: Record<string, unknown>) {
  const call = () => parseAuthorizationResponse(query, expected(members));
  const error = assertThrows(call, OAuthClientError);
  if (error.code !== "oauth_error") {
    const shown = JSON.stringify(error) + error.message;
    assertFalse(/c0de|st-1|bad-state|access_denied|Evil/.test(shown), shown);
    assertFalse("error" in error || "error_description" in error);
  }
  return error;
}

Deno.test("parseAuthorizationResponse() reads a URL, its query, or a Request", () => {
  const query = "code=c0de%2B%2F%20+&state=st-1&session=x";
  const url = `https://c.example/callback?x=1&${query}`;
  const sources = [
    url,
    new URL(url),
    new Request(url),
    new URLSearchParams(query),
    `app.example:/callback?${query}#frag`,
    ...["/callback?", "?", ""].flatMap((start) =>
      // A fragment is no part of the last value.
      ["", "#_=_", "#frag?code=other", "#&code=x#\n#"]
        .map((fragment) => start + query + fragment)
    ),
  ];
  for (const source of sources) {
    assertEquals(parseAuthorizationResponse(source, expected()), {
      code: "c0de+/  ",
      state: "st-1",
    });
  }
  for (const start of ["", "/cb?"]) {
    const source = `${start}state=st-1&code=https://c.example/?code=x`;
    const { code } = parseAuthorizationResponse(source, expected());
    assertEquals(code, "https://c.example/?code=x");
  }
});

for (const supported of [true, "true", "false", 1, false, null, undefined]) {
  // Anything but absent or false announces `iss`, the string "true" as well.
  const isAnnounced = Boolean(supported);
  Deno.test(`parseAuthorizationResponse() applies RFC 9207, section 2.4, support ${JSON.stringify(supported)}`, () => {
    const members = {
      authorization_response_iss_parameter_supported: supported,
    };
    const others = `${AS}/ https://AS.example https://evil.example` +
      ` ${AS}:443 ${AS}/t1 null `;
    for (const outcome of ["code=c0de", "error=access_denied"]) {
      const query = `${outcome}&error_description=Evil&state=st-1`;
      for (const other of others.split(" ")) {
        const iss = encodeURIComponent(other);
        const { code } = errorOf(`${query}&iss=${iss}`, members);
        assertEquals(code, "issuer_mismatch", other);
      }
      if (isAnnounced) {
        assertEquals(errorOf(query, members).code, "issuer_mismatch");
      }
    }
    for (const iss of isAnnounced ? [`&iss=${AS}`] : [`&iss=${AS}`, ""]) {
      const query = `code=c0de&state=st-1${iss}`;
      const { code } = parseAuthorizationResponse(query, expected(members));
      assertEquals(code, "c0de");
    }
  });
}

Deno.test("parseAuthorizationResponse() shows the iss of another issuer, without control characters and what was sent", () => {
  const state = "state-of-the-user";
  const code = "code-of-the-user";
  const hint = " (this could be an attack: set trustedIssuers only " +
    "if both are the same server)";
  const rows: [iss: string | undefined, problem: string][] = [
    ["https://idp.example/t", `"https://idp.example/t"${hint}`],
    [`${AS}/`, `"${AS}/"${hint}`],
    ["", `""${hint}`],
    ["a\u202eb\u0007\nc", `"ab c"${hint}`],
    ["https://u:pw@idp.example", `"https://[redacted]@idp.example"${hint}`],
    ["x".repeat(2_001), `"${"x".repeat(2_000)}"${hint}`],
    [`https://idp.example/${state}`, `another issuer${hint}`],
    [`https://idp.example/${code}`, `another issuer${hint}`],
    [
      undefined,
      "missing, although its metadata promises it (only if no response has it, " +
      "set serverMetadata without " +
      "authorization_response_iss_parameter_supported)",
    ],
  ];
  const announced = { authorization_response_iss_parameter_supported: true };
  for (const [iss, problem] of rows) {
    const query = new URLSearchParams({ state, code });
    if (iss !== undefined) query.set("iss", iss);
    assertThrowsCode(
      () =>
        parseAuthorizationResponse(query, { ...expected(announced), state }),
      "issuer_mismatch",
      `Authorization response is not from ${AS}: its iss is ${problem}`,
    );
  }
});

Deno.test("parseAuthorizationResponse() refuses a response that arrived elsewhere than at the redirect URI", () => {
  const url = "https://c.example/callback";
  const query = "?code=c0de&state=st-1";
  const rows: [redirectUri: string, callback: string, isRight?: true][] = [
    [url, url, true],
    [url, `${url}/other`],
    [url, "https://other.example/callback"],
    [url, "http://c.example/callback"],
    [url, "https://c.example:8443/callback"],
    [`${url}?tenant=1`, url, true],
    [`${url}?tenant=1`, `${url}?tenant=1&x=2`, true],
    [`${url}?tenant=1`, `${url}?tenant=2`],
    [`${url}?tenant=1`, "/callback?tenant=2"],
    [`${url}?tenant=1`, "?tenant=2"],
    [url, "/callback", true],
    [url, "/other"],
    [url, "", true],
    ["http://127.0.0.1:33418/a", "http://127.0.0.1:5000/a", true],
    ["http://127.0.0.1:33418/a", "http://127.0.0.1:5000/b"],
    ["http://127.0.0.1:33418/a", "http://localhost:33418/a"],
    ["app.example:/callback", "app.example:/callback", true],
    ["app.example:/callback", "evil.example:/callback"],
  ];
  eachRow(rows, ([redirectUri, callback, isRight]) => {
    const parse = () =>
      parseAuthorizationResponse(
        callback + (callback.includes("?") ? query.replace("?", "&") : query),
        { ...expected(), redirectUri },
      );
    if (isRight) assertEquals(parse().code, "c0de", callback);
    else assertThrowsCode(parse, "invalid_authorization_response");
  });
  const other = `https://c.example/as-2${query}`;
  const at = { ...expected(), redirectUri: new URL(url) };
  assertThrowsCode(
    () => parseAuthorizationResponse(other, at),
    "invalid_authorization_response",
    `Authorization response arrived at https://c.example/as-2: expected ${url}`,
  );
  // A proxy may change the origin of a request, but not its path.
  const internal = new Request(`http://app:3000/callback${query}`);
  assertEquals(parseAuthorizationResponse(internal, at).code, "c0de");
  assertThrowsCode(
    () => parseAuthorizationResponse(new Request(other), at),
    "invalid_authorization_response",
    "Authorization response arrived at /as-2: expected /callback",
  );
});

Deno.test("parseAuthorizationResponse() refuses a response without iss where it is required", () => {
  const required = { ...expected(), requireIss: true };
  const query = "code=c0de&state=st-1";
  assertThrowsCode(
    () => parseAuthorizationResponse(query, required),
    "issuer_mismatch",
    `Authorization response is not from ${AS}: its iss is missing`,
  );
  const withIss = `${query}&iss=${AS}`;
  assertEquals(parseAuthorizationResponse(withIss, required).code, "c0de");
});

Deno.test("parseAuthorizationResponse() names the option that may help", () => {
  const resource = "https://api.example";
  const noResource =
    " (if the server rejects the parameter resource, set resourceIndicator: false)";
  const rows: [error: string, requested: object, end: string][] = [
    ["invalid_target", { resource }, noResource],
    ["invalid_target", { resource: false }, ""],
    ["invalid_target", {}, ""],
    [
      "invalid_scope",
      {},
      " (set scopes, or scope in clientMetadata to register more)",
    ],
    // The user has refused: other scopes are no remedy.
    ["access_denied", {}, ""],
    ["server_error", {}, ""],
  ];
  eachRow(rows, ([error, requested, end]) => {
    const query = `state=st-1&error=${error}`;
    const { message } = assertThrowsCode(
      () => parseAuthorizationResponse(query, { ...expected(), ...requested }),
      "oauth_error",
    );
    assertEquals(message, `Authorization at ${AS} failed: ${error}${end}`);
  });
});

Deno.test("parseAuthorizationResponse() refuses another state, a repeated parameter, or no code", () => {
  const good = `code=c0de&state=st-1&iss=${AS}`;
  const queries = [
    "",
    "code=c0de",
    "code=c0de&state=",
    "code=c0de&state=bad-state",
    "code=c0de&state=ST-1",
    "error=access_denied&state=bad-state&error_description=Evil",
    "code=c0de&state=bad-state&iss=https://evil.example",
    `${good}&code=c0de`,
    `${good}&state=st-1`,
    `${good}&iss=${AS}`,
    `${good}&error=access_denied&error=x`,
    // RFC 6749, section 3.1: unknown parameters must not be repeated either.
    `${good}&x=&x=`,
    "state=st-1",
    "code=&state=st-1",
  ];
  for (const query of queries) {
    assertEquals(errorOf(query).code, "invalid_authorization_response", query);
  }
});

Deno.test("parseAuthorizationResponse() reports the error of the server", () => {
  for (const rest of ["", `&iss=${AS}`, "&code=c0de"]) {
    const error = errorOf(
      "error=access_denied&error_description=User+said%0D%0A%1B[31m+no" +
        `&state=st-1&error_uri=${AS}/e${rest}`,
    );
    assertEquals({ ...error }, {
      name: "OAuthClientError",
      code: "oauth_error",
      error: "access_denied",
      error_description: "User said [31m no",
      error_uri: `${AS}/e`,
    });
    assertEquals(
      error.message,
      `Authorization at ${AS} failed: access_denied: User said [31m no`,
    );
  }
  const bare = errorOf("error=server_error&state=st-1");
  assertFalse("error_description" in bare);
  assertFalse("error" in errorOf("error=%22evil%22&state=st-1"));
});

Deno.test("parseAuthorizationResponse() cuts an error_description", () => {
  const error_description = "x".repeat(50_000);
  const query = { error: "access_denied", state: "st-1", error_description };
  const error = errorOf(new URLSearchParams(query).toString());
  assertEquals(error.error_description?.length, 2_000);
});

Deno.test("parseAuthorizationResponse() keeps an error_uri that is http or https, without control characters", () => {
  const rows: [error_uri: string, isKept: boolean][] = [
    ["http://as.example/\u001b]0;\u202ehelp\u0007", true],
    [`${AS}/help?a=1#b`, true],
    ["http://as.example/help", true],
    ["JavaScript:alert(1)", false],
    [" javascript:alert(1)", false],
    ["data:text/html,x", false],
    ["/help", false],
    ["", false],
  ];
  eachRow(rows, ([error_uri, isKept]) => {
    const query = { error: "access_denied", state: "st-1", error_uri };
    const error = errorOf(new URLSearchParams(query).toString());
    const shown = error_uri.replace(/[^ -~]/g, "");
    assertEquals(error.error_uri, isKept ? shown : undefined);
    assertEquals("error_uri" in error, isKept);
  });
});

Deno.test("parseAuthorizationResponse() rejects invalid arguments", () => {
  const rejects = (name: string, callback: unknown, given: unknown) =>
    assertThrowsCode(
      () => parseAuthorizationResponse(untyped(callback), untyped(given)),
      "invalid_argument",
      `${name} must be`,
    );
  for (const callback of [undefined, null, 7, {}, { url: 7 }]) {
    rejects("callback", callback, expected());
  }
  const query = "code=c0de&state=";
  for (const wrong of [undefined, null, "", 7]) {
    rejects("expected.state", query, { ...expected(), state: wrong });
    const given = expected({ issuer: wrong });
    rejects("serverMetadata.issuer", `${query}st-1&iss=undefined`, given);
  }
});
