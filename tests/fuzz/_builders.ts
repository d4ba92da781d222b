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

/** One builder: its options by the names of the members they become. */
interface IBuilder {
  build: (options: never) => URLSearchParams;
  grantType: string;
  required: Record<string, string>;
  optional?: string[][];
}

const URN = "urn:ietf:params:oauth:grant-type:";

const BUILDERS: IBuilder[] = [
  {
    build: buildAuthorizationCodeBody,
    grantType: "authorization_code",
    required: {
      code: "code",
      redirect_uri: "redirectUri",
      code_verifier: "codeVerifier",
    },
  },
  {
    build: buildRefreshTokenBody,
    grantType: "refresh_token",
    required: { refresh_token: "refreshToken" },
  },
  {
    build: buildClientCredentialsBody,
    grantType: "client_credentials",
    required: {},
  },
  {
    build: buildDeviceTokenBody,
    grantType: `${URN}device_code`,
    required: { device_code: "deviceCode" },
  },
  {
    build: buildJwtBearerBody,
    grantType: `${URN}jwt-bearer`,
    required: { assertion: "assertion" },
  },
  {
    build: buildTokenExchangeBody,
    grantType: `${URN}token-exchange`,
    required: {
      subject_token: "subjectToken",
      subject_token_type: "subjectTokenType",
    },
    optional: [["requested_token_type"], ["audience"], [
      "actor_token",
      "actor_token_type",
    ]],
  },
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
  { build, grantType, required, optional = [] }: IBuilder,
): fc.Arbitrary<() => IBuilt> {
  const names = [...Object.keys(required), ...optional.flat()];
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

const idJagExchange = fc.tuple(
  ...[values, maybe, values, values, maybe, scopeLists] as const,
).map((args) => (): IBuilt => {
  const [id, secret, token, audience, resource, scopes] = args;
  const type = "urn:ietf:params:oauth:token-type:";
  const members: Member[] = [
    ["client_id", id],
    ["client_secret", secret ?? ""],
    ["grant_type", `${URN}token-exchange`],
    ["subject_token", token],
    ["subject_token_type", `${type}id_token`],
    ["requested_token_type", `${type}id-jag`],
    ["audience", audience],
    ["resource", resource ?? ""],
    ["scope", scopes.join(" ")],
  ];
  return {
    build: () => buildIdJagExchangeBody(...args),
    own: members.map(([name]) => name),
    expected: filled(members),
  };
});

const resourceRedemption = fc.tuple(
  ...[values, maybe, values, maybe, scopeLists] as const,
).map((args) => (): IBuilt => {
  const [id, secret, jag, resource, scopes] = args;
  const members: Member[] = [
    ["client_id", id],
    ["client_secret", secret ?? ""],
    ["grant_type", `${URN}jwt-bearer`],
    ["assertion", jag],
    ["resource", resource ?? ""],
    ["scope", scopes.join(" ")],
  ];
  return {
    build: () => buildResourceRedemptionBody(...args),
    own: members.map(([name]) => name),
    expected: filled(members),
  };
});

/** A body by any of the builders; made when called. */
export const bodies = fc.oneof(
  ...BUILDERS.map(grant),
  idJagExchange,
  resourceRedemption,
);
