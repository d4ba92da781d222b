/** A diagnosis requests nothing unsafe, and ends with findings where a server fails. */

import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { FetchLike } from "../../../mod.ts";
import { diagnose, type Diagnosis } from "../../../lib/doctor/mod.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { assertInvalidArgument } from "../../support/fixtures.ts";

const idsOf = ({ findings }: Diagnosis) =>
  findings.map(({ severity, id }) => `${severity} ${id}`);

/** A fetch function that fails as runtimes do. */
const failing = (message: string, code?: string): FetchLike => () =>
  Promise.reject(
    Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error(message), { code }),
    }),
  );

Deno.test("diagnose() finds an unknown host and a failed connection", async () => {
  const failed = /^The connection to api\.example failed/;
  const rows: [fetch: FetchLike, message: RegExp][] = [
    [
      failing("getaddrinfo ENOTFOUND api.example", "ENOTFOUND"),
      /is unknown\.$/,
    ],
    [failing("connection reset by peer", "ECONNRESET"), failed],
    [failing("anything else"), failed],
  ];
  await eachRowInTurn(rows, async ([fetch, message]) => {
    const diagnosis = await diagnose("https://api.example/mcp", { fetch });
    assertEquals(diagnosis.verdict, "unreachable");
    assertEquals(idsOf(diagnosis), ["error no_response"]);
    assertMatch(diagnosis.findings[0]?.message ?? "", message);
  });
});

Deno.test("diagnose() requests nothing over http but on loopback", async () => {
  const fetch: FetchLike = () => {
    throw new Error("Unexpected request");
  };
  const diagnosis = await diagnose("http://api.example/mcp", { fetch });
  assertEquals(diagnosis.verdict, "broken");
  assertEquals(idsOf(diagnosis), ["error target_not_https"]);
  assertEquals(diagnosis.steps, []);
  assertEquals(diagnosis.failure?.code, "url_refused");
});

Deno.test("diagnose() requires an http or https URL, and valid options", async () => {
  const field = { "X-Key": 7 } as never;
  const rows: [target: string, options?: Parameters<typeof diagnose>[1]][] = [
    [""],
    ["mcp"],
    ["ftp://api.example/"],
    ["https://u:p@a.example"],
    ["https://api.example/mcp", { headers: field }],
    ["https://api.example/mcp", { serverMetadataHeaders: field }],
    ["https://api.example/mcp", { trustedIssuers: field }],
    ["https://api.example/mcp", { serverMetadata: { issuer: "as" } as never }],
    ["https://api.example/mcp", {
      authorizationServer: "https://as.example",
      serverMetadata: { issuer: "https://as.example" } as never,
    }],
  ];
  await eachRowInTurn(rows, async ([target, options]) => {
    const fetch = () => Promise.reject();
    const error = await assertRejects(() =>
      diagnose(target, { fetch, ...options })
    );
    assertEquals((error as { code?: string }).code, "invalid_argument", target);
  });
});

/** A fetch function with minimal responses: a resource and its server. */
const minimalFetch: FetchLike = (url) => {
  const documents: Record<string, unknown> = {
    "https://api.example/.well-known/oauth-protected-resource/mcp": {
      resource: "https://api.example/mcp",
      authorization_servers: ["https://as.example"],
    },
    "https://as.example/.well-known/oauth-authorization-server": {
      issuer: "https://as.example",
      authorization_endpoint: "https://as.example/authorize",
      token_endpoint: "https://as.example/token",
      code_challenge_methods_supported: ["S256"],
    },
  };
  return Promise.resolve({
    status: url in documents ? 200 : url.endsWith("/mcp") ? 401 : 404,
    statusText: "",
    json: () => Promise.resolve(documents[url]),
    text: () => Promise.resolve(""),
  });
};

Deno.test("diagnose() reads minimal responses of a caller's fetch", async () => {
  const { context, verdict } = await diagnose("https://api.example/mcp", {
    fetch: minimalFetch,
  });
  assertEquals([context?.issuer, verdict], [
    "https://as.example",
    "needs_client",
  ]);
});

Deno.test("diagnose() accepts a minimal response with status 2xx as success", async () => {
  const statuses: [status: number, verdict: string][] = [
    [199, "needs_option"],
    [200, "open"],
    [299, "open"],
    [300, "needs_option"],
  ];
  for (const [status, expected] of statuses) {
    const { verdict } = await diagnose("https://api.example/mcp", {
      fetch: (url) =>
        Promise.resolve({
          status: url.endsWith("example/mcp") ? status : 404,
          statusText: "",
          json: () => Promise.reject(new SyntaxError("No JSON")),
          text: () => Promise.resolve(""),
        }),
    });
    assertEquals(verdict, expected, `${status}`);
  }
});

Deno.test("diagnose() sends nothing for an option of discoverAuthorization() that it does not have", async () => {
  const sent: string[] = [];
  const options = {
    fetch: (url: string) => {
      sent.push(url);
      return Promise.reject(new TypeError("fetch failed"));
    },
    sameOriginHeaders: { "X-Key": "k" },
  };
  const call = () => diagnose("https://api.example/mcp", options);
  await assertInvalidArgument(call, "sameOriginHeaders");
  assertEquals(sent, []);
});
