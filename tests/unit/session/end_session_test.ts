/** A sign-out at the server has the ID token and a URL that a browser may open. */

import { assert, assertEquals } from "@std/assert";
import { buildEndSessionUrl, type Session } from "../../../mod.ts";
import { eachRow } from "../../support/each_row.ts";
import { AS, assertThrowsCode } from "../../support/fixtures.ts";
import { SESSION as RESOURCE_SESSION } from "../../support/resource.ts";
import { untyped } from "../../support/stub_fetch.ts";

const END = `${AS}/logout`;
const BACK = "https://app.example/?a=1&b=2";

function sessionAt(
  end_session_endpoint: string | undefined = END,
  changes: Partial<Session> = {},
): Session {
  const { server: serverMetadata } = RESOURCE_SESSION;
  return {
    ...RESOURCE_SESSION,
    token: { ...RESOURCE_SESSION.token, id_token: "i.d.t" },
    server: untyped({ ...serverMetadata, end_session_endpoint }),
    ...changes,
  };
}

Deno.test("buildEndSessionUrl() sends the ID token, the client and what it is given", () => {
  const { token } = RESOURCE_SESSION;
  const hint = { id_token_hint: "i.d.t", client_id: "c1" };
  const rows: [
    session: Session,
    options: Parameters<typeof buildEndSessionUrl>[1],
    parameters: Record<string, string>,
  ][] = [
    [sessionAt(), undefined, hint],
    [sessionAt(END, { token }), {}, { client_id: "c1" }],
    // The ID token is a credential.
    [sessionAt(END, { bearer: "id_token" }), {}, { client_id: "c1" }],
    [
      (({ client: _, ...left }) => left)(sessionAt()),
      {},
      { id_token_hint: "i.d.t" },
    ],
    [
      sessionAt(),
      {
        postLogoutRedirectUri: new URL(BACK),
        state: "s 1",
        logoutHint: "alice@example.com",
        uiLocales: ["fr-CA", "fr"],
      },
      {
        ...hint,
        post_logout_redirect_uri: BACK,
        state: "s 1",
        logout_hint: "alice@example.com",
        ui_locales: "fr-CA fr",
      },
    ],
    // The query of the endpoint is kept, but for what this function sets.
    [sessionAt(`${END}?p=1&client_id=x#f`), {}, { ...hint, p: "1" }],
  ];
  eachRow(rows, ([session, options, parameters]) => {
    const url = buildEndSessionUrl(session, options);
    assert(url);
    assertEquals(url.origin + url.pathname + url.hash, END);
    assertEquals(Object.fromEntries(url.searchParams), parameters);
    assertEquals(url.search.includes("+"), false);
  });
});

Deno.test("buildEndSessionUrl() returns nothing for a session without the endpoint, or with a URL that no browser should open", () => {
  const rows = [
    ...["javascript:alert(1)", "http://as.example/logout", "/logout", 1, {}],
    ...["https://u:p@as.example/", "http://127.0.0.1/logout", ""],
  ];
  for (const url of rows) {
    assertEquals(buildEndSessionUrl(sessionAt(untyped(url))), undefined);
  }
  assertEquals(buildEndSessionUrl(RESOURCE_SESSION), undefined);
  const plain = sessionAt("http://as.example/logout");
  const url = buildEndSessionUrl(plain, { allowHttp: true });
  assertEquals(url?.protocol, "http:");
});

Deno.test("buildEndSessionUrl() refuses options of the wrong type", () => {
  const rows = [
    { postLogoutRedirectUri: "" },
    { postLogoutRedirectUri: 1 },
    { state: "" },
    { logoutHint: "" },
    { uiLocales: "fr" },
  ];
  for (const options of rows) {
    const call = () => buildEndSessionUrl(sessionAt(), untyped(options));
    assertThrowsCode(call, "invalid_argument");
  }
  assertThrowsCode(
    () => buildEndSessionUrl(untyped(undefined)),
    "invalid_argument",
  );
});
