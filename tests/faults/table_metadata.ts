/** Faults of metadata: members of every wrong type. */

import type { ICase, IOutcome } from "./case.ts";
import type { IStage, Play } from "./fault_server.ts";
import { IS_GOOD } from "./operations.ts";
import { good, respond, withMembers } from "./plays.ts";

/** Values that are neither a useful string nor a list of strings. */
export const WRONG: unknown[] = [
  null,
  true,
  0,
  1,
  "",
  "x",
  [],
  [1],
  [null],
  {},
];

type Members = Record<string, unknown>;
type MembersOf = Members | ((stage: IStage) => Members);

function isResource({ request }: IStage): boolean {
  return request.path.includes("oauth-protected-resource");
}

/** Changes the resource's document only, or all others. */
function changing(which: "resource" | "server", members: MembersOf): Play {
  return (stage) =>
    (isResource(stage) === (which === "resource")
      ? withMembers(members)
      : good)(stage);
}

/** A value as it stands in the name of a case. */
export function shown(value: unknown): string {
  return JSON.stringify(value) ?? "missing";
}

/** Values for which a test of truth says no. */
function isNothing(value: unknown): boolean {
  return value === null || value === "" || value === 0;
}

/** The server that the same origin publishes is used, not assumed endpoints. */
const IS_FALLBACK: IOutcome["result"] = (
  { source, issuer, serverMetadataUrl, resourceMetadata },
  { here },
) =>
  source === "fallback" && issuer === here &&
  serverMetadataUrl.startsWith(here) && resourceMetadata === undefined;

/** Nothing is assumed beside metadata that is malformed. */
const MALFORMED: ICase[] = [
  { resource: undefined },
  ...WRONG.filter((value) => typeof value !== "string")
    .map((resource) => ({ resource })),
].map((members): ICase => ({
  operation: "discoverAuthorization",
  fault: `resource is ${
    shown(members.resource)
  }, and there is no server metadata`,
  play: (stage) =>
    (isResource(stage)
      ? withMembers(members)
      : respond({ status: "404 No", body: "No" }))(stage),
  outcome: { code: "discovery_failed" },
  requests: 4,
}));

const RESOURCES: ICase[] = [...WRONG, "https://evil.example/mcp"].flatMap(
  (resource): ICase[] => [
    {
      operation: "fetchResourceMetadata",
      fault: `resource is ${shown(resource)}`,
      play: changing("resource", { resource }),
      outcome: {
        each: isNothing(resource) ? "invalid_metadata" : "identifier_mismatch",
        failures: 2,
      },
      requests: 2,
    },
    {
      operation: "discoverAuthorization",
      fault: `resource is ${shown(resource)}`,
      play: changing("resource", { resource }),
      // Without a usable string the next URL is requested.
      ...(typeof resource !== "string" || resource === ""
        ? { outcome: { result: IS_FALLBACK }, requests: 3 }
        : { outcome: { code: "discovery_failed" }, requests: 1 }),
    },
  ],
);

const LISTED_RESOURCE: ICase[] = ([
  ["fetchResourceMetadata", { each: "identifier_mismatch" }, 2],
  ["discoverAuthorization", { result: IS_FALLBACK }, 3],
] as const).map(([operation, outcome, requests]) => ({
  operation,
  fault: "resource is the right one, in an array",
  play: changing("resource", ({ origin }) => ({
    resource: [`${origin}/mcp`],
  })),
  outcome,
  requests,
}));

const SCOPES: ICase[] = WRONG.flatMap((scopes_supported): ICase[] => {
  const play = changing("resource", { scopes_supported });
  const fault = `the resource's scopes_supported is ${shown(scopes_supported)}`;
  const isList = Array.isArray(scopes_supported);
  return [
    {
      operation: "fetchResourceMetadata",
      fault,
      play,
      ...(isList
        ? {
          outcome: { result: IS_GOOD.fetchResourceMetadata },
          requests: 1,
        }
        : {
          outcome: { each: "invalid_metadata", failures: 2 },
          requests: 2,
        }),
    },
    {
      operation: "discoverAuthorization",
      fault,
      play,
      outcome: {
        result: ({ scopes = [] }) =>
          Array.isArray(scopes) &&
          scopes.every((scope: unknown) => typeof scope === "string"),
      },
      // What is no list is dropped.
      requests: 2,
    },
  ];
});

/** Lists of servers without a usable one, and the outcome. */
const SERVER_LISTS: ICase[] = [
  ...[null, []].map((authorization_servers): ICase => ({
    operation: "discoverAuthorization",
    fault: `authorization_servers is ${shown(authorization_servers)}`,
    play: changing("resource", { authorization_servers }),
    outcome: {
      result: ({ source, issuer }, { here }) =>
        source === "fallback" && issuer === here,
    },
    requests: 2,
  })),
  ...[true, 0, 1, {}, [1], [null], "", "x"].map((
    authorization_servers,
  ): ICase => ({
    operation: "discoverAuthorization",
    fault: `authorization_servers is ${shown(authorization_servers)}`,
    play: changing("resource", { authorization_servers }),
    outcome: {
      code: typeof authorization_servers === "string"
        ? "url_refused"
        : "discovery_failed",
    },
    requests: 1,
  })),
];

const ISSUERS: ICase[] = [...WRONG, "javascript:x", "https://evil.example"]
  .flatMap((issuer): ICase[] => [
    {
      operation: "fetchAuthorizationServerMetadata",
      fault: `issuer is ${shown(issuer)}`,
      play: withMembers({ issuer }),
      ...(issuer === "https://evil.example"
        ? {
          outcome: { result: ({ metadata }) => metadata.issuer === issuer },
          requests: 1,
        }
        : {
          outcome: { each: "invalid_metadata", failures: 3 },
          requests: 3,
        }),
    },
    {
      operation: "discoverAuthorization",
      fault: `issuer is ${shown(issuer)}`,
      play: changing("server", { issuer }),
      outcome: { code: "discovery_failed" },
      requests: 3,
    },
  ]);

const SERVER_TEXTS: ICase[] = [
  "authorization_endpoint",
  "registration_endpoint",
  "jwks_uri",
].flatMap((name) =>
  WRONG.flatMap((value): ICase[] => {
    const fault = `${name} is ${shown(value)}`;
    const isPassed = isNothing(value);
    return [
      {
        operation: "fetchAuthorizationServerMetadata",
        fault,
        play: withMembers({ [name]: value }),
        ...(isPassed
          ? {
            outcome: { result: IS_GOOD.fetchAuthorizationServerMetadata },
            requests: 1,
          }
          : {
            outcome: { each: "invalid_metadata", failures: 3 },
            requests: 3,
          }),
      },
      {
        operation: "discoverAuthorization",
        fault,
        play: changing("server", { [name]: value }),
        ...(isPassed
          ? {
            outcome: { result: IS_GOOD.discoverAuthorization },
            requests: 2,
          }
          : { outcome: { code: "discovery_failed" }, requests: 3 }),
      },
    ];
  })
);

const SERVER_LISTS_OF_TEXTS: ICase[] = [
  "scopes_supported",
  "grant_types_supported",
  "response_types_supported",
  "code_challenge_methods_supported",
  "token_endpoint_auth_methods_supported",
].flatMap((name) =>
  WRONG.map((value): ICase => ({
    operation: "discoverAuthorization",
    fault: `the server's ${name} is ${shown(value)}`,
    play: changing("server", { [name]: value }),
    outcome: { result: IS_GOOD.discoverAuthorization },
    requests: 2,
  }))
);

const GRANT_TYPES: ICase[] = WRONG.map((grant_types_supported) => ({
  operation: "fetchDynamicRegistration",
  fault: `grant_types_supported is ${shown(grant_types_supported)}`,
  input: () => ({ metadata: { grant_types_supported } }),
  outcome: { result: IS_GOOD.fetchDynamicRegistration },
  requests: 1,
}));

/** The cases. */
export const METADATA_CASES: readonly ICase[] = [
  ...RESOURCES,
  ...LISTED_RESOURCE,
  ...MALFORMED,
  ...SCOPES,
  ...SERVER_LISTS,
  ...ISSUERS,
  ...SERVER_TEXTS,
  ...SERVER_LISTS_OF_TEXTS,
  ...GRANT_TYPES,
];
