/** Faults of redirects: every status, every direction. */

import {
  type Case,
  GETS,
  type OperationName,
  OPERATIONS,
  POSTS,
} from "./case.ts";
import type { Play } from "./fault_server.ts";
import { type Fault, matrix } from "./matrix.ts";
import { IS_GOOD } from "./operations.ts";
import { good, redirectTo, respond, SECRET } from "./plays.ts";

const STATUSES = [301, 302, 303, 307, 308];
const REFUSED = { attempt: "redirect_refused", status: 302 } as const;
const NO_REDIRECT = { attempt: "unexpected_status", status: 302 } as const;

/** Plays a redirect first, and a good response at its target. */
function moving(status: number): Play {
  return (stage) =>
    stage.request.path.endsWith("?moved")
      ? good(stage)
      : redirectTo(`${stage.request.path}?moved`, status)(stage);
}

/** Plays five redirects to absolute URLs, and a good response at the last. */
const fiveRedirects: Play = (stage) => {
  const { origin, request: { path } } = stage;
  const hops = Number(/\?(\d)$/.exec(path)?.[1] ?? 0);
  const next = `${origin}${path.replace(/\?.*/, "")}?${hops + 1}`;
  return hops === 5 ? good(stage) : redirectTo(next)(stage);
};

/** The result has the URL of the first request. */
function isMoved(
  operation: OperationName,
): NonNullable<Case["outcome"]["result"]> {
  return (result, world) =>
    IS_GOOD[operation](result, world) &&
    !String(result.discoveryUrl).includes("moved");
}

/** A redirect that every GET follows, with so many requests for a document. */
function followed(fault: string, play: Play, requests: number): Case[] {
  return GETS.map((operation) => ({
    operation,
    fault,
    play,
    outcome: { result: isMoved(operation) },
    requests: operation === "discoverAuthorization" ? 2 * requests : requests,
    hops: true,
  }));
}

/** A redirect to another server, which is listening. */
function abroad(
  name: string,
  locationOf: (elsewhere: string) => string,
  status = 302,
): Fault {
  // The server that plays does not know the other one, but the table's worlds do.
  let location = "";
  return {
    name,
    play: (stage) => redirectTo(location, status)(stage),
    ...REFUSED,
    status,
    input: ({ elsewhere }) => {
      location = locationOf(elsewhere);
      return {};
    },
  };
}

const LOCATIONS: [name: string, location: string][] = [
  ["to file:", "file:///etc/passwd"],
  ["to data:", 'data:application/json,{"issuer":"x"}'],
  ["to https", "https://127.0.0.1/"],
];

const FAULTS: Fault[] = [
  ...STATUSES.flatMap((status): Fault[] => [
    abroad(`status ${status} to another origin`, (url) => `${url}/x`, status),
    {
      name: `status ${status} on a POST, to the same origin`,
      play: moving(status),
      attempt: "redirect_refused",
      members: { status },
      status,
      only: POSTS,
    },
  ]),
  abroad(
    "redirect to another origin without a scheme",
    (url) => url.replace("http:", ""),
  ),
  abroad(
    "redirect to another origin by backslashes",
    (url) => url.replace("http://", "\\\\"),
  ),
  abroad(
    "redirect to another origin with tabs in the scheme",
    (url) => url.replace("http", "ht\ttp"),
  ),
  ...LOCATIONS.map(([name, location]): Fault => ({
    name: `redirect ${name}`,
    play: redirectTo(location),
    ...REFUSED,
  })),
  { name: "redirect to nowhere", play: redirectTo(null), ...NO_REDIRECT },
  {
    name: "redirect with an empty location",
    play: redirectTo(""),
    ...NO_REDIRECT,
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
    attempt: "redirect_refused",
    only: GETS,
  },
  ...[200, 201].map((status): Fault => ({
    name: `status ${status} with a location`,
    play: respond({
      status: `${status} Fine`,
      headers: { Location: "http://evil.example/" },
    }),
    only: status === 200
      ? OPERATIONS
      : ["fetchDynamicRegistration", "registerClient"],
  })),
  ...[300, 304, 305, 306].map((status): Fault => ({
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

export const REDIRECT_CASES: readonly Case[] = [
  ...STATUSES.flatMap((status) =>
    followed(`status ${status} to the same origin`, moving(status), 2)
  ),
  ...followed(
    "five redirects to the same origin, the last one right",
    fiveRedirects,
    6,
  ),
  ...matrix(FAULTS),
  {
    operation: "fetchResourceMetadata",
    fault: "redirect to a URL that allowUrl rejects",
    play: moving(302),
    options: () => ({ allowUrl: (url: URL) => url.search === "" }),
    outcome: { each: "url_refused", failures: 2 },
    requests: 2,
  },
  {
    operation: "fetchResourceMetadata",
    fault: "metadata named at another origin, which sends back",
    playElsewhere: redirectTo(({ request }) =>
      `http://127.0.0.1:1${request.path}`
    ),
    input: ({ elsewhere }) => ({ resourceMetadataUrl: `${elsewhere}/named` }),
    outcome: { result: IS_GOOD.fetchResourceMetadata },
    requests: 1,
    requestsElsewhere: 1,
  },
];
