/** The body builders as the fuzzer sees them: what goes in, what must come out. */
import fc from "fast-check";
import {
  buildAuthorizationCodeBody,
  buildClientCredentialsBody,
  buildDeviceTokenBody,
  buildIdJagExchangeBody,
  buildJwtBearerBody,
  buildRefreshTokenBody,
  buildResourceRedemptionBody,
  buildTokenExchangeBody,
} from "../../mod.ts";
import { extras, values } from "./_texts.ts";

/** A member of a form. */
export type Member = [name: string, value: string];

interface ITokenOptions {
  resource: string | false | undefined;
  scopes: string[] | undefined;
  parameters: Record<string, string> | undefined;
}

const URN = "urn:ietf:params:oauth:grant-type:";

/** A builder and its own members; it may leave out each of the optional groups. */
type Builder = [
  build: (options: never) => URLSearchParams,
  grantType: string,
  required: string[],
  ...optional: string[][],
];

const BUILDERS: Builder[] = [
  [
    buildAuthorizationCodeBody,
    "authorization_code",
    ["code", "redirect_uri", "code_verifier"],
  ],
  [buildRefreshTokenBody, "refresh_token", ["refresh_token"]],
  [buildClientCredentialsBody, "client_credentials", []],
  [buildDeviceTokenBody, `${URN}device_code`, ["device_code"]],
  [buildJwtBearerBody, `${URN}jwt-bearer`, ["assertion"]],
  [
    buildTokenExchangeBody,
    `${URN}token-exchange`,
    ["subject_token", "subject_token_type"],
    ["requested_token_type"],
    ["audience"],
    ["actor_token", "actor_token_type"],
  ],
];

function camel(name: string): string {
  return name.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase());
}

/** A body, the members it must have in order, and the names that are its own. */
export interface IBuilt {
  /** Builds the body. */
  build: () => URLSearchParams;
  /** Undefined where the builder must reject its options. */
  expected: Member[] | undefined;
  own: string[];
}

/** Scope values of RFC 6749, section 3.3, most of the time. */
export const scopeValues = fc.oneof(
  {
    arbitrary: fc.string({
      unit: fc.constantFrom(..."aZ0!#$%&'()*+,-./:;<=>?@[]^_`{|}~"),
      minLength: 1,
      maxLength: 6,
    }),
    weight: 9,
  },
  { arbitrary: values, weight: 1 },
);
const SCOPE_VALUE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
/** What the authentication of the client sets. */
const CLIENT_OWN = [
  ...["client_id", "client_secret", "client_assertion"],
  "client_assertion_type",
];

/** Whether scopes or further parameters must be rejected. */
export function isRejected(
  scopes: string[] = [],
  parameters: Record<string, string> = {},
  own: string[],
): boolean {
  const names = [...own, ...CLIENT_OWN];
  return scopes.some((scope) => !SCOPE_VALUE.test(scope)) ||
    Object.keys(parameters).some((name) => names.includes(name));
}

/** Further parameters, which a builder with these own ones mostly accepts. */
export function further(own: string[]): fc.Arbitrary<Record<string, string>> {
  // Else nearly every one would be rejected.
  return fc.tuple(extras(own), fc.integer({ min: 0, max: 9 })).map(
    ([members, chance]) =>
      Object.fromEntries(
        Object.entries(members).filter(([name]) =>
          chance === 0 || !isRejected([], { [name]: "" }, own)
        ),
      ),
  );
}

const shared = fc.record({
  resource: fc.oneof(values, fc.constantFrom("", false as const, undefined)),
  scopes: fc.option(fc.array(scopeValues, { maxLength: 3 }), {
    nil: undefined,
  }),
});

/** What one of the grant builders makes of any values and further parameters. */
function grant(
  [build, grantType, required, ...optional]: Builder,
): fc.Arbitrary<() => IBuilt> {
  const names = [...required, ...optional.flat()];
  const own = ["grant_type", ...names, "resource", "scope"];
  return fc.tuple(
    fc.array(values, { minLength: names.length, maxLength: names.length }),
    fc.array(fc.boolean(), {
      minLength: optional.length,
      maxLength: optional.length,
    }),
    shared,
    fc.option(further(own), { nil: undefined }),
  ).map(([texts, chosen, { resource, scopes }, parameters]) => () => {
    const absent = optional.filter((_, index) => !chosen[index]).flat();
    const members = names.map((name, index): Member => [name, texts[index]!])
      .filter(([name]) => !absent.includes(name));
    const options: ITokenOptions = { resource, scopes, parameters };
    const mine = members.map(([name, text]) => [camel(name), text]);
    return {
      build: () => build({ ...Object.fromEntries(mine), ...options } as never),
      own,
      expected: isRejected(scopes, parameters, own) ? undefined : filled([
        ["grant_type", grantType],
        ...members,
        ["resource", resource || ""],
        ["scope", (scopes ?? []).join(" ")],
        ...Object.entries(parameters ?? {}),
      ]),
    };
  });
}

/** Members with a value, as UTF-8 can carry them. */
function filled(members: Member[]): Member[] {
  return members.filter(([, value]) => value !== "")
    .map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]);
}

const maybe = fc.oneof(values, fc.constantFrom("", undefined));
const scopeLists = fc.array(values, { minLength: 1, maxLength: 3 });

/** What a literal builder makes of its arguments in their order. */
function literal<Args extends unknown[]>(
  args: { [Index in keyof Args]: fc.Arbitrary<Args[Index]> },
  build: (...args: Args) => URLSearchParams,
  membersOf: (...args: Args) => Member[],
): fc.Arbitrary<() => IBuilt> {
  return fc.tuple<Args>(...args).map((given) => () => {
    const members = membersOf(...given);
    return {
      build: () => build(...given),
      own: members.map(([name]) => name),
      expected: filled(members),
    };
  });
}

const TYPE = "urn:ietf:params:oauth:token-type:";

const idJagExchange = literal(
  [values, maybe, values, values, maybe, scopeLists],
  buildIdJagExchangeBody,
  (id, secret, token, audience, resource, scopes) => [
    ["client_id", id],
    ["client_secret", secret ?? ""],
    ["grant_type", `${URN}token-exchange`],
    ["subject_token", token],
    ["subject_token_type", `${TYPE}id_token`],
    ["requested_token_type", `${TYPE}id-jag`],
    ["audience", audience],
    ["resource", resource ?? ""],
    ["scope", scopes.join(" ")],
  ],
);

const resourceRedemption = literal(
  [values, maybe, values, maybe, scopeLists],
  buildResourceRedemptionBody,
  (id, secret, jag, resource, scopes) => [
    ["client_id", id],
    ["client_secret", secret ?? ""],
    ["grant_type", `${URN}jwt-bearer`],
    ["assertion", jag],
    ["resource", resource ?? ""],
    ["scope", scopes.join(" ")],
  ],
);

/** A body by any of the builders; made when called. */
export const bodies = fc.oneof(
  ...BUILDERS.map(grant),
  idJagExchange,
  resourceRedemption,
);
