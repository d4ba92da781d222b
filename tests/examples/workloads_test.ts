/** The examples for workloads, with their platforms imitated on loopback. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { stub } from "@std/testing/mock";
import { startCrossApp, WORKLOAD } from "../servers/cross_app_access.ts";
import {
  type Platform,
  startGitHubActions,
  startGoogleCloud,
  startKubernetes,
} from "../servers/workload_platforms.ts";

const EXAMPLES: [
  name: string,
  load: () => Promise<unknown>,
  start: (audience: string) => Promise<Platform>,
][] = [
  [
    "github_actions",
    () => import("./workloads/github_actions.ts"),
    startGitHubActions,
  ],
  ["kubernetes", () => import("./workloads/kubernetes.ts"), startKubernetes],
  [
    "google_cloud",
    () => import("./workloads/google_cloud.ts"),
    startGoogleCloud,
  ],
];

for (const [name, load, start] of EXAMPLES) {
  Deno.test(`workloads/${name}.ts calls the resource with the identity of its platform`, async () => {
    await using servers = await startCrossApp();
    const { server, trusted, context: { resource } } = servers;
    await using platform = await start(server.issuer);
    const { signer, claims, env } = platform;
    trusted.set(claims.iss, { signer, typ: "JWT" });
    const all = {
      RESOURCE: resource,
      ISSUER: server.issuer,
      CLIENT_ID: WORKLOAD,
      ...env,
    };
    for (const [key, value] of Object.entries(all)) Deno.env.set(key, value);
    server.requests.length = 0;
    using log = stub(console, "log", () => {});
    try {
      await load();
    } finally {
      for (const key of Object.keys(all)) Deno.env.delete(key);
    }
    const [[status, text] = []] = log.calls.map(({ args }) => args);
    assertEquals(status, 200);
    assertStringIncludes(String(text), `"client_id":"${WORKLOAD}"`);
    assertStringIncludes(String(text), `"sub":"${claims.sub}"`);
    const posts = server.requests.filter((one) => one.startsWith("POST "));
    assertEquals(posts, ["POST /tenant1/token"]);
  });
}
