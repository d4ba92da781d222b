/** Client metadata documents that are published, diagnosed and used for a sign-in. */

import { exportJWK, generateKeyPair } from "jose";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Miniflare } from "miniflare";
import {
  codeFlow,
  type CodeFlowOptions,
  createAuthorizedFetch,
  type FetchLike,
  privateKeyJwt,
} from "../../mod.ts";
import { diagnoseClientMetadata } from "../../lib/doctor/mod.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { bundle } from "../support/bundle.ts";
import { createDesk } from "./_programs.ts";

const { authorize: visit } = createBrowser();

async function signInWith(
  document: { client_id: string },
  flow: Pick<CodeFlowOptions, "redirectUri" | "client" | "clientMetadataUrl">,
): Promise<void> {
  await using servers = await startFlowServers({
    clientDocuments: { [document.client_id]: document },
  });
  const { server, protectedResource: { resource } } = servers;
  const authorize = codeFlow({ ...flow, visit });
  const api = createAuthorizedFetch(resource, { flow: authorize });
  const response = await api(resource);
  assertEquals(response.status, 200);
  assertStringIncludes(await response.text(), `"${document.client_id}"`);
  assert(!server.requests.includes("POST /reg"));
}

Deno.test("client_metadata_file.ts writes a document that servers accept", async () => {
  await using desk = await createDesk();
  await desk.start("client_metadata_file.ts").output();
  const path = desk.sessionFile.replace(/[^/]+$/, "client.json");
  const text = await Deno.readTextFile(path);
  const url = "https://tool.example/client.json";
  const headers = { "Content-Type": "application/json" };
  const { findings } = await diagnoseClientMetadata(url, {
    fetch: () => Promise.resolve(new Response(text, { headers })),
  });
  assertEquals(findings.map(({ id }) => id), ["loopback_port"]);
  await signInWith(JSON.parse(text), {
    clientMetadataUrl: url,
    redirectUri: "http://127.0.0.1:33418/callback",
  });
});

Deno.test("client_metadata_worker.ts publishes a document with a key that servers accept", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256", {
    extractable: true,
  });
  const directory = await Deno.makeTempDir();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => Deno.remove(directory, { recursive: true }));
  const path = `${directory}/worker.mjs`;
  const name = "client_metadata_worker.ts";
  await bundle(new URL(name, import.meta.url).pathname, path);
  const url = "https://app.example/client.json";
  const miniflare = new Miniflare({
    modules: [{
      type: "ESModule",
      path: "worker.mjs",
      contents: await Deno.readTextFile(path),
    }],
    compatibilityDate: "2026-01-01",
    bindings: {
      URL: url,
      PUBLIC_JWK: JSON.stringify(await exportJWK(publicKey)),
    },
    // Else miniflare downloads an example of the properties of a request.
    cf: false,
  });
  cleanup.defer(() => miniflare.dispose());
  const fetch: FetchLike = async (url) =>
    // Its types are those of workers.
    await miniflare.dispatchFetch(url) as unknown as Response;
  const { findings } = await diagnoseClientMetadata(url, { fetch });
  assertEquals(findings, []);
  const { status } = await fetch("https://app.example/", {
    method: "GET",
    headers: {},
  });
  assertEquals(status, 404);
  const response = await fetch(url, { method: "GET", headers: {} });
  const key = { ...await exportJWK(privateKey), alg: "ES256" };
  await signInWith(await response.json() as { client_id: string }, {
    client: privateKeyJwt(url, key, { audience: "issuer" }),
    redirectUri: "https://app.example/callback",
  });
});
