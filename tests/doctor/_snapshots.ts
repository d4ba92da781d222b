/**
 * Some servers whose report is compared with a file. As a program, it writes the files:
 * `deno run -A tests/doctor/_snapshots.ts`. `snapshots/rules.txt` is edited by hand.
 */

import {
  all,
  challenge,
  type Change,
  documents,
  only,
  parameters,
  resource,
  responding,
  server,
  status,
  withoutCors,
} from "./_changes.ts";
import {
  APPENDED_PATH,
  remote,
  RESOURCE_PATH,
  ROOT_PATH,
  run,
  served,
  TARGET,
} from "./_world.ts";

export const SNAPSHOTS: Record<string, Change> = {
  healthy: () => {},
  needs_option: all(
    server({
      code_challenge_methods_supported: undefined,
      registration_endpoint: undefined,
    }),
    parameters(', scope="admin"'),
    withoutCors("/as/token"),
  ),
  authorization_server: all(
    server((origin) => ({ issuer: `${origin}/mcp` })),
    status(200),
    only(({ serverMetadata }) => ({
      "/mcp/.well-known/openid-configuration": served(serverMetadata),
    })),
  ),
  broken: all(
    challenge("Bearer"),
    resource({ scopes_supported: [] }),
    server({
      issuer: "https://login.example/{tenantid}/v2.0",
      code_challenge_methods_supported: ["plain"],
    }),
    documents(() => ({
      [APPENDED_PATH]: served("<!doctype html>", {
        headers: { "Content-Type": "text/html" },
      }),
    })),
  ),
  unreachable: responding(
    () => {
      const message = "connect ECONNREFUSED 203.0.113.7:443";
      const cause = Object.assign(new Error(message), { code: "ECONNREFUSED" });
      throw new TypeError("fetch failed", { cause });
    },
    "/mcp",
    RESOURCE_PATH,
    ROOT_PATH,
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
  ),
};

/** Returns what the command prints for a server, and its exit status. */
export async function report(
  change: Change,
  colour = false,
): Promise<{ text: string; status: number }> {
  const fetch = remote(change);
  const io = { colour, fetch, now: () => 0 };
  const { text, status } = await run([TARGET], io);
  return { text: `${text}\n`, status };
}

export function snapshotUrl(name: string): URL {
  return new URL(`snapshots/${name}.txt`, import.meta.url);
}

if (import.meta.main) {
  for (const [name, change] of Object.entries(SNAPSHOTS)) {
    const { text } = await report(change);
    await Deno.writeTextFile(snapshotUrl(name), text);
  }
}
