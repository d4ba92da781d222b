/**
 * The contests of the benchmark, and their contestants. Each contestant runs in a process
 * of its own, so that it shares no heap, compiler or garbage collector with another:
 * `contestant.ts` is its program, which imports no other library.
 */

import { ASCII_CLAIMS, challenges, OTHER_CLAIMS, tokens } from "./inputs.ts";
import { ACCESS_TOKEN, type Addresses } from "./servers.ts";

/** Returns the function that is measured, which is given an input. */
export type Prepare = (servers: Addresses) => (input: string) => unknown;

export interface Contest {
  readonly title: string;
  readonly note?: string;
  /** Delay of each response in milliseconds; without it, there are no servers. */
  readonly delayMs?: number;
  /** The contestants; the first is ours. */
  readonly contestants: Readonly<Record<string, () => Promise<Prepare>>>;
  /** The contestant that runs in two processes, whose ratio is the control. */
  readonly baseline: string;
  /** What is passed to the function in turn. */
  readonly inputs: (servers: Addresses) => readonly string[];
  /** What the function returns for the first input. */
  readonly expected: (servers: Addresses) => unknown;
  /** How many calls are a turn; without it, as many as take a few milliseconds. */
  readonly calls?: number;
  readonly seconds: number;
  /** The limits of the ratio of ours to another. */
  readonly goals: readonly {
    readonly kind: "wall" | "cpu";
    readonly other: string;
    readonly limit: number;
  }[];
}

const MCP = "@modelcontextprotocol/client";
const BARE = "bare fetches";

/** Of a function that only needs the servers. */
const noInput = { inputs: () => [""] };

const ours = () => import("./libraries/ours.ts");
const mcp = () => import("./libraries/mcp.ts");
const oauth4webapi = () => import("./libraries/oauth4webapi.ts");
const bare = () => import("./libraries/bare.ts");

const toToken = (delayMs: number) => ({
  title: `From 401 to a token, responses after ${delayMs} ms`,
  note:
    "Requests: resource, its metadata, the server's metadata, registration, " +
    "authorization, token.",
  delayMs,
  contestants: {
    "ours": async () => (await ours()).getToken,
    [MCP]: async () => (await mcp()).getToken,
    "oauth4webapi": async () => (await oauth4webapi()).getToken,
    [BARE]: async () => (await bare()).getToken,
  },
  baseline: BARE,
  ...noInput,
  expected: () => ACCESS_TOKEN,
});

const claims = (
  kind: string,
  own: Record<string, string>,
): Contest => ({
  title: `getClaimsFromJWT, 600 bytes, ${kind}`,
  contestants: {
    "ours": async () => (await ours()).readClaims,
    "jose.decodeJwt": async () =>
      (await import("./libraries/jose.ts")).readClaims,
    "jwt-decode": async () =>
      (await import("./libraries/jwt_decode.ts")).readClaims,
  },
  baseline: "jose.decodeJwt",
  inputs: () => tokens(own).values,
  expected: () => tokens(own).first,
  seconds: 2,
  goals: [{ kind: "wall", other: "jose.decodeJwt", limit: 1 }],
});

/** The contests, in the order of the report. */
export const CONTESTS: readonly Contest[] = [
  {
    ...toToken(0),
    calls: 30,
    seconds: 30,
    goals: [{ kind: "cpu", other: MCP, limit: 1 }],
  },
  {
    ...toToken(10),
    calls: 1,
    seconds: 15,
    goals: [{ kind: "wall", other: BARE, limit: 1.02 }],
  },
  {
    title: "From 401 to 200, by createAuthorizedFetch with codeFlow",
    note:
      "The same requests, and the resource with the token. The peer of equal " +
      "scope is auth() of the MCP client, which discovers, registers and signs in.",
    delayMs: 0,
    contestants: {
      "ours": async () => (await ours()).getResource,
      [MCP]: async () => (await mcp()).getResource,
      [BARE]: async () => (await bare()).getResource,
    },
    baseline: BARE,
    ...noInput,
    expected: () => ({ ok: true }),
    calls: 30,
    seconds: 20,
    goals: [{ kind: "cpu", other: MCP, limit: 1 }],
  },
  {
    title: "Discovery of a server whose metadata is at the third URL",
    note: "oauth4webapi and openid-client request one URL, which the caller " +
      "chooses.",
    delayMs: 0,
    contestants: {
      "ours": async () => (await ours()).discover,
      [MCP]: async () => (await mcp()).discover,
      [BARE]: async () => (await bare()).discover,
    },
    baseline: BARE,
    ...noInput,
    expected: ({ issuer }) => `${issuer}/token`,
    calls: 50,
    seconds: 8,
    goals: [{ kind: "wall", other: BARE, limit: 1.4 }],
  },
  {
    title: "Calls with a valid token",
    note: "One after another, with the session in memory.",
    delayMs: 0,
    contestants: {
      "ours": async () => (await ours()).call,
      "ours, with a Request": async () => (await ours()).callWithRequest,
      [MCP]: async () => (await mcp()).call,
      "oauth4webapi": async () => (await oauth4webapi()).call,
      "openid-client": async () =>
        (await import("./libraries/openid_client.ts")).call,
      "bare fetch with a Request": async () => (await bare()).callWithRequest,
      [BARE]: async () => (await bare()).call,
    },
    baseline: BARE,
    ...noInput,
    expected: () => ({ ok: true }),
    calls: 200,
    seconds: 20,
    goals: [{ kind: "cpu", other: "openid-client", limit: 1 }],
  },
  {
    title: "parseWWWAuthenticateHeader, five parameters",
    contestants: {
      "ours": async () => (await ours()).readChallenge,
      "http-auth-utils": async () =>
        (await import("./libraries/http_auth_utils.ts")).readChallenge,
    },
    baseline: "http-auth-utils",
    inputs: () => challenges().values,
    expected: () => challenges().first,
    seconds: 2,
    goals: [{ kind: "wall", other: "http-auth-utils", limit: 1 }],
  },
  claims("ASCII", ASCII_CLAIMS),
  claims("not ASCII", OTHER_CLAIMS),
];
