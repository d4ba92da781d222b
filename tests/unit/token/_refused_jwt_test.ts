/** Servers whose clock is not that of this machine. */

import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertStringIncludes,
} from "@std/assert";
import {
  clientAssertion,
  createDpop,
  type FetchTokenOptions,
  getClaimsFromJWT,
  OAuthClientError,
  privateKeyJwt,
} from "../../../mod.ts";
import { AS, createSigningKeys } from "../../support/fixtures.ts";
import { requestToken } from "../../support/request_token.ts";
import type { Answer, StubRequest } from "../../support/stub_fetch.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { pinMessage } from "../../support/pin_message.ts";

const NOW = 1_700_000_000;
const now = () => NOW * 1000;
const dateOf = (seconds: number) => new Date(seconds * 1000).toUTCString();

/** The times of the JWTs of a request, compared with this machine. */
function iatsOf({ headers, body }: StubRequest): (number | undefined)[] {
  const assertion = new URLSearchParams(body).get("client_assertion");
  return [headers.DPoP, assertion].map((jwt) =>
    jwt ? getClaimsFromJWT(jwt).iat! - NOW : undefined
  );
}

interface Clock {
  /** By how many seconds the server is ahead. */
  ahead: number;
  /** The same of its field `Date`; null if there is none; a string is the field itself. */
  date?: number | string | null;
  errors?: readonly [proof: string, assertion: string];
}

/** A token endpoint that refuses the JWTs of another time. */
function serverWith(clock: Clock): Answer {
  return (request) => {
    const { ahead, date = ahead } = clock;
    const { errors = ["invalid_dpop_proof", "invalid_client"] } = clock;
    const headers = {
      ...(date !== null && {
        Date: typeof date === "string" ? date : dateOf(NOW + date),
      }),
    };
    const [proof, assertion] = iatsOf(request)
      .map((iat) => iat !== undefined && Math.abs(iat - ahead) > 30);
    const error = assertion ? errors[1] : proof ? errors[0] : undefined;
    return error === undefined
      ? Response.json({
        access_token: "t",
        token_type: request.headers.DPoP ? "DPoP" : "Bearer",
      })
      : Response.json({ error }, { status: 400, headers });
  };
}

type Signs = "proof" | "assertion" | "both";

/** What signs the JWTs of requests, by the clock of this machine or another one. */
async function signersOf(
  signs: Signs,
  now: () => number,
): Promise<FetchTokenOptions> {
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
async function sent(clock: Clock, options: FetchTokenOptions) {
  const { result, requests } = await requestToken(serverWith(clock), options);
  return {
    iats: requests.map((one) => iatsOf(one).find((iat) => iat !== undefined)),
    error: result instanceof OAuthClientError ? result : undefined,
  };
}

Deno.test("fetchToken() says by how much the clocks differ if the server refuses a JWT, which now corrects", async () => {
  const rows: [clock: Clock, signs: Signs][] = [
    [{ ahead: 90 }, "proof"],
    [{ ahead: -90 }, "proof"],
    [{ ahead: 90 }, "assertion"],
    [{ ahead: -3600 }, "assertion"],
    [{ ahead: 90, errors: ["", "invalid_grant"] }, "assertion"],
    [{ ahead: 90 }, "both"],
  ];
  await eachRowInTurn(rows, async ([clock, signs]) => {
    const { iats, error } = await sent(clock, await signersOf(signs, now));
    assertEquals(iats, [0]);
    assertStringIncludes(error?.message ?? "", `${Math.abs(clock.ahead)}`);
    pinMessage(error?.message ?? "");
    const corrected = () => now() + clock.ahead * 1000;
    const options = await signersOf(signs, corrected);
    assertEquals(await sent(clock, options), {
      iats: [clock.ahead],
      error: undefined,
    });
  });
});

Deno.test("fetchToken() says nothing about the clock after a failure for another reason", async () => {
  const rows: [clock: Clock, signs: Signs][] = [
    [{ ahead: 90, date: null }, "proof"],
    [{ ahead: 90, date: null }, "assertion"],
    [{ ahead: 90, date: "2100" }, "proof"],
    [{ ahead: 90, date: "Tue, 14 Nov 2023" }, "proof"],
    [{ ahead: 90, date: "12:00:00 GMT" }, "proof"],
    // The clocks agree.
    [{ ahead: 90, date: 30 }, "proof"],
    [{ ahead: 90, date: -30 }, "assertion"],
    [{ ahead: 90, errors: ["invalid_request", ""] }, "proof"],
    [{ ahead: 90, errors: ["invalid_client", ""] }, "proof"],
    [{ ahead: 90, errors: ["", "invalid_scope"] }, "assertion"],
    [{ ahead: 90, errors: ["", "authorization_pending"] }, "assertion"],
    [{ ahead: 90, errors: ["", "invalid_dpop_proof"] }, "assertion"],
  ];
  await eachRowInTurn(rows, async ([clock, signs]) => {
    const { iats, error } = await sent(clock, await signersOf(signs, now));
    assertEquals(iats, [0], JSON.stringify(clock));
    assert(!error?.message.includes("clock"), error?.message);
  });
});

Deno.test("fetchToken() says by how much the clocks differ for an assertion that it has not signed", async () => {
  const assertion = "not.a.jwt";
  const rows = [
    [clientAssertion("c1", () => assertion), ""],
    [undefined, `assertion=${assertion}`],
  ] as const;
  await eachRowInTurn(rows, async ([client, form]) => {
    for (const ahead of [90, 30]) {
      const headers = { Date: dateOf(NOW - ahead) };
      const { result, requests } = await requestToken(
        () =>
          Response.json({ error: "invalid_grant" }, { status: 400, headers }),
        { client, now },
        new URLSearchParams(form),
      );
      assertInstanceOf(result, OAuthClientError);
      assertEquals(result.message.includes("clock"), ahead === 90);
      assertEquals(requests.length, 1);
    }
  });
});
