/** The line about revoked tokens claims no more than the server has done. */

import { assertEquals } from "@std/assert";
import { revocationLine } from "../../../lib/cli/commands/_logout.ts";
import type { Revocation } from "../../../lib/session/session.ts";
import { eachRow } from "../../support/each_row.ts";

const NOW = 1_000_000_000;
const error = new Error("no");

Deno.test("revocationLine() says which tokens the server has revoked, and until when the others are valid", () => {
  const token = {
    access_token: "a",
    refresh_token: "r",
    token_type: "Bearer",
    expires_at: NOW + 600,
  };
  const { expires_at: _, ...lasting } = token;
  const refresh = { type: "refresh_token", token } as const;
  const access = { type: "access_token", token } as const;
  const deleted = "Signed out: the session is deleted";
  const rows: [revocations: Revocation[], line: string][] = [
    [[], `${deleted}. No token is revoked.`],
    [
      [{ ...refresh, error: undefined }, { ...access, error: undefined }],
      `${deleted}, and the server has revoked the refresh token and the ` +
      "access token.",
    ],
    [
      [{ ...refresh, error: undefined }, { ...access, error }],
      `${deleted}, and the server has revoked the refresh token. The server ` +
      "has not revoked the access token, which expires in 10 min " +
      "(2001-09-09T01:56:40Z).",
    ],
    [
      [{ ...refresh, error }, { ...access, token: lasting, error }],
      `${deleted}. The server has not revoked the refresh token, whose expiry ` +
      "is unknown, and the access token, whose expiry is unknown.",
    ],
    [
      [{ ...access, token: { ...token, expires_at: NOW - 1 }, error }],
      `${deleted}. The server has not revoked the access token, which expired ` +
      "1 s ago (2001-09-09T01:46:39Z).",
    ],
  ];
  eachRow(
    rows,
    ([revocations, line]) =>
      assertEquals(revocationLine(revocations, () => NOW * 1_000), line),
  );
});
