/** Faults of responses to a POST: members of every wrong kind. */

import type { ICase, OperationName } from "./case.ts";
import { IS_GOOD } from "./operations.ts";
import { idJagOf, respond, SECRET, withMembers } from "./plays.ts";
import { shown, WRONG } from "./table_metadata.ts";

type Members = Record<string, unknown>;

const REGISTRATIONS: ICase[] = WRONG.flatMap((client_id): ICase[] => [
  {
    operation: "registerClient",
    fault: `client_id is ${shown(client_id)}`,
    play: withMembers({ client_id }),
    ...(client_id === "x"
      ? { outcome: { result: ({ client_id }) => client_id === "x" } }
      : { outcome: { code: "invalid_response" } }),
    requests: 1,
  },
  {
    // SPEC.md: a client_id that is defined will do.
    operation: "fetchDynamicRegistration",
    fault: `client_id is ${shown(client_id)}`,
    play: withMembers({ client_id }),
    outcome: { result: (reply) => shown(reply.client_id) === shown(client_id) },
    requests: 1,
  },
  ...(["registerClient", "fetchDynamicRegistration"] as const).map(
    (operation): ICase => ({
      operation,
      fault: `an error response whose error is ${shown(client_id)}`,
      play: respond({
        status: "400 No",
        body: JSON.stringify({ error: client_id, error_description: [1] }),
      }),
      outcome: { code: ["oauth_error", "unexpected_status"] },
      requests: 1,
    }),
  ),
]);

const REGISTERED_SECRETS: ICase[] = WRONG.map((value) => ({
  operation: "registerClient",
  fault: `every other member is ${shown(value)}`,
  play: withMembers({
    client_secret: value,
    client_id_issued_at: value,
    redirect_uris: value,
    token_endpoint_auth_method: value,
  }),
  outcome: { result: IS_GOOD.registerClient },
  requests: 1,
}));

const TOKENS = ["fetchToken", "pollDeviceToken", "redeemIdJag"] as const;

const ACCESS_TOKENS: ICase[] = TOKENS.flatMap((operation) =>
  WRONG.filter((value) => value !== "x").map((access_token): ICase => ({
    operation,
    fault: `access_token is ${shown(access_token)}`,
    play: withMembers({ access_token }),
    outcome: { code: "invalid_response" },
    requests: 1,
  }))
);

const TOKEN_MEMBERS: ICase[] = [
  "token_type",
  "expires_in",
  "refresh_token",
  "scope",
  "id_token",
].flatMap((name) =>
  WRONG.filter((value) => value !== "x").map((value): ICase => ({
    operation: "fetchToken",
    fault: `${name} is ${shown(value)}`,
    play: withMembers({ [name]: value }),
    outcome: {
      result: (token) =>
        token.token_type === "Bearer" &&
        ["undefined", name === "expires_in" ? "number" : "string"]
          .includes(typeof token[name === "token_type" ? "scope" : name]),
    },
    requests: 1,
  }))
);

const LIFETIMES: ICase[] = ([
  ["-1", 0],
  ["-0", 0],
  [-1, 0],
  ["1e3", undefined],
  ["soon", undefined],
  ["1e400", undefined],
  ["  5", undefined],
] as const).map(([expires_in, seconds]) => ({
  operation: "fetchToken",
  fault: `expires_in is ${shown(expires_in)}`,
  play: withMembers({ expires_in, expires_at: 4_000_000_000 }),
  outcome: {
    result: (token) =>
      token.expires_in === seconds &&
      (seconds === 0 ? token.expires_at < 4_000_000_000 : !token.expires_at),
  },
  requests: 1,
}));

const ERRORS: ICase[] = WRONG.map((error) => ({
  operation: "fetchToken",
  fault: `an error response whose error is ${shown(error)}`,
  play: respond({
    status: "400 No",
    body: JSON.stringify({ error, error_description: {}, error_uri: 1 }),
  }),
  // An error is a non-empty string.
  outcome: { code: error === "x" ? "oauth_error" : "unexpected_status" },
  requests: 1,
}));

const DEVICE: ICase[] = [
  "device_code",
  "user_code",
  "verification_uri",
  "expires_in",
].flatMap((name) =>
  WRONG
    .filter((value) => name === "expires_in" ? value !== 1 : value !== "x")
    .map((value): ICase => ({
      operation: "fetchDeviceAuthorization",
      fault: `${name} is ${shown(value)}`,
      play: withMembers({ [name]: value }),
      outcome: { code: "invalid_response" },
      requests: 1,
    }))
);

const DEVICE_URIS: ICase[] = [
  "verification_uri",
  "verification_url",
  "verification_uri_complete",
].flatMap((name) =>
  ["javascript:alert(1)", "data:text/html,x", "a:$(x)", "http://evil.example"]
    .map((url): ICase => ({
      operation: "fetchDeviceAuthorization",
      fault: `${name} is ${url}`,
      play: withMembers({
        ...(name === "verification_url" && { verification_uri: null }),
        [name]: url,
      }),
      outcome: { code: "url_refused" },
      requests: 1,
    }))
);

const CLAIMS: [name: string, claims: Members][] = [
  ["another issuer", { iss: "https://evil.example" }],
  ["an issuer that is a number", { iss: 1 }],
  ["another audience", { aud: "https://evil.example" }],
  ["two audiences", { aud: ["https://redeeming.example", "https://x"] }],
  ["no audience", { aud: null }],
  ["an expiry in the past", { exp: 1 }],
  ["an expiry that is a string", { exp: "4000000000" }],
  ["no client", { client_id: "" }],
  ["no identifier", { jti: null }],
];

const ID_JAGS: ICase[] = [
  ...CLAIMS.map(([name, claims]): ICase => ({
    operation: "fetchIdJag",
    fault: `an ID-JAG with ${name}`,
    play: withMembers(({ origin }) => ({
      access_token: idJagOf(origin, claims),
    })),
    outcome: { code: "invalid_id_jag" },
    requests: 1,
  })),
  ...[null, "x", 1, [], "urn:ietf:params:oauth:token-type:access_token"].map(
    (issued_token_type): ICase => ({
      operation: "fetchIdJag",
      fault: `issued_token_type is ${shown(issued_token_type)}`,
      play: withMembers({ issued_token_type }),
      outcome: { code: "invalid_id_jag" },
      requests: 1,
    }),
  ),
  ...[
    "x",
    `${SECRET}.${SECRET}.${SECRET}`,
    ".".repeat(900_000),
    "A".repeat(900_000),
    "e30.e30.",
  ].map((access_token, index): ICase => ({
    operation: "fetchIdJag",
    fault: `no JWT for an ID-JAG, the ${index + 1}. way`,
    play: withMembers({ access_token }),
    outcome: { code: ["invalid_jwt", "invalid_id_jag"] },
    requests: 1,
  })),
];

/** A server that says back what it was sent. */
const ECHOES: ICase[] = ([
  ["fetchToken", "oauth_error"],
  ["fetchDeviceAuthorization", "oauth_error"],
  ["fetchIdJag", "oauth_error"],
  ["redeemIdJag", "oauth_error"],
  ["registerClient", "oauth_error"],
] as [OperationName, string][]).map(([operation, code]) => ({
  operation,
  fault: "an error_description with the credentials that were sent",
  play: respond(({ request }) => ({
    status: "400 No",
    body: JSON.stringify({
      error: "invalid_request",
      error_description: `Got ${request.body} with ${
        JSON.stringify(request.headers)
      }`,
    }),
  })),
  outcome: { code },
  requests: 1,
}));

const POLL_WAIT: ICase = {
  operation: "pollDeviceToken",
  fault: "an interval beyond every timer, by the real clock",
  play: respond({
    status: "400 No",
    body: '{"error":"authorization_pending"}',
  }),
  input: () => ({
    authorization: { interval: 9_000_000, expires_at: 4_000_000_000 },
  }),
  options: ({ controller }) => {
    setTimeout(() => controller.abort("enough"), 100);
    return { delay: undefined, now: undefined };
  },
  outcome: { reason: true },
  requests: 0,
};

/** The cases. */
export const POST_CASES: readonly ICase[] = [
  ...REGISTRATIONS,
  ...REGISTERED_SECRETS,
  ...ACCESS_TOKENS,
  ...TOKEN_MEMBERS,
  ...LIFETIMES,
  ...ERRORS,
  ...DEVICE,
  ...DEVICE_URIS,
  ...ID_JAGS,
  ...ECHOES,
  POLL_WAIT,
];
