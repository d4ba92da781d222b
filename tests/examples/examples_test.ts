/** The examples are short, and import public modules only. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { stub } from "@std/testing/mock";
import { startFlowServers } from "../servers/_flow.ts";

const EXAMPLES: [name: string, maxLines: number, packages?: RegExp][] = [
  ["device_login.ts", 20],
  ["service.ts", 10],
  ["rotate_key.ts", 35, /^node:/],
  ["enterprise.ts", 40],
  ["mcp_client_v1.ts", 25, /^@modelcontextprotocol\/sdk\/client\//],
  ["mcp_client_v2.ts", 25, /^@modelcontextprotocol\/client$/],
  [
    "mcp_on_behalf_of.ts",
    70,
    /^(@modelcontextprotocol\/sdk\/server\/.*|jose)$/,
  ],
  ["worker.ts", 56, /^cloudflare:workers$/],
  ["web_server.ts", 26, /^node:http$/],
  ["express.ts", 31, /^(node:process|express|redis)$/],
  ["deno_serve.ts", 22],
  ["hono.ts", 24, /^hono$/],
  ["client_metadata_file.ts", 10, /^node:fs\/promises$/],
  ["client_metadata_worker.ts", 16],
  ["user_info.ts", 10],
  ["introspection.ts", 20],
  ["lease.ts", 30],
  ["conditional_store.ts", 55, /^\.\/lease\.ts$/],
  ["sql_store.ts", 66, /^(pg|\.\/lease\.ts)$/],
  ["register_client.ts", 15],
  ["mcp_client_test.ts", 50, /^(@modelcontextprotocol\/sdk\/|@std\/assert$)/],
  ["opentelemetry.ts", 20, /^@opentelemetry\/api$/],
  ["sign_in_reasons.ts", 15],
  ["page_popup.html", 15],
  ["callback.html", 2],
  ["page_redirect.html", 15],
  ["apis/cognito.ts", 16],
  ["apis/entra.ts", 17],
  ["apis/github.ts", 17],
  ["apis/google.ts", 18],
  ["hosts/agent_proxy.ts", 69, /^node:\w+$/],
  ["frameworks/sign_in.ts", 17, /^node:process$/],
  ["frameworks/elysia.ts", 6, /^(@elysiajs\/node|elysia|\.\/sign_in\.ts)$/],
  ["frameworks/express.ts", 13, /^(express|\.\/sign_in\.ts)$/],
  ["frameworks/fastify.ts", 9, /^(fastify|\.\/sign_in\.ts)$/],
  ["frameworks/fetch.ts", 6, /^\.\/sign_in\.ts$/],
  ["frameworks/h3.ts", 5, /^(h3|\.\/sign_in\.ts)$/],
  ["frameworks/hono.ts", 5, /^(hono|\.\/sign_in\.ts)$/],
  ["frameworks/next.ts", 11, /^\.\/sign_in\.ts$/],
  ["frameworks/nuxt.ts", 7, /^(h3|\.\/sign_in\.ts)$/],
  ["frameworks/sveltekit.ts", 17, /^\.\/sign_in\.ts$/],
  [
    "frameworks/tanstack_start.ts",
    7,
    /^(@tanstack\/react-start\/server-entry|\.\/sign_in\.ts)$/,
  ],
  ["hosts/header_fields.ts", 20, /^@langchain\/mcp-adapters$/],
  [
    "hosts/http_clients.ts",
    20,
    /^(@octokit\/core|axios|ky|ofetch|openapi-fetch)$/,
  ],
  ["hosts/mcp_auth_provider.ts", 6, /^@modelcontextprotocol\/client$/],
  ["hosts/mcp_oauth_provider.ts", 25, /^@modelcontextprotocol\/sdk\/client\//],
  ["hosts/model_clients.ts", 12, /^(@anthropic-ai\/sdk|openai)$/],
  ["hosts/next_routes.ts", 20],
  ["hosts/remix_routes.ts", 26],
  ["hosts/session_vault.ts", 45, /^(pg|\.\.\/sql_store\.ts)$/],
  ["hosts/server_list.ts", 92],
  ["hosts/server_list_page.ts", 65, /^(node:\w+|\.\/server_list\.ts)$/],
  [
    "hosts/server_list_terminal.ts",
    25,
    /^(node:[\w/]+|\.\/server_list\.ts)$/,
  ],
  ["hosts/slack.ts", 40],
  ["hosts/stdio_bridge.ts", 85, /^@modelcontextprotocol\/sdk\//],
  ["hosts/url_elicitation.ts", 66, /^@modelcontextprotocol\/sdk\//],
  ["workloads/github_actions.ts", 25],
  ["workloads/google_cloud.ts", 26],
  ["workloads/kubernetes.ts", 18, /^node:fs\/promises$/],
];
const OWN = /^@oauth-helper\/client(\/(browser|native|stores|testing|web))?$/;

/** Returns the lines that count: those of the script of a page, and no blank ones or comments. */
function linesOf(source: string): string[] {
  const [, script = source] =
    /<script type="module">(.*)<\/script>/s.exec(source) ?? [];
  return script.replaceAll(/\/\*\*.*?\*\//gs, "").split("\n")
    .filter((line) => !/^\s*(\/\/.*)?$/.test(line));
}

for (const [name, maxLines, packages] of EXAMPLES) {
  Deno.test(`${name} has at most ${maxLines} lines, and imports packages only`, async () => {
    const source = await Deno.readTextFile(new URL(name, import.meta.url));
    const { length } = linesOf(source);
    assert(length <= maxLines, `${length} lines`);
    const imported = [...source.matchAll(/\b(?:from|import) "(.*?)"/g)]
      .map(([, specifier = ""]) => specifier);
    assert(
      imported.some((specifier) =>
        OWN.test(specifier) ||
        /^\.\/(server_list|sign_in)\.ts$/.test(specifier)
      ),
    );
    for (const specifier of imported) {
      const isKnown = specifier === "node:process" || OWN.test(specifier) ||
        packages?.test(specifier);
      assert(isKnown, specifier);
    }
    const isForDeno = ["deno_serve.ts", "hono.ts"].includes(name);
    assertEquals(/\bDeno\.(?!test)/.test(source), isForDeno, "needs Deno");
  });
}

Deno.test("service.ts calls the resource with a token of its own", async () => {
  const secret = "secret-of-the-service";
  await using servers = await startFlowServers({
    clients: [{
      client_id: "service",
      client_secret: secret,
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    }],
  });
  const { server, protectedResource: { resource } } = servers;
  Deno.env.set("RESOURCE", resource);
  Deno.env.set("ISSUER", server.issuer);
  Deno.env.set("SECRET", secret);
  using log = stub(console, "log", () => {});
  await import("./service.ts");
  const [[status, text] = []] = log.calls.map(({ args }) => args);
  assertEquals(status, 200);
  assertMatch(String(text), /"client_id":"service"/);
});
