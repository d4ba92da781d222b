/** Registrations whose members have the wrong type, or are nested deeply. */

import { assertEquals } from "@std/assert";
import { codeFlow, ensureClient, registerClient } from "../../mod.ts";
import {
  AS,
  CODE_SERVER,
  CONTEXT,
  REDIRECT_URI,
  REGISTRATION_ENDPOINT,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import { stubFetch, untyped } from "../support/stub_fetch.ts";

const nested = "[".repeat(20_000) + "]".repeat(20_000);

/** Answers a registration with one more member, as JSON. */
function registering(member: string, value: string) {
  return stubFetch({
    [REGISTRATION_ENDPOINT]: () =>
      new Response(`{"client_id":"c1","${member}":${value}}`, { status: 201 }),
    [TOKEN_ENDPOINT]: () =>
      Response.json({ access_token: "a1", token_type: "Bearer" }),
  });
}

const MEMBERS = [
  "redirect_uris",
  "grant_types",
  "response_types",
  "client_secret",
  "client_secret_expires_at",
  "token_endpoint_auth_method",
  "formEncode",
];

for (const member of MEMBERS) {
  Deno.test(`registerClient() leaves out a ${member} of the wrong type`, async () => {
    for (const value of ["-1", "{}", nested, `[${nested}]`]) {
      using stub = registering(member, value);
      const client = await registerClient(CODE_SERVER, {}, stub);
      const { [member]: kept, ...rest } = untyped(client);
      assertEquals(rest, { client_id: "c1", issuer: AS });
      const isEmpty = kept === undefined || kept === -1 ||
        (Array.isArray(kept) && kept.length === 0);
      assertEquals(isEmpty, true, value.slice(0, 5));
    }
  });
}

// By `authenticate`, clients are told apart from those with their own authentication.
for (const member of [...MEMBERS, "authenticate"]) {
  Deno.test(`codeFlow() signs in again after a registration with a ${member} of the wrong type`, async () => {
    for (const value of ["-1", "{}", nested]) {
      using stub = registering(member, value);
      const authorize = codeFlow({
        redirectUri: REDIRECT_URI,
        clientMetadata: { client_name: "x" },
        visit: (_url, { pending: { state } }) =>
          Promise.resolve(new URLSearchParams({ code: "c", state })),
      });
      const { fetch } = stub;
      const session = await authorize({ context: CONTEXT, scopes: [], fetch });
      await authorize({ context: CONTEXT, scopes: [], fetch, session });
      // A client that an earlier version has stored.
      await ensureClient(CODE_SERVER, {
        knownClients: [
          JSON.parse(
            `{"issuer":"${AS}","client_id":"c1","${member}":${value}}`,
          ),
        ],
        clientMetadata: { client_name: "x" },
        redirectUri: REDIRECT_URI,
        fetch,
      });
    }
  });
}
