import { assertEquals } from "@std/assert";
import { encodeBase64Url } from "../../../lib/core/_base64.ts";
import { checkIdToken, type ICheckIdTokenOptions } from "../../../mod.ts";
import {
  AS,
  assertInvalidArgument,
  assertRejectsCode,
} from "../../support/fixtures.ts";
import { untyped } from "../../support/stub_fetch.ts";

const NOW = 1_000_000;
const CLAIMS = { iss: AS, sub: "u1", aud: "c1", iat: NOW - 5, exp: NOW + 300 };
const OPTIONS: ICheckIdTokenOptions = {
  issuer: AS,
  clientId: "c1",
  now: () => NOW * 1000,
};

/** Makes an ID token, whose signature nothing here looks at. */
function idToken(claims: Record<string, unknown> = {}, alg = "RS256"): string {
  return [{ alg }, { ...CLAIMS, ...claims }]
    .map((part) => encodeBase64Url(JSON.stringify(part))).join(".") + ".c2ln";
}

async function messageOf(
  claims: Record<string, unknown>,
  options: Partial<ICheckIdTokenOptions> = {},
  alg?: string,
): Promise<string> {
  const error = await assertRejectsCode(
    () => checkIdToken(idToken(claims, alg), { ...OPTIONS, ...options }),
    "invalid_id_token",
  );
  return error.message.replace("Invalid ID token: ", "");
}

async function passes(
  claims: Record<string, unknown>,
  options: Partial<ICheckIdTokenOptions> = {},
  alg?: string,
): Promise<void> {
  const token = idToken(claims, alg);
  const checked = await checkIdToken(token, { ...OPTIONS, ...options });
  // Undefined members are not part of the JSON.
  const expected = JSON.parse(JSON.stringify({ ...CLAIMS, ...claims }));
  assertEquals<unknown>(checked, expected);
}

Deno.test("checkIdToken() returns the claims of a valid ID token", async () => {
  await passes({ name: "Ada", nonce: "not requested" });
});

Deno.test("checkIdToken() fails on anything but a signed JWT", async () => {
  for (const token of ["t0ken", "a.b.c", "a.b.c.d.e"]) {
    await assertRejectsCode(
      () => checkIdToken(token, OPTIONS),
      "invalid_id_token",
      "Invalid ID token: it is not a signed JWT",
    );
  }
});

Deno.test("checkIdToken() compares the issuer as a string", async () => {
  for (const iss of [`${AS}/`, "https://AS.example", undefined, [AS]]) {
    assertEquals(await messageOf({ iss }), "its iss is not the issuer");
  }
});

Deno.test("checkIdToken() requires a subject", async () => {
  const message = "its claim sub is missing or not a string";
  for (const sub of [undefined, "", 7]) {
    assertEquals(await messageOf({ sub }), message);
  }
});

Deno.test("checkIdToken() requires the client as audience, and as azp with several", async () => {
  await passes({ aud: ["c1"] });
  await passes({ aud: "c1", azp: "c1" });
  await passes({ aud: ["c1", "c2"], azp: "c1" });
  const aud = "its aud does not contain the client";
  for (const value of [undefined, "c2", [], ["c2"], "c1 c2", { c1: "c1" }]) {
    assertEquals(await messageOf({ aud: value }), aud);
  }
  const azp = "its azp is not the client";
  assertEquals(await messageOf({ aud: ["c1", "c2"] }), azp);
  assertEquals(await messageOf({ aud: ["c1", "c2"], azp: "c2" }), azp);
  assertEquals(await messageOf({ azp: "c2" }), azp);
  assertEquals(await messageOf({ azp: null }), azp);
});

Deno.test("checkIdToken() allows the clocks to differ by skewSeconds", async () => {
  await passes({ exp: NOW - 29 });
  await passes({ iat: NOW + 30, nbf: NOW + 30, auth_time: NOW + 30 });
  await passes({ exp: NOW + 1 }, { skewSeconds: 0 });
  assertEquals(await messageOf({ exp: NOW - 30 }), "it has expired");
  assertEquals(
    await messageOf({ exp: NOW }, { skewSeconds: 0 }),
    "it has expired",
  );
  for (const name of ["iat", "nbf", "auth_time"]) {
    const message = `its ${name} is in the future (check the clock)`;
    assertEquals(await messageOf({ [name]: NOW + 31 }), message);
  }
});

Deno.test("checkIdToken() requires times that are numbers", async () => {
  for (const name of ["exp", "iat"]) {
    for (const value of [undefined, null, `${NOW + 300}`]) {
      const message = `its claim ${name} is missing or not a number`;
      assertEquals(await messageOf({ [name]: value }), message);
    }
  }
});

Deno.test("checkIdToken() requires the nonce of the request", async () => {
  await passes({ nonce: "n1" }, { nonce: "n1" });
  const other = "its nonce is not that of the request";
  const none = "it has no nonce, and the request had one";
  for (
    const [nonce, message] of [
      ["n2", other],
      [["n1"], other],
      [undefined, none],
      [null, none],
      ["", none],
    ]
  ) {
    assertEquals(await messageOf({ nonce }, { nonce: "n1" }), message);
  }
});

Deno.test("checkIdToken() requires a recent authentication with maxAgeSeconds", async () => {
  await passes({ auth_time: NOW - 90 }, { maxAgeSeconds: 60 });
  await passes({ auth_time: NOW }, { maxAgeSeconds: 0 });
  await passes({ auth_time: NOW - 9_999 });
  const late = "the user's authentication is older than max_age";
  const options = { maxAgeSeconds: 60 };
  assertEquals(await messageOf({ auth_time: NOW - 91 }, options), late);
  const missing = "its claim auth_time is missing or not a number";
  assertEquals(await messageOf({}, options), missing);
});

Deno.test("checkIdToken() requires one of the acr values", async () => {
  for (const acrValues of ["silver gold", ["silver", "gold"]]) {
    await passes({ acr: "gold" }, { acrValues });
    for (const acr of [undefined, "bronze", "silver gold", ""]) {
      const message = await messageOf({ acr }, { acrValues });
      assertEquals(message, "its acr is not one of the required ones");
    }
  }
});

Deno.test("checkIdToken() compares at_hash with the access token", async () => {
  // The example of OpenID Connect Core 1.0, appendix A.3.
  const accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y";
  await passes({ at_hash: "77QmUPtjPfzWtF2AnpK9RQ" }, { accessToken });
  await passes({}, { accessToken });
  await passes({ at_hash: "x" });
  const message = "its at_hash is not that of the access token";
  for (const at_hash of ["", null, "77QmUPtjPfzWtF2AnpK9RQ=="]) {
    assertEquals(await messageOf({ at_hash }, { accessToken }), message);
  }
});

Deno.test("checkIdToken() hashes the access token by the signature algorithm", async () => {
  const accessToken = "t0ken";
  const rows: [hash: string, algorithms: string[]][] = [
    ["SHA-256", ["HS256", "RS256", "PS256", "ES256", "ES256K"]],
    ["SHA-384", ["HS384", "RS384", "PS384", "ES384"]],
    ["SHA-512", ["HS512", "RS512", "PS512", "ES512", "EdDSA", "Ed25519"]],
  ];
  for (const [hash, algorithms] of rows) {
    const bytes = new TextEncoder().encode(accessToken);
    const digest = await crypto.subtle.digest(hash, bytes);
    const half = new Uint8Array(digest).slice(0, digest.byteLength / 2);
    const at_hash = encodeBase64Url(half);
    for (const alg of algorithms) {
      await passes({ at_hash }, { accessToken }, alg);
      const message = await messageOf({ at_hash: "x" }, { accessToken }, alg);
      assertEquals(message, "its at_hash is not that of the access token");
    }
  }
  // Web Crypto has no SHAKE256.
  await passes({ at_hash: "x" }, { accessToken }, "Ed448");
});

Deno.test("checkIdToken() names the argument that is wrong", async () => {
  const token = idToken();
  await assertInvalidArgument(() => checkIdToken("", OPTIONS), "token");
  await assertInvalidArgument(
    () => checkIdToken(token, untyped(undefined)),
    "options",
  );
  for (
    const [name, value] of [
      ["issuer", ""],
      ["clientId", undefined],
    ] as const
  ) {
    const options = { ...OPTIONS, [name]: untyped(value) };
    await assertInvalidArgument(() => checkIdToken(token, options), name);
  }
});

Deno.test("checkIdToken() accepts no ID token if maxAgeSeconds or skewSeconds is not a number", async () => {
  const claims = { auth_time: NOW };
  assertEquals(
    await messageOf(claims, { maxAgeSeconds: NaN }),
    "the user's authentication is older than max_age",
  );
  assertEquals(await messageOf(claims, { skewSeconds: NaN }), "it has expired");
});

Deno.test("checkIdToken() does not leave out a check because of an option of the wrong type", async () => {
  for (const acrValues of [null, NaN, false]) {
    assertEquals(
      await messageOf({}, { acrValues: untyped(acrValues) }),
      "its acr is not one of the required ones",
    );
  }
  assertEquals(
    await messageOf({ iat: NOW + 60 }, { skewSeconds: untyped("30") }),
    "its iat is in the future (check the clock)",
  );
});
