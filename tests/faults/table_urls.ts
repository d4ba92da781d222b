/** Faults of URLs: targets, issuers and endpoints of every shape. */

import type { ICase, IWorld, OperationName } from "./case.ts";
import { IS_GOOD } from "./operations.ts";
import { respond, SECRET, withMembers } from "./plays.ts";

const NOT_FOUND = respond({ status: "404 No", body: "No" });

function portOf({ here }: IWorld): string {
  return new URL(here).port;
}

/** Paths of a resource or an issuer. */
const PATHS: [name: string, path: string][] = [
  ["two slashes and a host", "//evil.example/x"],
  ["a backslash and a host", "/\\evil.example/x"],
  ["dot segments", "/a/../mcp"],
  ["dot segments that are encoded", "/a/%2e%2e/mcp"],
  ["dot segments beyond the root", "/../../../mcp"],
  ["an encoded slash", "/a%2Fb"],
  ["an encoded percent sign", "/a%252Fb"],
  ["an encoded line break", "/a%0d%0aX-Evil:%201"],
  ["characters that must be encoded", "/\u00fc\ud83d\ude00"],
  ["a path of its own that is well-known", "/.well-known/mcp"],
  ["a slash at the end", "/mcp/"],
];

const TARGETS: ICase[] = PATHS.flatMap(([name, path]) => [
  ...(["fetchResourceMetadata", "discoverAuthorization"] as const).map(
    (operation): ICase => ({
      operation,
      fault: `a target with ${name}`,
      input: ({ here }) => ({ target: here + path }),
      outcome: { result: IS_GOOD[operation] },
      requests: operation === "discoverAuthorization" ? 2 : 1,
    }),
  ),
  {
    operation: "fetchAuthorizationServerMetadata",
    fault: `an issuer with ${name}`,
    input: ({ here }) => ({ issuer: here + path }),
    outcome: {
      result: ({ metadata }, { here }) => metadata.issuer.startsWith(here),
    },
    requests: 1,
  },
  withoutMetadata(`an issuer without metadata, with ${name}`, path),
]);

/** An issuer with this path, at which nothing is published. */
function withoutMetadata(fault: string, path: string): ICase {
  return {
    operation: "fetchAuthorizationServerMetadata",
    fault,
    play: NOT_FOUND,
    input: ({ here }) => ({ issuer: here + path }),
    outcome: { each: "unexpected_status", failures: 3 },
    requests: 3,
  };
}

const ENDS: ICase[] = ["#fragment", "?query=1", "?a=//evil.example/#x"]
  .flatMap((end) => [
    {
      // The metadata at the bare well-known path has the origin as its resource.
      operation: "fetchResourceMetadata",
      fault: `a target that ends with ${end}`,
      input: ({ here }) => ({ target: `${here}/mcp${end}` }),
      outcome: { result: IS_GOOD.fetchResourceMetadata },
      requests: 2,
    },
    withoutMetadata(`an issuer that ends with ${end}`, `/t${end}`),
  ]);

/** Names of this machine that are not spelled as one would think. */
const SPELLINGS: [name: string, host: string][] = [
  ["in hexadecimal", "0x7f.1"],
  ["as one number", "2130706433"],
  ["in octal", "0177.0.0.1"],
  ["in full-width digits", "\uff11\uff12\uff17.0.0.1"],
  ["as an IPv6 address that maps it", "127.0.0.1"],
  [
    "in circled letters",
    "\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3",
  ],
];

const HOSTS: ICase[] = SPELLINGS.map(([name, host]) => ({
  operation: "fetchAuthorizationServerMetadata",
  fault: `an issuer with this machine's name ${name}`,
  input: (world) => ({ issuer: `http://${host}:${portOf(world)}` }),
  outcome: { result: IS_GOOD.fetchAuthorizationServerMetadata },
  requests: 1,
}));

const IPV6: ICase[] = ([
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

const INTERNATIONAL = "https://b\u00fccher.example/t";

/** Makes the engine compile what is called often. */
function warmUp(): void {
  for (let round = 0; round < 50_000; round++) URL.canParse(INTERNATIONAL);
}

const IDN: ICase[] = [() => {}, warmUp].map((prepare) => ({
  operation: "fetchAuthorizationServerMetadata",
  fault: `an issuer with an international name, ${
    prepare === warmUp ? "after many" : "the first"
  }`,
  input() {
    prepare();
    return { issuer: INTERNATIONAL };
  },
  options: () => ({
    fetch: (url: string) =>
      new URL(url).host === "xn--bcher-kva.example"
        ? Promise.resolve(Response.json({ issuer: url }))
        : Promise.reject(new Error(`Unexpected request to ${url}`)),
  }),
  outcome: { result: ({ metadata }) => metadata.issuer !== undefined },
  requests: 0,
}));

type Endpoint = [name: string, urlOf: (world: IWorld) => unknown];

/** Endpoints that no function requests. */
const UNUSABLE: Endpoint[] = [
  ["of javascript:", () => "javascript:alert(1)"],
  ["of data:", () => "data:application/json,{}"],
  ["of file:", () => "file:///etc/passwd"],
  ["of a scheme with a command", () => "a:$(x)"],
  ["with a command and no scheme", () => "`id`"],
  ["with a user", ({ here }) => here.replace("//", "//me@")],
  [
    "with credentials",
    ({ here }) => `${here.replace("//", `//me:${SECRET}-password@`)}/token`,
  ],
  ["that is relative", () => "/token"],
];

const NO_STRINGS: Endpoint[] = [
  ["that is a number", () => 1],
  ["that is true", () => true],
  ["that is an object", () => ({ href: "http://127.0.0.1/" })],
  ["that is an array", ({ here }) => [`${here}/token`]],
];

/** Endpoints that the literal registration requests, which accepts any URL. */
const UNSAFE: Endpoint[] = [
  ["with a line break", ({ here }) => `${here}/\ntoken`],
  ["with a line break in its scheme", ({ here }) => `ht\ntp${here.slice(4)}/`],
  ["with a space before it", ({ here }) => ` ${here}/token`],
  ["with an escape sequence", ({ here }) => `${here}/\x1b[31mtoken`],
  ["with a null byte", ({ here }) => `${here}/\0`],
  ["of http beyond this machine", () => "http://evil.example/token"],
  ["without a scheme", () => "//evil.example/token"],
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
  ["fetchIdJag", "token_endpoint"],
  ["redeemIdJag", "token_endpoint"],
];
const LITERAL: typeof STRICT = [
  ["fetchDynamicRegistration", "registration_endpoint"],
];
const ALL = [...STRICT, ...LITERAL];

/** No request is made to these endpoints. */
function refused(
  endpoints: Endpoint[],
  operations: typeof STRICT,
  code: string,
): ICase[] {
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

const HARMLESS: ICase[] = ["/`id`", "/$(x)", "//evil.example/token", "/a%0d%0a"]
  .map((path) => ({
    operation: "fetchToken",
    fault: `an endpoint with the path ${path}`,
    input: ({ here }) => ({ metadata: { token_endpoint: here + path } }),
    outcome: { result: IS_GOOD.fetchToken },
    requests: 1,
  }));

const SHOWN: ICase[] = [
  {
    operation: "discoverAuthorization",
    fault: "an authorization server with a line break",
    play: withMembers(({ origin }) => ({
      authorization_servers: [`${origin}\n`],
    })),
    outcome: { code: "url_refused" },
    requests: 1,
  },
  {
    operation: "discoverAuthorization",
    fault: "an authorization server with an escape sequence of one character",
    play: (stage) =>
      stage.request.path.includes("protected-resource")
        ? withMembers({
          authorization_servers: [`${stage.origin}/\x9b31m`],
        })(stage)
        : NOT_FOUND(stage),
    outcome: { code: ["discovery_failed", "url_refused"] },
    requests: [1, 4],
  },
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
    fault: "an issuer with an escape sequence and no endpoint",
    input: () => ({
      metadata: { issuer: "http://\x1b[31m", token_endpoint: undefined },
    }),
    outcome: { code: "unsupported" },
    requests: 0,
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

/** The cases. */
export const URL_CASES: readonly ICase[] = [
  ...TARGETS,
  ...ENDS,
  ...HOSTS,
  ...IPV6,
  ...IDN,
  ...refused(UNUSABLE, ALL, "url_refused"),
  ...refused(NO_STRINGS, STRICT, "url_refused"),
  // Of its arguments, the literal registration checks the types.
  ...refused(NO_STRINGS, LITERAL, "invalid_argument"),
  ...refused(UNSAFE, STRICT, "url_refused"),
  ...refused(MISSING, ALL, "unsupported"),
  ...HARMLESS,
  ...SHOWN,
];
