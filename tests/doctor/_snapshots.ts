/**
 * Some servers whose report is compared with a file, and the list of the rules. As a
 * program, it writes the files: `deno run -A tests/doctor/_snapshots.ts`.
 */

import type { IRule } from "../../lib/doctor/_rules.ts";
import { type IModel, remote, run, served, TARGET } from "./_world.ts";

export const SNAPSHOTS: Record<string, (model: IModel) => void> = {
  healthy: () => {},
  needs_client: ({ serverMetadata, resource, noCors }) => {
    delete serverMetadata.registration_endpoint;
    resource.headers["WWW-Authenticate"] = 'Bearer realm="api", scope="admin"';
    noCors.add("/as/token");
  },
  needs_option: ({ serverMetadata }) => {
    delete serverMetadata.code_challenge_methods_supported;
    delete serverMetadata.registration_endpoint;
  },
  authorization_server: (model) => {
    const { origin, serverMetadata, resource } = model;
    serverMetadata.issuer = `${origin}/mcp`;
    resource.status = 200;
    resource.headers = {};
    model.documents = {
      "/mcp/.well-known/openid-configuration": served(serverMetadata),
    };
  },
  broken: (model) => {
    const { serverMetadata, resourceMetadata, resource, documents } = model;
    resource.headers["WWW-Authenticate"] = "Bearer";
    resourceMetadata.scopes_supported = [];
    serverMetadata.issuer = "https://login.example/{tenantid}/v2.0";
    serverMetadata.code_challenge_methods_supported = ["plain"];
    documents["/as/.well-known/openid-configuration"] = served(
      "<!doctype html>",
      { headers: { "Content-Type": "text/html" } },
    );
  },
  unreachable: ({ handlers }) => {
    const fail = () => {
      const cause = Object.assign(
        new Error("connect ECONNREFUSED 203.0.113.7:443"),
        { code: "ECONNREFUSED" },
      );
      throw new TypeError("fetch failed", { cause });
    };
    const wellKnown = [
      "oauth-protected-resource",
      "oauth-protected-resource/mcp",
      "oauth-authorization-server",
      "openid-configuration",
    ];
    for (
      const path of [
        "mcp",
        ...wellKnown.map((one) => `.well-known/${one}`),
      ]
    ) {
      handlers[`/${path}`] = fail;
    }
  },
};

/** Returns what the command prints for a server, and its exit status. */
export async function report(
  change: (model: IModel) => void,
  colour = false,
): Promise<{ text: string; status: number }> {
  const fetch = remote(change);
  const io = { colour, fetch, now: () => 0 };
  const { text, status } = await run([TARGET], io);
  return { text: `${text}\n`, status };
}

/** Returns the rules of all files, with a line for each: identifier and standard. */
export async function ruleLines(): Promise<string> {
  const folder = new URL("../../lib/doctor/", import.meta.url);
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
  const lines: string[] = [];
  for (const name of names.filter((name) => name.startsWith("_rules_"))) {
    const lists: (readonly IRule[])[] = Object.values(
      await import(new URL(name, folder).href),
    );
    for (const { id, standard } of lists.filter(Array.isArray).flat()) {
      lines.push(`${id}: ${standard}\n`);
    }
  }
  return lines.join("");
}

/** Returns the file of a snapshot. */
export function snapshotUrl(name: string): URL {
  return new URL(`snapshots/${name}.txt`, import.meta.url);
}

if (import.meta.main) {
  for (const [name, change] of Object.entries(SNAPSHOTS)) {
    const { text } = await report(change);
    await Deno.writeTextFile(snapshotUrl(name), text);
  }
  await Deno.writeTextFile(snapshotUrl("rules"), await ruleLines());
}
