/** Servers that cannot be reached, or only over https, and the options. */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { wordsOfHints } from "../../lib/cli/_hint_words.ts";
import { diagnose } from "../../lib/doctor/mod.ts";
import { createCertificate } from "../faults/certificate.ts";
import {
  all,
  challenge,
  type Change,
  fields,
  metadataAt,
  only,
  resource,
  responding,
  server,
} from "./_changes.ts";
import {
  diagnosed,
  handle,
  healthyModel,
  idsOf,
  remote,
  RESOURCE_PATH,
  ROOT_PATH,
  served,
  SERVER_PATH,
  startWorld,
  TARGET,
} from "./_world.ts";
import { eachRowInTurn } from "../support/each_row.ts";

Deno.test("diagnose() finds that nothing listens", async () => {
  let target = "";
  {
    await using world = startWorld();
    ({ target } = world);
  }
  const diagnosis = await diagnose(target);
  assertEquals(diagnosis.verdict, "unreachable");
  assertEquals(idsOf(diagnosis), ["error no_response"]);
  assertEquals(diagnosis.steps[0]?.result, "no connection");
});

Deno.test("diagnose() finds a certificate that is not accepted", async () => {
  for (const isExpired of [false, true]) {
    const certificate = createCertificate({ isExpired });
    await using world = startWorld(() => {}, certificate);
    const diagnosis = await diagnose(world.target);
    assertEquals(diagnosis.verdict, "unreachable");
    const id = isExpired ? "no_response" : "no_response";
    assertEquals(idsOf(diagnosis), [`error ${id}`]);
    assertEquals(
      diagnosis.steps[0]?.result,
      isExpired ? "cert. expired" : "certificate",
    );
    assertEquals(diagnosis.summary, diagnosis.findings[0]?.message);
  }
});

Deno.test("diagnose() finds nothing at a healthy server over https", async () => {
  const certificate = createCertificate();
  await using world = startWorld(() => {}, certificate);
  using client = Deno.createHttpClient({ caCerts: [certificate.cert] });
  const diagnosis = await diagnose(world.target, {
    fetch: (url, init) => fetch(url, { ...init, client }),
  });
  assertEquals([idsOf(diagnosis), diagnosis.verdict], [[], "ready"]);
});

Deno.test("diagnose() finds an authorization server that does not respond", async () => {
  const { verdict, ids, findings } = await diagnosed(
    resource({ authorization_servers: ["https://as.example"] }),
    {
      fetch: (url, init) =>
        url.startsWith("http:") ? fetch(url, init) : Promise.reject(
          new TypeError("dns error: failed to lookup address"),
        ),
    },
  );
  assertEquals([verdict, ids], ["broken", ["error no_response"]]);
  assertEquals(
    findings[0]?.url,
    "https://as.example/.well-known/oauth-authorization-server",
  );
});

Deno.test("diagnose() warns of http if it is allowed", async () => {
  const origin = "http://api.example";
  const model = healthyModel(origin);
  const diagnosis = await diagnose(`${origin}/mcp`, {
    fetch: (url, init) => handle(model, new Request(url, init)),
    allowHttp: true,
  });
  assertEquals(idsOf(diagnosis), ["warning target_not_https"]);
  assertEquals(diagnosis.verdict, "ready");
});

Deno.test("diagnose() names the options that let a client continue, and looks whether they do", async () => {
  await using world = startWorld(server({
    issuer: "https://other.example",
    code_challenge_methods_supported: undefined,
  }));
  const { target, model, requests } = world;
  const { findings, verdict, options, context, summary } = await diagnose(
    target,
  );
  const caution =
    "A server that claims another server's identity may be trying to steal codes and " +
    "tokens. Only if you know that both are the same server, trust the claimed issuer.";
  assertEquals(
    summary,
    `${caution} A client that trusts it continues if it also assumes that PKCE is ` +
      "supported and accepts http or loopback. Not tried: registration endpoint, " +
      "authorization endpoint, token endpoint.",
  );
  assertEquals(
    findings.map(({ client }) => client),
    [
      "A server that claims another server's identity may be trying to steal its codes and tokens.",
      undefined,
      undefined,
    ],
  );
  const named = `${model.origin}/as`;
  assertEquals(findings.map(({ hints }) => hints), [
    [{
      option: "trustedIssuers",
      value: { [named]: "https://other.example" },
      text: "only if you know that both are the same server, set " +
        `trustedIssuers: { "${named}": "https://other.example" }`,
    }],
    [{
      option: "assumePkce",
      value: true,
      text: "set assumePkce: true if the server is known to support PKCE",
    }],
    [{
      option: "allowHttp",
      value: true,
      text: "set allowHttp: true in a test environment",
    }],
  ]);
  assertEquals(findings.flatMap(({ hints }) => wordsOfHints(hints)), [
    "this could be an attack: only if both are the same server, use " +
    `--trusted-issuer ${named}=https://other.example`,
    "use --assume-pkce if it is known to support PKCE",
    "use --allow-http, on a network that no one else can read",
  ]);
  const count = requests.length;
  // Endpoints on loopback are allowed at a server on loopback only.
  assertEquals([verdict, options], ["needs_option", [
    {
      name: "trustedIssuers",
      value: { [`${model.origin}/as`]: "https://other.example" },
    },
    { name: "assumePkce", value: true },
    { name: "allowHttp", value: true },
  ]]);
  assertEquals(context?.issuer, "https://other.example");
  assertEquals(count, new Set(requests).size, "No request is made twice");
  const diagnosis = await diagnose(
    target,
    Object.fromEntries(options?.map(({ name, value }) => [name, value]) ?? []),
  );
  assertEquals(idsOf(diagnosis), ["warning pkce_not_listed"]);
  assertEquals([diagnosis.verdict, diagnosis.options], ["ready", undefined]);
});

Deno.test("diagnose() uses a named authorization server", async () => {
  await using world = startWorld(
    only((model) => ({ [SERVER_PATH]: served(model.serverMetadata) })),
  );
  const diagnosis = await diagnose(world.target, {
    authorizationServer: `${world.model.origin}/as`,
  });
  assertEquals([idsOf(diagnosis), diagnosis.context?.source], [[], "option"]);
});

Deno.test("diagnose() sends a POST without the caller's header fields, and only where a GET says nothing", async () => {
  const rows: [status: number, fields: HeadersInit, posts: number][] = [
    [200, {}, 0],
    [200, { "Content-Type": "text/html; charset=utf-8" }, 1],
    [302, {}, 1],
    [400, {}, 1],
    [401, {}, 0],
    [429, {}, 0],
    [503, {}, 1],
    [405, { "WWW-Authenticate": "Bearer" }, 0],
    [405, {}, 1],
  ];
  for (const [status, fields, posts] of rows) {
    const received: unknown[] = [];
    await using world = startWorld(({ handlers, resource }) => {
      handlers["GET /mcp"] = () =>
        new Response("<!doctype html>", { status, headers: fields });
      handlers["POST /mcp"] = ({ headers }) => {
        received.push([headers.get("X-Key"), headers.get("Authorization")]);
        const { headers: fields, status } = resource;
        return new Response(null, { status, headers: fields });
      };
    });
    const headers = { "X-Key": "k3y", Authorization: "Bearer of-the-user" };
    await diagnose(world.target, { headers });
    assertEquals(received, Array(posts).fill([null, null]), `${status}`);
  }
});

Deno.test("diagnose() reads the challenge of a POST, which alone names the metadata", async () => {
  const html = { "Content-Type": "text/html" };
  const rows: [status: number, fields?: HeadersInit][] = [
    [200, html],
    ...[302, 400, 403, 404, 405, 406, 415, 426, 500, 501]
      .map((status): [status: number] => [status]),
  ];
  for (const [status, headers = {}] of rows) {
    const { verdict, ids } = await diagnosed(all(
      metadataAt("/meta"),
      responding(() => new Response("", { status, headers }), "GET /mcp"),
      only(({ resourceMetadata, serverMetadata }) => ({
        "/meta": served(resourceMetadata),
        [SERVER_PATH]: served(serverMetadata),
      })),
    ));
    assertEquals([verdict, ids], ["ready", [
      "info challenge_for_post_only",
    ]], `${status}`);
  }
});

Deno.test("diagnose() concludes from a page and a POST that is refused no more than from the page", async () => {
  const html = { "Content-Type": "text/html" };
  const { verdict, summary, steps } = await diagnosed(all(
    only(),
    responding(() => new Response("", { headers: html }), "GET /mcp"),
    responding(() => new Response("", { status: 403 }), "POST /mcp"),
  ));
  assertEquals(verdict, "open");
  assertEquals(summary, "This GET requires no token; other requests may.");
  assertEquals(steps[1]?.method, "POST");
});

Deno.test("diagnose() finds a clock that differs", async () => {
  const rows: [seconds: number, words: string | undefined][] = [
    [-3_600, "60 minutes behind"],
    [-40, "behind"],
    [-20, undefined],
    [20, undefined],
    [40, "ahead of"],
  ];
  const at = Date.parse("2026-11-23T12:00:00Z");
  await eachRowInTurn(rows, async ([seconds, words]) => {
    const date = new Date(at + seconds * 1_000).toUTCString();
    const { findings } = await diagnose(TARGET, {
      now: () => at,
      fetch: async (url, init) => {
        const response = await remote(() => {})(url, init) as Response;
        response.headers.set("Date", date);
        return response;
      },
    });
    assertEquals(findings.map(({ id }) => id), words ? ["clock_differs"] : []);
    assertMatch(findings[0]?.message ?? "", new RegExp(words ?? "^$"));
  });
  // A cache returns the `Date` of the response that it has kept, and perhaps its `Age`.
  const kept = { Date: new Date(Date.now() - 7_200_000).toUTCString() };
  const aged = { ...kept, Age: "7200" };
  const changes: Change[] = [
    fields(SERVER_PATH, kept),
    all(
      ({ resource }) => void Object.assign(resource.headers, aged),
      fields(RESOURCE_PATH, aged),
      fields(SERVER_PATH, aged),
    ),
  ];
  for (const change of changes) {
    assertEquals((await diagnosed(change)).ids, []);
  }
});

Deno.test("diagnose() makes few requests beside those of discovery", async () => {
  const { steps, requests } = await diagnosed();
  const count = (isExtra: boolean) =>
    steps.filter((step) => step.isExtra === isExtra).length;
  assertEquals([count(false), count(true)], [3, 0]);
  assertEquals(requests.length, 3);
  assertEquals(new Set(requests).size, 3, "No request is made twice");
});

Deno.test("diagnose() asks allowUrl before every request", async () => {
  await using world = startWorld();
  const asked: string[] = [];
  const { steps } = await diagnose(world.target, {
    allowUrl(url) {
      asked.push(url.pathname);
      return true;
    },
  });
  for (const { url } of steps) assert(asked.includes(new URL(url).pathname));
  const refused = await diagnose(world.target, { allowUrl: () => false });
  assertEquals(refused.steps, []);
  assertEquals(refused.verdict, "broken");
  assertEquals(idsOf(refused), ["error discovery_failed"]);
});

Deno.test("diagnose() rejects with the reason of the caller's signal", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const reason = new Error("Enough");
  const onRequest = () => controller.abort(reason);
  const error = await assertRejects(() =>
    diagnosed(undefined, { signal, onRequest })
  );
  assertEquals(error, reason);
});

Deno.test("diagnose() ignores the fragment of a URL", async () => {
  const { target, ids, model } = await diagnosed(undefined, {}, "/mcp#part");
  assertEquals([target, ids], [`${model.origin}/mcp`, []]);
});

Deno.test("diagnose() requests nothing on loopback for a server that is not", async () => {
  const rows: [finding: string, change: Change][] = [
    [
      "url_refused",
      resource({ authorization_servers: ["http://127.0.0.1:9"] }),
    ],
    ["url_refused", server({ token_endpoint: "https://localhost/token" })],
    [
      "url_refused",
      all(challenge('Bearer resource_metadata="http://[::1]/m"'), only()),
    ],
  ];
  await eachRowInTurn(rows, async ([finding, change]) => {
    const diagnosis = await diagnose(TARGET, { fetch: remote(change) });
    assertEquals(idsOf(diagnosis), [`error ${finding}`]);
    const { steps } = diagnosis;
    assert(steps.every(({ url }) => url.startsWith("https://api.example/")));
  });
});

Deno.test("diagnose() finds a parent resource if only the same one is allowed", async () => {
  const change = all(
    resource((origin) => ({ resource: origin })),
    metadataAt(ROOT_PATH),
    only(({ resourceMetadata, serverMetadata }) => ({
      [ROOT_PATH]: served(resourceMetadata),
      [SERVER_PATH]: served(serverMetadata),
    })),
  );
  const { ids } = await diagnosed(change, { resourceMatch: "exact" });
  assertEquals(ids, ["error resource_mismatch"]);
});
