/** Faults of URLs: targets, issuers and endpoints of every shape. */

import type { ICase, IInput, IWorld, OperationName } from "./case.ts";
import { IS_GOOD } from "./operations.ts";
import { good, respond, SECRET, withMembers } from "./plays.ts";

const NOT_FOUND = respond({ status: "404 No", body: "No" });

/** The server's origin with a user and a password in it. */
function withUser({ here }: IWorld): string {
  return here.replace("//", `//me:${SECRET}-password@`);
}

function portOf({ here }: IWorld): string {
  return new URL(here).port;
}

/** Paths of a resource, and at which URL its metadata is found. */
const PATHS: [name: string, path: string, requests: number][] = [
  ["two slashes and a host", "//evil.example/x", 1],
  ["a backslash and a host", "/\\evil.example/x", 1],
  ["dot segments", "/a/../mcp", 1],
  ["dot segments that are encoded", "/a/%2e%2e/mcp", 1],
  ["dot segments beyond the root", "/../../../mcp", 1],
  ["an encoded slash", "/a%2Fb", 1],
  ["an encoded percent sign", "/a%252Fb", 1],
  ["an encoded line break", "/a%0d%0aX-Evil:%201", 1],
  ["characters that must be encoded", "/\u00fc\ud83d\ude00", 1],
  ["a path of its own that is well-known", "/.well-known/mcp", 1],
  ["a slash at the end", "/mcp/", 1],
];

const TARGETS: ICase[] = PATHS.flatMap(([name, path, requests]) => [
  {
    operation: "fetchResourceMetadata",
    fault: `a target with ${name}`,
    input: ({ here }) => ({ target: here + path }),
    outcome: { result: IS_GOOD.fetchResourceMetadata },
    requests,
  },
  {
    operation: "discoverAuthorization",
    fault: `a target with ${name}`,
    input: ({ here }) => ({ target: here + path }),
    outcome: { result: IS_GOOD.discoverAuthorization },
    requests: requests + 1,
  },
  {
    operation: "fetchAuthorizationServerMetadata",
    fault: `an issuer with ${name}`,
    input: ({ here }) => ({ issuer: here + path }),
    outcome: {
      result: ({ metadata }, { here }) => metadata.issuer.startsWith(here),
    },
    requests,
  },
  {
    operation: "fetchAuthorizationServerMetadata",
    fault: `an issuer without metadata, with ${name}`,
    play: NOT_FOUND,
    input: ({ here }) => ({ issuer: here + path }),
    outcome: { each: "unexpected_status", failures: 3 },
    requests: 3,
  },
]);

const FRAGMENTS: ICase[] = ["#fragment", "?query=1", "?a=//evil.example/#x"]
  .flatMap((end) => [
    {
      // The metadata at the bare well-known path has the origin as its resource.
      operation: "fetchResourceMetadata",
      fault: `a target that ends with ${end}`,
      input: ({ here }) => ({ target: `${here}/mcp${end}` }),
      outcome: { result: IS_GOOD.fetchResourceMetadata },
      requests: 2,
    },
    {
      operation: "fetchAuthorizationServerMetadata",
      fault: `an issuer that ends with ${end}`,
      play: NOT_FOUND,
      input: ({ here }) => ({ issuer: `${here}/t${end}` }),
      outcome: { each: "unexpected_status", failures: 3 },
      requests: 3,
    },
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

/** What is neither a target nor an issuer. */
const NO_URLS: [name: string, urlOf: (world: IWorld) => unknown][] = [
  ["with credentials", withUser],
  ["of file:", () => "file:///etc/passwd"],
  ["of javascript:", () => "javascript:alert(1)"],
  ["of ftp:", () => "ftp://127.0.0.1/"],
  ["of data:", () => "data:application/json,{}"],
  ["of ws:", ({ here }) => here.replace("http", "ws")],
  ["without a scheme", ({ here }) => here.replace("http:", "")],
  ["that is empty", () => ""],
  ["with a port that is none", () => "http://127.0.0.1:99999"],
  ["with a host that is none", () => "http://a b/"],
  ["with an encoded host that is none", () => "http://a%00b/"],
  ["that is null", () => null],
  ["that is a number", () => 1],
];

const REFUSED_ARGUMENTS: ICase[] = NO_URLS.flatMap(([name, urlOf]) =>
  ([
    ["fetchResourceMetadata", "target"],
    ["fetchAuthorizationServerMetadata", "issuer"],
    ["discoverAuthorization", "target"],
  ] as const)
    // Null means the usual argument in the table.
    .filter(() => name !== "that is null")
    .map(([operation, argument]): ICase => ({
      operation,
      fault: `a URL ${name}`,
      input: (world) => ({ [argument]: urlOf(world) }) as IInput,
      outcome: { code: "invalid_argument" },
      requests: 0,
    }))
);

/** Endpoints that a server may name and that must not be used. */
const ENDPOINTS: [name: string, urlOf: (world: IWorld) => unknown][] = [
  ["of javascript:", () => "javascript:alert(1)"],
  ["of data:", () => "data:application/json,{}"],
  ["of file:", () => "file:///etc/passwd"],
  ["of a scheme with a command", () => "a:$(x)"],
  ["with a command and no scheme", () => "`id`"],
  ["with a line break", ({ here }) => `${here}/\ntoken`],
  ["with a line break in its scheme", ({ here }) => `ht\ntp${here.slice(4)}/`],
  ["with a space before it", ({ here }) => ` ${here}/token`],
  ["with an escape sequence", ({ here }) => `${here}/\x1b[31mtoken`],
  ["with a null byte", ({ here }) => `${here}/\0`],
  ["with a user", ({ here }) => here.replace("//", "//me@")],
  ["of http beyond this machine", () => "http://evil.example/token"],
  ["that is relative", () => "/token"],
  ["without a scheme", () => "//evil.example/token"],
  ["that is a number", () => 1],
  ["that is true", () => true],
  ["that is an object", () => ({ href: "http://127.0.0.1/" })],
  ["that is an array", ({ here }) => [`${here}/token`]],
];

const POSTS: [OperationName, endpoint: string][] = [
  ["registerClient", "registration_endpoint"],
  ["fetchToken", "token_endpoint"],
  ["fetchDeviceAuthorization", "device_authorization_endpoint"],
  ["pollDeviceToken", "token_endpoint"],
  ["fetchIdJag", "token_endpoint"],
  ["redeemIdJag", "token_endpoint"],
];

const REFUSED_ENDPOINTS: ICase[] = ENDPOINTS.flatMap(([name, urlOf]) => [
  ...POSTS.map(([operation, endpoint]): ICase => ({
    operation,
    fault: `an endpoint ${name}`,
    input: (world) => ({ metadata: { [endpoint]: urlOf(world) } }),
    outcome: { code: "url_refused" },
    requests: 0,
    forbidden: ["\x1b"],
  })),
  {
    operation: "discoverAuthorization",
    fault: `a token endpoint ${name}`,
    play: (stage) => {
      const { origin: here } = stage;
      const world = { here } as IWorld;
      return stage.request.path.includes("protected-resource")
        ? good(stage)
        : withMembers({ token_endpoint: urlOf(world) })(stage);
    },
    outcome: { code: "discovery_failed" },
    requests: 3,
    forbidden: ["\x1b"],
  },
]);

/** The body of a metadata document stands in the message, an endpoint does not. */
const WITH_PASSWORD: ICase[] = [
  ...POSTS,
  ["fetchDynamicRegistration", "registration_endpoint"] as const,
].map(([operation, endpoint]) => ({
  operation,
  fault: "an endpoint with credentials",
  input: (world) => ({
    metadata: { [endpoint]: `${withUser(world)}/token` },
  }),
  outcome: { code: "url_refused" },
  requests: 0,
}));

const MISSING_ENDPOINTS: ICase[] = [undefined, null, ""].flatMap((address) =>
  [
    ...POSTS,
    ["fetchDynamicRegistration", "registration_endpoint"] as const,
  ].map(([operation, endpoint]): ICase => ({
    operation,
    fault: `an endpoint that is ${JSON.stringify(address)}`,
    input: () => ({ metadata: { [endpoint]: address } }),
    outcome: { code: "unsupported" },
    requests: 0,
  }))
);

/** The registration of SPEC.md accepts any http URL, and nothing else. */
const LITERAL: ICase[] = ENDPOINTS
  .filter(([name]) => /of|command|relative|user|that is/.test(name))
  .filter(([name]) => !name.includes("beyond"))
  .map(([name, urlOf]) => ({
    operation: "fetchDynamicRegistration",
    fault: `an endpoint ${name}`,
    input: (world) => ({
      metadata: { registration_endpoint: urlOf(world) },
    }),
    outcome: { code: ["url_refused", "invalid_argument"] },
    requests: 0,
  }));

const HARMLESS: ICase[] = ["/`id`", "/$(x)", "//evil.example/token", "/a%0d%0a"]
  .map((path) => ({
    operation: "fetchToken",
    fault: `an endpoint with the path ${path}`,
    input: ({ here }) => ({ metadata: { token_endpoint: here + path } }),
    outcome: { result: IS_GOOD.fetchToken },
    requests: 1,
  }));

/** Authorization servers that a resource names and that get no request. */
const SERVERS: [name: string, urlOf: (here: string) => unknown][] = [
  ["of javascript:", () => "javascript:alert(1)"],
  ["of http beyond this machine", () => "http://evil.example"],
  ["with credentials", (here) => here.replace("//", `//me:${SECRET}@`)],
  ["with a line break", (here) => `${here}\n`],
  ["that is a number", () => 1],
  ["that is null", () => null],
  ["that is an object", () => ({})],
  ["that is an array", (here) => [here]],
  ["that is relative", () => "/"],
];

const REFUSED_SERVERS: ICase[] = SERVERS.map(([name, urlOf]) => ({
  operation: "discoverAuthorization",
  fault: `an authorization server ${name}`,
  play: withMembers(({ origin }) => ({
    authorization_servers: [urlOf(origin)],
  })),
  outcome: {
    code: typeof urlOf("") === "string" ? "url_refused" : "discovery_failed",
  },
  requests: 1,
}));

/** URLs of resource metadata that a challenge may name. */
const NAMED: ICase[] = ENDPOINTS
  .map(([name, urlOf]) => [name, urlOf] as const)
  .filter(([name]) => /^of|user|relative|scheme$/.test(name))
  .flatMap(([name, urlOf]) => [{
    operation: "discoverAuthorization",
    fault: `a challenge that names a URL ${name}`,
    input: (world) => ({ resourceMetadataUrl: String(urlOf(world)) }),
    outcome: { result: IS_GOOD.discoverAuthorization },
    requests: 2,
  }]);

const SHOWN: ICase[] = [
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
  ...FRAGMENTS,
  ...HOSTS,
  ...IPV6,
  ...IDN,
  ...REFUSED_ARGUMENTS,
  ...REFUSED_ENDPOINTS,
  ...WITH_PASSWORD,
  ...MISSING_ENDPOINTS,
  ...LITERAL,
  ...HARMLESS,
  ...REFUSED_SERVERS,
  ...NAMED,
  ...SHOWN,
];
