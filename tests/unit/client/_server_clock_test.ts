/** Servers whose clock is not that of this machine. */

import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import {
  clientAssertion,
  createAuthorizedFetch,
  createDpop,
  getClaimsFromJWT,
  type IFetchTokenOptions,
  memoryStore,
  OAuthClientError,
  privateKeyJwt,
} from "../../../mod.ts";
import { AS, createSigningKeys, MCP } from "../../support/fixtures.ts";
import { requestToken } from "../../support/request_token.ts";
import { SESSION } from "../../support/resource.ts";
import type { Answer, IStubRequest } from "../../support/stub_fetch.ts";
import { untyped } from "../../support/stub_fetch.ts";

const NOW = 1_700_000_000;
const now = () => NOW * 1000;
const dateOf = (seconds: number) => new Date(seconds * 1000).toUTCString();

/** The times of the JWTs of a request, compared with this machine. */
function iatsOf({ headers, body }: IStubRequest): (number | undefined)[] {
  const assertion = new URLSearchParams(body).get("client_assertion");
  return [headers.DPoP, assertion].map((jwt) =>
    jwt ? getClaimsFromJWT(jwt).iat! - NOW : undefined
  );
}

interface IClock {
  /** By how many seconds the server is ahead. */
  ahead: number;
  /** The same of its field `Date`; null if there is none. */
  date?: number | null;
  /** The errors for a proof and for an assertion; the nonce that is required. */
  errors?: readonly [proof: string, assertion: string];
  nonce?: string;
}

/** A token endpoint that refuses the JWTs of another time. */
function serverWith(clock: IClock): Answer {
  return (request) => {
    const { ahead, date = ahead, nonce } = clock;
    const { errors = ["invalid_dpop_proof", "invalid_client"] } = clock;
    const headers = { ...(date !== null && { Date: dateOf(NOW + date) }) };
    const refuse = (error: string, further = {}) =>
      Response.json({ error }, {
        status: 400,
        headers: { ...headers, ...further },
      });
    const [proof, assertion] = iatsOf(request);
    if (assertion !== undefined && Math.abs(assertion - ahead) > 30) {
      return refuse(errors[1]);
    }
    if (proof !== undefined && Math.abs(proof - ahead) > 30) {
      return refuse(errors[0]);
    }
    const { DPoP } = request.headers;
    return DPoP && nonce && getClaimsFromJWT(DPoP).nonce !== nonce
      ? refuse("use_dpop_nonce", { "DPoP-Nonce": nonce })
      : Response.json({
        access_token: "t",
        token_type: DPoP ? "DPoP" : "Bearer",
      });
  };
}

type Signs = "proof" | "assertion" | "both";

/** What signs the JWTs of requests, by the clock of this machine. */
async function signersOf(signs: Signs): Promise<IFetchTokenOptions> {
  const { privateKey } = await createSigningKeys();
  return {
    now,
    ...(signs !== "assertion" && { dpop: await createDpop({ now }) }),
    ...(signs !== "proof" && {
      client: privateKeyJwt("c1", privateKey, { issuer: AS, now }),
    }),
  };
}

/** The times of the JWTs of each request, and the error if it failed. */
async function sent(clock: IClock, options: IFetchTokenOptions) {
  const { result, requests } = await requestToken(serverWith(clock), options);
  return {
    iats: requests.map((one) => iatsOf(one).find((iat) => iat !== undefined)),
    error: result instanceof OAuthClientError ? result : undefined,
  };
}

Deno.test("fetchToken() repeats a request once by the clock of a server that refuses its JWT", async () => {
  const rows: [clock: IClock, signs: Signs, iats: number[]][] = [
    [{ ahead: 90 }, "proof", [0, 90]],
    [{ ahead: -90 }, "proof", [0, -90]],
    [{ ahead: 90 }, "assertion", [0, 90]],
    [{ ahead: -3600 }, "assertion", [0, -3600]],
    [{ ahead: 90, errors: ["", "invalid_grant"] }, "assertion", [0, 90]],
    [{ ahead: 90, nonce: "n" }, "proof", [0, 90, 90]],
    // Each of the two JWTs is refused once.
    [{ ahead: 90 }, "both", [0, 0, 90]],
  ];
  for (const [clock, signs, expected] of rows) {
    const options = await signersOf(signs);
    const first = await sent(clock, options);
    assertEquals([first.error, first.iats.length], [
      undefined,
      expected.length,
    ]);
    if (signs !== "both") assertEquals(first.iats, expected);
    // Kept for this server.
    const next = await sent(clock, options);
    assertEquals(next, { iats: [clock.ahead], error: undefined });
  }
});

Deno.test("fetchToken() repeats no request for another reason than the clock", async () => {
  const rows: [clock: IClock, signs: Signs][] = [
    [{ ahead: 90, date: null }, "proof"],
    [{ ahead: 90, date: null }, "assertion"],
    // The clocks agree.
    [{ ahead: 90, date: 30 }, "proof"],
    [{ ahead: 90, date: -30 }, "assertion"],
    [{ ahead: 90, errors: ["invalid_request", ""] }, "proof"],
    [{ ahead: 90, errors: ["invalid_client", ""] }, "proof"],
    [{ ahead: 90, errors: ["", "invalid_scope"] }, "assertion"],
    [{ ahead: 90, errors: ["", "authorization_pending"] }, "assertion"],
    [{ ahead: 90, errors: ["", "invalid_dpop_proof"] }, "assertion"],
  ];
  for (const [clock, signs] of rows) {
    const { iats, error } = await sent(clock, await signersOf(signs));
    assertEquals(iats, [0], JSON.stringify(clock));
    assert(!error?.message.includes("clock"), error?.message);
  }
});

Deno.test("fetchToken() says by how much the clocks differ if the server refuses its time too", async () => {
  const rows = [
    [90, "the clock of this machine is 90 s behind that of the server"],
    [-90, "the clock of this machine is 90 s ahead of that of the server"],
  ] as const;
  for (const [date, text] of rows) {
    for (const signs of ["proof", "assertion"] as const) {
      const options = await signersOf(signs);
      const { iats, error } = await sent({ ahead: 500, date }, options);
      assertEquals(iats, [0, date]);
      assert(error?.message.includes(text), error?.message);
      // Not kept: the `Date` may be that of a proxy.
      const next = await sent({ ahead: 0 }, options);
      assertEquals(next, { iats: [0], error: undefined });
    }
  }
});

Deno.test("fetchToken() explains the time of an assertion that it has not signed, and sends it once", async () => {
  const jwt = (claims: object) =>
    `${btoa("{}")}.${btoa(JSON.stringify(claims))}.x`;
  const rows: [claims: object, ahead: number, text: string][] = [
    [{ iat: NOW }, -90, "machine is 90 s ahead of"],
    [{ iat: NOW + 50 }, 0, "the JWT was issued 50 s in the future"],
    [{ iat: NOW - 4000, exp: NOW - 400 }, 0, "the JWT expired 400 s ago"],
  ];
  for (const [claims, ahead, text] of rows) {
    const headers = { Date: dateOf(NOW + ahead) };
    const assertion = jwt(claims);
    const rows = [
      [clientAssertion("c1", () => assertion), ""],
      [undefined, `assertion=${assertion}`],
    ] as const;
    for (const [client, form] of rows) {
      const { result, requests } = await requestToken(
        () =>
          Response.json({ error: "invalid_grant" }, { status: 400, headers }),
        { client, now },
        new URLSearchParams(form),
      );
      assertInstanceOf(result, OAuthClientError);
      assert(result.message.includes(text), result.message);
      assertEquals(requests.length, 1);
    }
  }
});

/** Calls a resource whose clock is ahead, and returns the times of the proofs. */
async function calls(ahead: number, date: number, init?: RequestInit) {
  const dpop = await createDpop({ now });
  const iats: number[] = [];
  const token = { access_token: "a1", token_type: "DPoP" };
  const api = createAuthorizedFetch(MCP, {
    authorize: () => Promise.reject(new Error("The user was asked")),
    store: memoryStore({ ...SESSION, token, dpopThumbprint: dpop.thumbprint }),
    dpop,
    fetch: (_url, init) => {
      const proof = new Headers(init?.headers).get("DPoP") ?? "";
      const iat = getClaimsFromJWT(proof).iat! - NOW;
      iats.push(iat);
      const challenge = 'DPoP error="invalid_dpop_proof"';
      return Promise.resolve(
        Math.abs(iat - ahead) <= 30 ? new Response() : new Response(null, {
          status: 401,
          headers: { "WWW-Authenticate": challenge, Date: dateOf(NOW + date) },
        }),
      );
    },
  });
  const statuses = [await api(MCP, init), await api(MCP)]
    .map(({ status }) => status);
  return { iats, statuses };
}

Deno.test("createAuthorizedFetch() repeats a call once by the clock of a resource that refuses its proof", async () => {
  const rows: [ahead: number, date: number, expected: unknown][] = [
    [90, 90, { iats: [0, 90, 90], statuses: [200, 200] }],
    [90, 0, { iats: [0, 0], statuses: [401, 401] }],
    [500, 90, { iats: [0, 90, 0, 90], statuses: [401, 401] }],
  ];
  for (const [ahead, date, expected] of rows) {
    assertEquals<unknown>(await calls(ahead, date), expected);
  }
  // A stream is sent once, but the clock is kept.
  const body = new Blob(["once"]).stream();
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const streamed = await calls(90, 90, init);
  assertEquals(streamed, { iats: [0, 90], statuses: [401, 200] });
});

Deno.test("noteResponse() keeps the clock of an origin if the proof is given", async () => {
  const dpop = await createDpop({ now });
  const proofFor = (url: string) => dpop.createProof({ method: "GET", url });
  const iatFor = async (url: string) =>
    getClaimsFromJWT(await proofFor(url)).iat! - NOW;
  const proof = await proofFor(MCP);
  const challenge = 'DPoP error="invalid_dpop_proof"';
  const note = (date: string, proof?: string, status = 401) =>
    dpop.noteResponse(MCP, {
      proof,
      status,
      headers: new Headers({ "WWW-Authenticate": challenge, Date: date }),
    });
  const date = dateOf(NOW + 90);
  assertEquals(note(date), false);
  assertEquals(note(date, proof, 403), false);
  for (const other of ["", "2100", "Tue, 14 Nov 2023", "12:00:00 GMT"]) {
    assertEquals(note(other, proof), false, other);
  }
  assertEquals(note(date, untyped("no JWT")), false);
  assertEquals(await iatFor(MCP), 0);
  assertEquals(note(date, proof), true);
  // Of a concurrent request, which was signed before.
  assertEquals(note(date, proof), true);
  assertEquals(await iatFor(MCP), 90);
  assertEquals(await iatFor(AS), 0);
});
