/**
 * The first ID token of a session is valid, or is left out unless the caller has
 * requested it.
 */

import { assertEquals } from "@std/assert";
import {
  codeFlow,
  deviceFlow,
  finishAuthorization,
  type FlowRequest,
  type Session,
  startAuthorization,
} from "../../../mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import {
  AS,
  CODE_SERVER,
  comeBack,
  contextOf,
  DEVICE_AUTHORIZATION,
  DEVICE_AUTHORIZATION_ENDPOINT,
  pinRejected,
  REDIRECT_URI,
  TOKEN_ENDPOINT,
  unverifiedJwt,
} from "../../support/fixtures.ts";
import { json, stubFetch } from "../../support/stub_fetch.ts";

const NOW = 1_000_000;
const now = () => NOW * 1000;
const CLIENT = { issuer: AS, client_id: "c1" };
const CLAIMS = { iss: AS, sub: "ada", aud: "c1", iat: NOW, exp: NOW + 300 };
/** The discovery of a resource whose metadata lists `openid`. */
const CONTEXT = { ...contextOf(CODE_SERVER), scopes: ["openid", "read"] };

type Claims = Record<string, unknown>;
type Fetch = ReturnType<typeof stubFetch>["fetch"];

/** What is requested, by the caller and by the resource. */
interface Wanted {
  scopes?: string[];
  requiredScopes?: string[];
  parameters?: Readonly<Record<string, string>>;
}

/** Signs in; `visited` is called with the URL that the user is sent to. */
type SignIn = (
  fetch: Fetch,
  wanted: Wanted,
  visited: (url: URL) => void,
) => Promise<Session>;

function requestWith(
  fetch: Fetch,
  { requiredScopes }: Wanted,
): FlowRequest {
  const { scopes } = CONTEXT;
  return { context: CONTEXT, scopes, requiredScopes, fetch, now };
}

const SIGN_INS: Record<string, SignIn> = {
  async finishAuthorization(fetch, { scopes, parameters }, visited) {
    const { url, pending } = await startAuthorization(
      CONTEXT,
      { client: CLIENT, redirectUri: REDIRECT_URI, scopes, parameters, now },
    );
    visited(url);
    return await finishAuthorization(
      `code=c0de&state=${pending.state}`,
      // Plain JSON, which another process may finish.
      JSON.parse(JSON.stringify(pending)),
      { fetch, now },
    );
  },
  codeFlow: (fetch, wanted, visited) =>
    codeFlow({
      client: CLIENT,
      scopes: wanted.scopes,
      parameters: wanted.parameters,
      redirectUri: REDIRECT_URI,
      visit: (url) => {
        visited(url);
        return comeBack(url);
      },
    })(requestWith(fetch, wanted)),
  deviceFlow: (fetch, wanted) =>
    deviceFlow({
      client: CLIENT,
      scopes: wanted.scopes,
      parameters: wanted.parameters,
      show: () => {},
      delay: () => Promise.resolve(),
    })(requestWith(fetch, wanted)),
};

/** Signs in; returns the ID token that the server sent, and that of the session. */
async function signIn(run: SignIn, wanted: Wanted, claims: Claims) {
  let nonce: string | null = null;
  let id_token: string | undefined;
  using server = stubFetch({
    [DEVICE_AUTHORIZATION_ENDPOINT]: json(DEVICE_AUTHORIZATION),
    [TOKEN_ENDPOINT]: () => {
      id_token = unverifiedJwt({
        ...CLAIMS,
        ...(nonce && { nonce }),
        ...claims,
      });
      return Response.json({ access_token: "t0ken", id_token });
    },
  });
  const session = await run(server.fetch, wanted, (url) => {
    nonce = url.searchParams.get("nonce");
  });
  assertEquals(session.token.access_token, "t0ken");
  return { sent: id_token, kept: session.token.id_token };
}

const INVALID: [
  claims: Claims,
  parameters?: Record<string, string>,
][] = [
  [{ iss: "https://other.example" }],
  [{ aud: "c2" }],
  [{ exp: NOW - 60 }],
  [{ at_hash: "x" }],
  [{ nonce: "other" }, { nonce: "n1" }],
  [{ auth_time: NOW - 999 }, { max_age: "60" }],
  [{}, { max_age: "60" }],
];

for (const [name, run] of Object.entries(SIGN_INS)) {
  Deno.test(`${name}() keeps a valid ID token, whoever has requested it`, async () => {
    const parameters = { max_age: "60" };
    for (const wanted of [{}, { scopes: ["openid"], parameters }]) {
      const { sent, kept } = await signIn(run, wanted, { auth_time: NOW - 60 });
      assertEquals(kept, sent);
    }
  });

  Deno.test(`${name}() fails if an ID token that the caller has requested is not valid`, async () => {
    await eachRowInTurn(INVALID, async ([claims, parameters = {}]) => {
      const wanted = { scopes: ["read", "openid"], parameters };
      const call = () => signIn(run, wanted, claims);
      await pinRejected(call, "invalid_id_token");
    });
  });

  Deno.test(`${name}() leaves out an ID token that is not valid, and that only the resource has requested`, async () => {
    for (const [claims, parameters = {}] of INVALID) {
      for (
        const wanted of [{}, { scopes: ["read"], requiredScopes: ["openid"] }]
      ) {
        if (wanted.scopes && name === "finishAuthorization") continue;
        const { kept } = await signIn(run, { ...wanted, parameters }, claims);
        assertEquals(kept, undefined, JSON.stringify(claims));
      }
    }
  });

  Deno.test(`${name}() checks no ID token without the scope openid`, async () => {
    const claims = { iss: "https://other.example" };
    const { sent, kept } = await signIn(run, { scopes: ["read"] }, claims);
    assertEquals(kept, sent);
  });
}
