/**
 * Members of documents, each of every wrong type, where a wrong one must be left
 * out or must fail in the same way in several functions. The rest is in
 * `tests/unit/`, as it needs no socket.
 */

import type { ICase } from "./case.ts";
import type { IStage, Play } from "./fault_server.ts";
import { IS_FALLBACK } from "./matrix.ts";
import { IS_GOOD } from "./operations.ts";
import { good, respond, SECRET, withMembers } from "./plays.ts";

/** Values that are neither a useful string nor a list of strings. */
const WRONG: unknown[] = [null, true, 0, 1, "", "x", [], [1], [null], {}];
const NO_STRINGS = WRONG.filter((value) => typeof value !== "string");
const NOT_X = WRONG.filter((value) => value !== "x");

type Members = Record<string, unknown>;

/** Changes the resource's document only, or all others. */
function changing(which: "resource" | "server", members: Members): Play {
  const isResource = ({ request }: IStage) =>
    request.path.includes("oauth-protected-resource");
  return (stage) =>
    (isResource(stage) === (which === "resource")
      ? withMembers(members)
      : good)(stage);
}

/** A name and a value as they stand in the name of a case. */
function shown(name: string, value: unknown): string {
  return `${name} is ${JSON.stringify(value)}`;
}

const METADATA: ICase[] = [
  ...NO_STRINGS.map((resource): ICase => ({
    operation: "discoverAuthorization",
    fault: shown("resource", resource),
    play: changing("resource", { resource }),
    // Without a usable string the next URL is requested.
    outcome: { result: IS_FALLBACK },
    requests: 3,
  })),
  ...WRONG.map((scopes_supported): ICase => ({
    operation: "discoverAuthorization",
    fault: shown("the resource's scopes_supported", scopes_supported),
    play: changing("resource", { scopes_supported }),
    outcome: {
      result: ({ scopes = [] }) =>
        Array.isArray(scopes) &&
        scopes.every((scope: unknown) => typeof scope === "string"),
    },
    requests: 2,
  })),
  ...["", "x"].map((authorization_servers): ICase => ({
    operation: "discoverAuthorization",
    fault: shown("authorization_servers", authorization_servers),
    play: changing("resource", { authorization_servers }),
    outcome: { code: "url_refused" },
    requests: 1,
  })),
  ...[
    "scopes_supported",
    "grant_types_supported",
    "response_types_supported",
    "code_challenge_methods_supported",
    "token_endpoint_auth_methods_supported",
  ].flatMap((name) =>
    WRONG.map((value): ICase => ({
      operation: "discoverAuthorization",
      fault: shown(`the server's ${name}`, value),
      play: changing("server", { [name]: value }),
      outcome: { result: IS_GOOD.discoverAuthorization },
      requests: 2,
    }))
  ),
  {
    operation: "fetchAuthorizationServerMetadata",
    fault: "issuer is another",
    play: withMembers({ issuer: "https://evil.example" }),
    outcome: {
      result: ({ metadata }) => metadata.issuer === "https://evil.example",
    },
    requests: 1,
  },
];

const REGISTRATIONS: ICase[] = WRONG.flatMap((value): ICase[] => [
  {
    operation: "fetchDynamicRegistration",
    fault: shown("grant_types_supported", value),
    input: () => ({ metadata: { grant_types_supported: value } }),
    outcome: { result: IS_GOOD.fetchDynamicRegistration },
    requests: 1,
  },
  {
    // The literal contract: a client_id that is defined will do.
    operation: "fetchDynamicRegistration",
    fault: shown("client_id", value),
    play: withMembers({ client_id: value }),
    outcome: {
      result: ({ client_id }) => shown("", client_id) === shown("", value),
    },
    requests: 1,
  },
  {
    operation: "registerClient",
    fault: `an error response whose ${shown("error", value)}`,
    play: respond({
      status: "400 No",
      body: JSON.stringify({ error: value, error_description: [1] }),
    }),
    outcome: { code: ["oauth_error", "unexpected_status"] },
    requests: 1,
  },
  {
    operation: "registerClient",
    fault: shown("every other member", value),
    play: withMembers({
      client_secret: value,
      client_id_issued_at: value,
      redirect_uris: value,
      token_endpoint_auth_method: value,
    }),
    outcome: { result: IS_GOOD.registerClient },
    requests: 1,
  },
]);

const TOKENS: ICase[] = NOT_X.flatMap((value): ICase[] => [
  ...(["fetchToken", "pollDeviceToken", "redeemIdJag"] as const).map(
    (operation): ICase => ({
      operation,
      fault: shown("access_token", value),
      play: withMembers({ access_token: value }),
      outcome: { code: "invalid_response" },
      requests: 1,
    }),
  ),
  ...["token_type", "expires_in", "refresh_token", "scope", "id_token"].map(
    (name): ICase => ({
      operation: "fetchToken",
      fault: shown(name, value),
      play: withMembers({ [name]: value }),
      outcome: {
        result: (token) =>
          token.token_type === "Bearer" &&
          ["undefined", name === "expires_in" ? "number" : "string"]
            .includes(typeof token[name === "token_type" ? "scope" : name]),
      },
      requests: 1,
    }),
  ),
]);

const NO_JWTS: [name: string, token: string][] = [
  ["one part", "x"],
  ["three parts of other strings", `${SECRET}.${SECRET}.${SECRET}`],
  ["900,000 dots", ".".repeat(900_000)],
  ["900,000 letters", "A".repeat(900_000)],
  ["no claims", "e30.e30."],
];

const ID_JAGS: ICase[] = NO_JWTS.map(([name, access_token]) => ({
  operation: "fetchIdJag",
  fault: `an ID-JAG of ${name}`,
  play: withMembers({ access_token }),
  outcome: { code: ["invalid_jwt", "invalid_id_jag"] },
  requests: 1,
}));

/** A server that says back what it was sent. */
const ECHOES: ICase[] = ([
  "fetchToken",
  "fetchDeviceAuthorization",
  "fetchIdJag",
  "redeemIdJag",
  "registerClient",
] as const).map((operation) => ({
  operation,
  fault: "an error_description with the credentials that were sent",
  play: respond(({ request: { body, headers } }) => ({
    status: "400 No",
    body: JSON.stringify({
      error: "invalid_request",
      error_description: `Got ${body} with ${JSON.stringify(headers)}`,
    }),
  })),
  outcome: { code: "oauth_error" },
  requests: 1,
}));

/** The cases. */
export const MEMBER_CASES: readonly ICase[] = [
  ...METADATA,
  ...REGISTRATIONS,
  ...TOKENS,
  ...ID_JAGS,
  ...ECHOES,
];
