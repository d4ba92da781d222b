/** An authorization response counts only with its state, its issuer and one code. */

import {
  assertEquals,
  assertFalse,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { OAuthClientError, parseAuthorizationResponse } from "../../../mod.ts";
import { AS, assertThrowsCode, pinThrown } from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";
import { eachRow } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

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
  const long = "x".repeat(2_000);
  const rows: [iss: string | undefined, shown?: string][] = [
    ["https://idp.example/t", '"https://idp.example/t"'],
    [`${AS}/`, `"${AS}/"`],
    ["", '""'],
    ["a\u202eb\u0007\nc", '"ab c"'],
    ["https://u:pw@idp.example", '"https://[redacted]@idp.example"'],
    [`${long}x`, `"${long}"`],
    [`https://idp.example/${state}`],
    [`https://idp.example/${code}`],
    [undefined],
  ];
  const announced = { authorization_response_iss_parameter_supported: true };
  for (const [iss, shown = ""] of rows) {
    const query = new URLSearchParams({ state, code });
    if (iss !== undefined) query.set("iss", iss);
    const { message } = assertThrowsCode(
      () =>
        parseAuthorizationResponse(query, { ...expected(announced), state }),
      "issuer_mismatch",
    );
    assertStringIncludes(message, `is ${shown}`);
    assertFalse(/of-the-user/.test(message));
    pinMessage(message.replace(shown || "-", "ISSUER"));
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
  pinThrown(
    () => parseAuthorizationResponse(other, at),
    "invalid_authorization_response",
  );
  // A proxy may change the origin of a request, but not its path.
  const internal = new Request(`http://app:3000/callback${query}`);
  assertEquals(parseAuthorizationResponse(internal, at).code, "c0de");
  pinThrown(
    () => parseAuthorizationResponse(new Request(other), at),
    "invalid_authorization_response",
  );
});

Deno.test("parseAuthorizationResponse() refuses a response without iss where it is required", () => {
  const required = { ...expected(), requireIss: true };
  const query = "code=c0de&state=st-1";
  pinThrown(
    () => parseAuthorizationResponse(query, required),
    "issuer_mismatch",
  );
  const withIss = `${query}&iss=${AS}`;
  assertEquals(parseAuthorizationResponse(withIss, required).code, "c0de");
});

Deno.test("parseAuthorizationResponse() names the option that may help", () => {
  const resource = "https://api.example";
  const rows: [error: string, requested: object, option: string][] = [
    ["invalid_target", { resource }, "resourceIndicator: false"],
    ["invalid_target", { resource: false }, ""],
    ["invalid_target", {}, ""],
    ["invalid_scope", {}, "set scopes, or"],
    // The user has refused: other scopes are no remedy.
    ["access_denied", {}, ""],
    ["server_error", {}, ""],
  ];
  eachRow(rows, ([error, requested, option]) => {
    const query = `state=st-1&error=${error}`;
    const { message } = pinThrown(
      () => parseAuthorizationResponse(query, { ...expected(), ...requested }),
      "oauth_error",
      { error },
    );
    assertEquals(message.includes("("), option !== "");
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
    pinMessage(error);
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
  const rejects = (name: string, callback: unknown, given: unknown) => {
    const { message } = pinThrown(
      () => parseAuthorizationResponse(untyped(callback), untyped(given)),
      "invalid_argument",
    );
    assertStringIncludes(message, name);
  };
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
