/**
 * Runs the programs of `.github/docs/three-processes.md`: three processes that share a
 * session, at a real server that rotates refresh tokens. Prints how many of their calls
 * succeeded, and each refresh. `--seconds N` sets how long, 40 by default; `--latency MS`
 * how much longer a token request takes than on one machine, 100 by default. `--record`
 * keeps the result for the playground of the site.
 */

import { parseArgs } from "node:util";
// @ts-types="@types/oidc-provider"
import type { KoaContextWithOIDC } from "oidc-provider";
import { createDesk } from "../tests/examples/_programs.ts";
import { startAuthorizationServer } from "../tests/servers/authorization_server.ts";
import { startProtectedResource } from "../tests/servers/protected_resource.ts";

const FOLDER = "three_processes";

export const PROGRAMS = ["with_library.ts", "by_hand.ts"] as const;

export const RECORDING = new URL(
  "site/playground/recording.json",
  import.meta.url,
);

const TOKEN_SECONDS = 8;

/** How many refreshes are printed and recorded: those that show what happens. */
const SHOWN = 7;

/** A refresh: which process sent which refresh token, and what it got. */
export interface Refresh {
  /** Milliseconds after the three processes were started. */
  readonly sentAt: number;
  readonly answeredAt: number;
  /** 1 to 3. */
  readonly process: number;
  /** The number of the refresh token: 1 is the one of the sign-in. */
  readonly token: number;
  /** The number of the new refresh token, or the error code. */
  readonly result: number | string;
}

export interface Result {
  readonly program: string;
  readonly calls: number;
  readonly succeeded: number;
  /** The last problem of each process that had one. */
  readonly problems: readonly string[];
  readonly refreshes: readonly Refresh[];
}

/** Signs in with one process, then runs three for some seconds. */
export async function runThree(
  program: typeof PROGRAMS[number],
  { seconds = 40, latencyMs = 100, tokenSeconds = TOKEN_SECONDS } = {},
): Promise<Result> {
  const sent = new WeakMap<object, number>();
  let start = 0;
  const sinceStart = () => Math.round(performance.now() - start);
  await using server = await startAuthorizationServer({
    accessTokenSeconds: tokenSeconds,
    clients: [{
      client_id: "by-hand",
      redirect_uris: ["http://127.0.0.1:8776/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    }],
    async before(request) {
      sent.set(request, sinceStart());
      if (request.url !== "/token") return;
      await new Promise((resolve) => setTimeout(resolve, latencyMs));
    },
  });
  const { provider, issuer } = server;
  await using api = startProtectedResource({
    authorizationServers: [issuer],
    scopes: ["mcp:read"],
  });
  const tokens: unknown[] = [];
  const numberOf = (token: unknown) =>
    1 +
    (tokens.includes(token) ? tokens.indexOf(token) : tokens.push(token) - 1);
  const refreshes: Refresh[] = [];
  const note = (
    { req, oidc, body }: KoaContextWithOIDC,
    error?: { readonly error?: string },
  ) => {
    const { grant_type, refresh_token } = oidc.params ?? {};
    const next = (body as { refresh_token?: string } | undefined)
      ?.refresh_token;
    if (grant_type !== "refresh_token") numberOf(next);
    else {
      refreshes.push({
        sentAt: sent.get(req) ?? 0,
        answeredAt: sinceStart(),
        process: Number(req.headers["x-process"]),
        token: numberOf(refresh_token),
        result: error?.error ?? numberOf(next),
      });
    }
  };
  provider.on("grant.success", note);
  provider.on("grant.error", note);
  await using desk = await createDesk({
    env: { RESOURCE: api.resource, ISSUER: issuer, ID: "by-hand" },
    preload: `${FOLDER}/_process.ts`,
  });
  const run = async (seconds: number, number: number) => {
    const child = desk.start(`${FOLDER}/${program}`, `${seconds}`, `${number}`);
    return JSON.parse(await child.output());
  };
  await run(0, 0);
  start = performance.now();
  const found = await Promise.all([1, 2, 3].map((one) => run(seconds, one)));
  const sum = (member: string) =>
    found.reduce((all, one) => all + one[member], 0);
  return {
    program,
    calls: sum("calls"),
    succeeded: sum("succeeded"),
    problems: found.map(({ problem }) => problem).filter((one) => one !== ""),
    refreshes: refreshes.sort((a, b) => a.sentAt - b.sentAt),
  };
}

/** Returns the result as lines: a refresh on each, but no more than matter. */
export function linesOf({ program, refreshes, ...result }: Result): string[] {
  const [calls, succeeded] = [result.calls, result.succeeded]
    .map((count) => count.toLocaleString("en"));
  const time = (ms: number) => (ms / 1000).toFixed(2).padStart(5);
  const more = refreshes.length - SHOWN;
  return [
    `${program}: ${succeeded} of ${calls} calls succeeded`,
    ...refreshes.slice(0, SHOWN).map(({ sentAt, process, token, result }) =>
      `${time(sentAt)} s  process ${process}  refresh token ${token}: ${
        typeof result === "number" ? `200, refresh token ${result}` : result
      }`
    ),
    ...more > 0 ? [`${more} more like the last one`] : [],
    ...new Set(result.problems),
  ];
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      seconds: { type: "string", default: "40" },
      latency: { type: "string", default: "100" },
      record: { type: "boolean", default: false },
    },
  });
  console.log(
    `Three processes share a session for ${values.seconds} seconds. ` +
      `An access token lives ${TOKEN_SECONDS} seconds, and a refresh takes ${values.latency} ms.`,
  );
  const results: Result[] = [];
  for (const program of PROGRAMS) {
    const result = await runThree(program, {
      seconds: Number(values.seconds),
      latencyMs: Number(values.latency),
    });
    console.log(`\n${linesOf(result).join("\n  ")}`);
    results.push({ ...result, refreshes: result.refreshes.slice(0, SHOWN) });
  }
  if (values.record) {
    await Deno.writeTextFile(RECORDING, `${JSON.stringify(results)}\n`);
  }
}
