/** Faults of redirects: every status, every direction. */

import type { ICase, OperationName } from "./case.ts";
import type { Play } from "./fault_server.ts";
import { type IFault, matrix } from "./matrix.ts";
import { IS_GOOD } from "./operations.ts";
import { good, redirectTo, respond, SECRET } from "./plays.ts";

const STATUSES = [301, 302, 303, 307, 308];
const GETS = [
  "fetchResourceMetadata",
  "fetchAuthorizationServerMetadata",
  "discoverAuthorization",
] as const;
const REFUSED = { attempt: "redirect_refused", status: 302 } as const;

/** Plays a redirect first, and a good response at its target. */
function moving(status: number): Play {
  return (stage) =>
    stage.request.path.endsWith("?moved")
      ? good(stage)
      : redirectTo(`${stage.request.path}?moved`, status)(stage);
}

const FOLLOWED: ICase[] = STATUSES.flatMap((status) =>
  GETS.map((operation): ICase => ({
    operation,
    fault: `status ${status} to the same origin`,
    play: moving(status),
    outcome: { result: isMoved(operation) },
    requests: operation === "discoverAuthorization" ? 4 : 2,
    hops: true,
  }))
);

/** The result has the URL of the first request. */
function isMoved(
  operation: OperationName,
): NonNullable<ICase["outcome"]["result"]> {
  return (result, world) =>
    IS_GOOD[operation](result, world) &&
    !String(result.discoveryUrl).includes("moved");
}

const ABSOLUTE: ICase[] = GETS.map((operation) => ({
  operation,
  fault: "five redirects to the same origin, the last one right",
  play: (stage) => {
    const { origin, request: { path } } = stage;
    const hops = Number(/\?(\d)$/.exec(path)?.[1] ?? 0);
    const next = `${origin}${path.replace(/\?.*/, "")}?${hops + 1}`;
    return hops === 5 ? good(stage) : redirectTo(next)(stage);
  },
  outcome: { result: isMoved(operation) },
  requests: operation === "discoverAuthorization" ? 12 : 6,
  hops: true,
}));

const ON_POST: IFault[] = STATUSES.map((status) => ({
  name: `status ${status} on a POST, to the same origin`,
  play: moving(status),
  attempt: "redirect_refused",
  members: { status },
  status,
  only: [
    "fetchDynamicRegistration",
    "registerClient",
    "fetchToken",
    "fetchDeviceAuthorization",
    "pollDeviceToken",
    "fetchIdJag",
    "redeemIdJag",
  ],
}));

/** A redirect from the well-known path to another server, which is listening. */
function abroad(
  name: string,
  locationOf: (elsewhere: string) => string,
  status = 302,
): ICase[] {
  // The server that plays does not know the other one, but the table's worlds do.
  let location = "";
  const play: Play = (stage) => redirectTo(location, status)(stage);
  const fault: IFault = {
    name,
    play,
    ...REFUSED,
    status,
    input: ({ elsewhere }) => {
      location = locationOf(elsewhere);
      return {};
    },
  };
  return matrix([fault]);
}

const LOCATIONS: [name: string, location: string][] = [
  ["to file:", "file:///etc/passwd"],
  ["to data:", 'data:application/json,{"issuer":"x"}'],
  ["to javascript:", "javascript:alert(1)"],
  ["to blob:", "blob:https://evil.example/1"],
  ["to an invalid URL", "http://["],
  ["to a port that is none", "http://127.0.0.1:99999/"],
  ["to https", "https://127.0.0.1/"],
  ["to localhost by its number", "http://0x7f.1:1/"],
];

const FAULTS: IFault[] = [
  ...ON_POST,
  ...LOCATIONS.map(([name, location]): IFault => ({
    name: `redirect ${name}`,
    play: redirectTo(location),
    ...REFUSED,
  })),
  {
    name: "redirect to nowhere",
    play: redirectTo(null),
    attempt: "unexpected_status",
    status: 302,
  },
  {
    name: "redirect with an empty location",
    play: redirectTo(""),
    attempt: "unexpected_status",
    status: 302,
  },
  {
    name: "redirect in a circle",
    play: redirectTo(({ request }) => request.path),
    ...REFUSED,
    hops: 6,
    only: GETS,
  },
  {
    name: "redirects without end",
    play: redirectTo(({ count }) => `/${count}`),
    ...REFUSED,
    hops: 6,
    only: GETS,
  },
  {
    name: "redirect to the same origin with credentials",
    play: redirectTo(({ origin }) =>
      `${origin.replace("//", `//me:${SECRET}@`)}/x`
    ),
    attempt: "url_refused",
    only: GETS,
  },
  {
    name: "redirect of a POST with a token in its body",
    play: respond({ status: "302 Moved", headers: { Location: "/token2" } }),
    attempt: "redirect_refused",
    only: ["registerClient", "fetchToken", "redeemIdJag", "pollDeviceToken"],
  },
  {
    name: "status 200 with a location",
    play: respond({ headers: { Location: "http://evil.example/" } }),
  },
  {
    name: "status 201 with a location",
    play: respond({
      status: "201 Created",
      headers: { Location: "http://evil.example/" },
    }),
    only: ["fetchDynamicRegistration", "registerClient"],
  },
  ...[300, 304, 305, 306].map((status): IFault => ({
    name: `status ${status} with a location`,
    play: respond({
      status: `${status} Odd`,
      headers: { Location: "/?moved", "Content-Length": null },
      body: "",
    }),
    attempt: "unexpected_status",
    status,
    only: ["fetchAuthorizationServerMetadata", "fetchToken"],
  })),
];

/** An allowUrl that rejects the second URL only. */
const REFUSED_HOP: ICase = {
  operation: "fetchResourceMetadata",
  fault: "redirect to a URL that allowUrl rejects",
  play: moving(302),
  options: () => ({ allowUrl: (url: URL) => url.search === "" }),
  outcome: { each: "url_refused", failures: 2 },
  requests: 2,
};

/** Another origin keeps its own headers: none of the caller's arrive there. */
const NAMED_ELSEWHERE: ICase = {
  operation: "fetchResourceMetadata",
  fault: "metadata named at another origin, which sends back",
  play: good,
  playElsewhere: redirectTo(({ request }) =>
    `http://127.0.0.1:1${request.path}`
  ),
  input: ({ elsewhere }) => ({ resourceMetadataUrl: `${elsewhere}/named` }),
  outcome: { result: IS_GOOD.fetchResourceMetadata },
  requests: 1,
  requestsElsewhere: 1,
};

/** The cases. */
export const REDIRECT_CASES: readonly ICase[] = [
  ...FOLLOWED,
  ...ABSOLUTE,
  ...STATUSES.flatMap((status) =>
    abroad(
      `status ${status} to another origin`,
      (elsewhere) => `${elsewhere}/x`,
      status,
    )
  ),
  ...abroad(
    "redirect to another origin without a scheme",
    (elsewhere) => elsewhere.replace("http:", ""),
  ),
  ...abroad(
    "redirect to another origin by backslashes",
    (elsewhere) => elsewhere.replace("http://", "\\\\"),
  ),
  ...abroad(
    "redirect to another origin with tabs in the scheme",
    (elsewhere) => elsewhere.replace("http", "ht\ttp"),
  ),
  ...matrix(FAULTS),
  REFUSED_HOP,
  NAMED_ELSEWHERE,
];
