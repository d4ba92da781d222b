/** The summary of a session says what it is good for, and shows no secret. */

import { assert, assertEquals } from "@std/assert";
import { summaryLines, summaryOf } from "../../../lib/cli/_summary.ts";
import type { Session } from "../../../mod.ts";
import { SESSION, SESSION_CLIENT } from "../../support/resource.ts";
import { eachRow } from "../../support/each_row.ts";

const url = SESSION.resource;
const now = () => 1_000_000_000;

const session = (token: Partial<Session["token"]>): Session => ({
  ...SESSION,
  client: {
    ...SESSION.client,
    client_secret: "client-s3cret",
    registration_access_token: "registration-t0ken",
    registration_client_uri: "https://as.example/register/c1",
  },
  token: {
    access_token: "access-t0ken",
    token_type: "Bearer",
    id_token: "id-t0ken",
    ...token,
  },
});

Deno.test("summaryOf() says whether a person is needed", () => {
  const soon = 1_000_100;
  const past = 999_900;
  const rows: [token: Partial<Session["token"]>, state: string][] = [
    [{}, "valid"],
    [{ expires_at: soon }, "valid"],
    [{ expires_at: past }, "ended"],
    [{ expires_at: past, refresh_token: "r" }, "refreshable"],
    [
      { expires_at: past, refresh_token: "r", refresh_expires_at: past },
      "ended",
    ],
    [{ access_token: "" }, "ended"],
  ];
  eachRow(rows, ([token, state]) => {
    assertEquals(summaryOf({ url, session: session(token) }, now).state, state);
  });
});

Deno.test("summaryOf() and summaryLines() have no token and no secret", () => {
  const summary = summaryOf({
    url,
    account: "work",
    session: session({
      expires_at: 1_003_600,
      refresh_token: "refresh-t0ken",
      refresh_expires_at: 1_864_000,
      scope: "read write\u202e",
    }),
  }, now);
  assertEquals(summary, {
    url,
    account: "work",
    state: "valid",
    resource: url,
    issuer: "https://as.example",
    client_id: "c1",
    can_delete_client: true,
    scopes: ["read"],
    expires_at: 1_003_600,
    has_refresh_token: true,
    refresh_expires_at: 1_864_000,
  });
  const lines = summaryLines(summary, now);
  assertEquals(lines, [
    `${url} (work)`,
    "  issuer    https://as.example",
    "  scopes    read",
    "  token     expires in 60 min (1970-01-12T14:46:40Z)",
    "  refresh   expires in 10 days (1970-01-22T13:46:40Z)",
    "  client    can be deleted: logout --client",
  ]);
  const text = JSON.stringify(summary) + lines.join();
  for (const secret of ["t0ken", "s3cret"]) assert(!text.includes(secret));
});

Deno.test("summaryLines() says what has ended, and another resource than the URL", () => {
  const kept = {
    ...session({ expires_at: 999_995 }),
    client: SESSION_CLIENT,
    resource: "https://api.example/",
  };
  assertEquals(summaryLines(summaryOf({ url, session: kept }, now), now), [
    url,
    "  resource  https://api.example/",
    "  issuer    https://as.example",
    "  scopes    read",
    "  token     ended: sign in again",
    "  refresh   no refresh token",
  ]);
  const refreshable = session({ expires_at: 999_995, refresh_token: "r" });
  const [, , , token, refresh] = summaryLines(
    summaryOf({ url, session: refreshable }, now),
    now,
  );
  assertEquals(token, "  token     expired 5 s ago (1970-01-12T13:46:35Z)");
  assertEquals(refresh, "  refresh   yes");
});
