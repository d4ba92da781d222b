/** Endpoints that are not requested, and URLs of odd shapes. */

import type { Case, OperationName, World } from "./case.ts";
import { IS_GOOD } from "./operations.ts";
import { respond, SECRET } from "./plays.ts";

const NOT_FOUND = respond({ status: "404 No", body: "No" });

const IPV6: Case[] = ([
  "fetchResourceMetadata",
  "fetchAuthorizationServerMetadata",
  "discoverAuthorization",
  "registerClient",
  "fetchToken",
] as const).map((operation) => ({
  operation,
  fault: "an IPv6 URL",
  server: "[::1]",
  outcome: { result: IS_GOOD[operation] },
  requests: operation === "discoverAuthorization" ? 2 : 1,
}));

type Endpoint = [name: string, urlOf: (world: World) => unknown];

const UNUSABLE: Endpoint[] = [
  ["of data:", () => "data:application/json,{}"],
  ["with a command and no scheme", () => "`id`"],
  [
    "with credentials",
    ({ here }) => `${here.replace("//", `//me:${SECRET}-password@`)}/token`,
  ],
  ["that is relative", () => "/token"],
];

const NO_STRINGS: Endpoint[] = [["that is a number", () => 1]];

/** Endpoints that the literal registration requests, which accepts any URL. */
const UNSAFE: Endpoint[] = [
  ["with a line break", ({ here }) => `${here}/\ntoken`],
  ["with an escape sequence", ({ here }) => `${here}/\x1b[31mtoken`],
  ["of http beyond this machine", () => "http://evil.example/token"],
];

const MISSING: Endpoint[] = [undefined, null, ""].map((url) => [
  `that is ${JSON.stringify(url)}`,
  () => url,
]);

const STRICT: [OperationName, endpoint: string][] = [
  ["registerClient", "registration_endpoint"],
  ["fetchToken", "token_endpoint"],
  ["fetchDeviceAuthorization", "device_authorization_endpoint"],
  ["pollDeviceToken", "token_endpoint"],
  [
    "requestBackchannelAuthentication",
    "backchannel_authentication_endpoint",
  ],
  ["fetchIdJag", "token_endpoint"],
  ["redeemIdJag", "token_endpoint"],
];
const LITERAL: typeof STRICT = [
  ["fetchDynamicRegistration", "registration_endpoint"],
];
const ALL = [...STRICT, ...LITERAL];

function refused(
  endpoints: Endpoint[],
  operations: typeof STRICT,
  code: string,
): Case[] {
  return endpoints.flatMap(([name, urlOf]) =>
    operations.map(([operation, endpoint]) => ({
      operation,
      fault: `an endpoint ${name}`,
      input: (world) => ({ metadata: { [endpoint]: urlOf(world) } }),
      outcome: { code },
      requests: 0,
      forbidden: ["\x1b"],
    }))
  );
}

const SHOWN: Case[] = [
  {
    operation: "fetchDynamicRegistration",
    fault: "an endpoint with an escape sequence",
    play: respond({ status: "400 No", body: "No" }),
    input: ({ here }) => ({
      metadata: { registration_endpoint: `${here}/\x1b[31mregister` },
    }),
    outcome: { code: ["unexpected_status", "url_refused"] },
    requests: [0, 1],
  },
  {
    operation: "fetchToken",
    fault: "an endpoint of 100 KB",
    play: NOT_FOUND,
    input: ({ here }) => ({
      metadata: { token_endpoint: `${here}/${"x".repeat(100_000)}` },
    }),
    // Some runtimes send no such thing.
    outcome: { code: ["unexpected_status", "url_refused", "network_error"] },
    requests: [0, 1],
  },
];

export const URL_CASES: readonly Case[] = [
  ...IPV6,
  ...refused(UNUSABLE, ALL, "url_refused"),
  ...refused(NO_STRINGS, STRICT, "url_refused"),
  // Of its arguments, the literal registration checks the types.
  ...refused(NO_STRINGS, LITERAL, "invalid_argument"),
  ...refused(UNSAFE, STRICT, "url_refused"),
  ...refused(MISSING, ALL, "unsupported"),
  ...SHOWN,
];
