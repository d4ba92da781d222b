/**
 * What must hold of the parsers, the claims decoder and the builders whatever
 * they are given. Used by the tests, in small, and by `deno task fuzz`, in large.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeJwt } from "../../lib/core/_jwt.ts";
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  buildClientCredentialsBody,
  buildDeviceTokenBody,
  buildJwtBearerBody,
  buildRefreshTokenBody,
  buildTokenExchangeBody,
  findChallenge,
  getClaimsFromJWT,
  type IAuthenticationChallenge,
  OAuthClientError,
  parseWWWAuthenticateHeader,
} from "../../mod.ts";
import * as reference from "./_reference_parser.ts";
import { CODE_SERVER } from "../support/fixtures.ts";
import { headerTexts, tokens, values, writtenChallenges } from "./_texts.ts";
import { decodeBase64Url } from "../support/base64url.ts";

/** A property, and how many inputs of a hundred are its own. */
export interface FuzzProperty {
  name: string;
  percent: number;
  property: fc.IProperty<[unknown]>;
}

/** As `assertEquals`, which is too slow to be called ten million times. */
function assertSame(actual: unknown, expected: unknown, input?: unknown): void {
  if (JSON.stringify(actual) === JSON.stringify(expected)) return;
  assertEquals(actual, expected, JSON.stringify(input));
  throw new Error(`Members come in another order: ${JSON.stringify(input)}`);
}

function assertPlain(challenges: IAuthenticationChallenge[]): void {
  for (const { params } of challenges) {
    assert(Object.getPrototypeOf(params) === Object.prototype);
    assert(Object.values(params).every((value) => typeof value === "string"));
  }
}

/** `parseWWWAuthenticateHeader()` against its rules, written down plainly. */
function checkLenientParser(text: string): void {
  const challenges = parseWWWAuthenticateHeader(text);
  assertPlain(challenges);
  const expected = reference.parseWWWAuthenticateHeader(text);
  assertSame(sortMembers(challenges), sortMembers(expected), text);
}

function sortMembers(challenges: IAuthenticationChallenge[] | undefined) {
  return challenges?.map(({ scheme, token68, params }) => [
    ...[scheme, token68 ?? null],
    Object.entries(params).sort(),
  ]);
}

/** `findChallenge()` against what was written. */
function checkWritten(
  { challenges, text }: typeof writtenChallenges extends fc.Arbitrary<infer T>
    ? T
    : never,
): void {
  for (const { scheme } of challenges) {
    const wanted = scheme.toLowerCase();
    const first = challenges.find((one) => one.scheme.toLowerCase() === wanted);
    if (!first) continue;
    const { parameters, ...rest } = first;
    // The first of several values with one name is kept.
    const params = Object.fromEntries(
      parameters.map(({ name, value }) => [name, value]).toReversed(),
    );
    const found = findChallenge(text, [scheme.toUpperCase()]);
    if (found) assertPlain([found]);
    const actual = sortMembers(found && [found]);
    assertSame(actual, sortMembers([{ ...rest, params }]), text);
  }
}

/** `findChallenge()` never throws. */
function checkFinder(text: string): void {
  const found = findChallenge(text);
  if (found) {
    assertPlain([found]);
    assert(/^(bearer|dpop)$/i.test(found.scheme), text);
  }
  const behind = findChallenge(`Bearer ${text}`);
  assert(behind?.scheme.toLowerCase() === "bearer", text);
}

const INVALID = "Invalid JWT token format:";
const FAILED = `Failed to parse JWT token: ${INVALID}`;
/** Every message there is. Constant strings cannot show a token. */
const CLAIMS_MESSAGES: readonly string[] = [
  `${INVALID} token must have three parts separated by dots`,
  ...["header", "payload"].map((part) =>
    `${FAILED} ${part} is not a JSON object`
  ),
];

/** Fails unless the error is the documented one and shows no token. */
export function assertClaimsError(error: unknown): void {
  assert(error instanceof OAuthClientError, "another class of error");
  assert(error.code === "invalid_jwt", error.code);
  // Not by assertEquals, whose report would show the message in full.
  assert(CLAIMS_MESSAGES.includes(error.message), "an undocumented message");
  assert(error.cause === undefined, "a cause, which may quote the token");
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The JSON object in base64 of either alphabet, padded or not; throws if it is none. */
function objectIn(part: string): unknown {
  assert(/^[\w+/-]*={0,2}$/.test(part));
  // RFC 4648, section 4: padding completes the last group of four characters.
  assert(!part.endsWith("=") || part.length % 4 === 0);
  const digits = part.replaceAll("=", "").replaceAll("+", "-")
    .replaceAll("/", "_");
  // One character is less than an octet.
  assert(digits.length % 4 !== 1);
  const value = JSON.parse(utf8.decode(decodeBase64Url(digits)));
  assert(Object.prototype.toString.call(value) === "[object Object]");
  return value;
}

/** Header and claims by the decoders of the platform; undefined for none. */
function expectedParts(token: string): unknown[] | undefined {
  const parts = token.split(".");
  try {
    assert(parts.length === 3);
    return parts.slice(0, 2).map(objectIn);
  } catch {
    return undefined;
  }
}

/** `getClaimsFromJWT()` against the decoders of the platform. */
function checkClaims(token: string): void {
  const expected = expectedParts(token);
  let claims: unknown;
  try {
    claims = getClaimsFromJWT(token);
  } catch (error) {
    assertClaimsError(error);
    assertSame(undefined, expected, token);
    return;
  }
  assertSame([decodeJwt(token).header, claims], expected, token);
  assert(Object.getPrototypeOf(claims) === Object.prototype, token);
}

/** A builder, and those of its options that become members of their own. */
type Builder = [build: (options: never) => URLSearchParams, ...own: string[]];

const BUILDERS: Builder[] = [
  [buildAuthorizationCodeBody, "code", "redirect_uri", "code_verifier"],
  [buildRefreshTokenBody, "refresh_token"],
  [buildClientCredentialsBody],
  [buildDeviceTokenBody, "device_code"],
  [buildJwtBearerBody, "assertion"],
  [
    buildTokenExchangeBody,
    ...["subject_token", "subject_token_type", "requested_token_type"],
    ...["audience", "actor_token", "actor_token_type"],
  ],
  [
    (options) => buildAuthorizationUrl(CODE_SERVER, options).searchParams,
    ...["client_id", "redirect_uri", "state", "code_challenge"],
  ],
];

const forms = fc.constantFrom(...BUILDERS).chain(([build, ...own]) =>
  fc.tuple(
    fc.constant(build),
    fc.record(
      Object.fromEntries([...own, "resource"].map((name) => [name, values])),
    ),
    fc.dictionary(values, values, { maxKeys: 4 }),
  )
);

function camel(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());
}

/** A form has its own members once each and unchanged, beside the further ones. */
function checkForm(
  [build, own, parameters]: [Builder[0], ...Record<string, string>[]],
): void {
  const options = Object.entries(own!).map((
    [name, value],
  ) => [camel(name), value]);
  const form = build(
    { ...Object.fromEntries(options), parameters } as never,
  );
  const read = new URLSearchParams(form.toString());
  for (const [name, value] of Object.entries(own!)) {
    assertSame(read.getAll(name), [value.toWellFormed()], own);
  }
  // Two names may become the same one in UTF-8: both parameters are kept.
  for (const [name, value] of Object.entries(parameters!)) {
    const all = read.getAll(name.toWellFormed());
    assert(all.includes(value.toWellFormed()), JSON.stringify(parameters));
  }
}

function fuzzed<T>(
  name: string,
  percent: number,
  inputs: fc.Arbitrary<T>,
  check: (input: T) => void,
): FuzzProperty {
  return { name, percent, property: fc.property(inputs, check) };
}

/** All properties; their shares add up to a hundred percent. */
export const PROPERTIES: readonly FuzzProperty[] = [
  fuzzed(
    "parseWWWAuthenticateHeader() parses fuzzed strings as its literal rules say",
    25,
    headerTexts,
    checkLenientParser,
  ),
  fuzzed(
    "findChallenge() reads back whatever challenges were written",
    13,
    writtenChallenges,
    checkWritten,
  ),
  fuzzed(
    "findChallenge() reads fuzzed strings",
    27,
    headerTexts,
    checkFinder,
  ),
  fuzzed(
    "getClaimsFromJWT() decodes or rejects fuzzed tokens as the RFCs say",
    25,
    tokens,
    checkClaims,
  ),
  fuzzed(
    "every builder carries fuzzed values, its own members once each",
    10,
    forms,
    checkForm,
  ),
];

export const SEEDS = 2 ** 31;

export function seedFrom(text: string | undefined): number {
  if (text === undefined || text === "") {
    return crypto.getRandomValues(new Uint32Array(1))[0]! % SEEDS;
  }
  assert(/^\d{1,10}$/.test(text) && Number(text) < SEEDS, "seed out of range");
  return Number(text);
}

/** Runs a property on its share of the inputs; how many those were. */
export function runProperty(
  { name, percent, property }: FuzzProperty,
  inputs: number,
  seed: number,
): number {
  const numRuns = inputs * percent / 100;
  assert(Number.isInteger(numRuns), "inputs must be a multiple of a hundred");
  const place = PROPERTIES.findIndex((one) => one.name === name);
  // Else properties with the same arbitrary would be given the same inputs.
  const details = fc.check(property, { numRuns, seed: seed + place });
  if (details.failed) {
    throw new Error(
      `${name}\nRepeat with FUZZ_SEED=${seed} deno task test tests/fuzz\n` +
        fc.defaultReportMessage(details),
    );
  }
  return details.numRuns;
}
