/** What the target is: a resource, another URL of it, or an authorization server. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { diagnose } from "../../lib/doctor/mod.ts";
import { factRows, LIBRARY_WORDS } from "../../lib/doctor/report/_text.ts";
import { publicClient } from "../../mod.ts";
import {
  all,
  challenge,
  type Change,
  documents,
  only,
  removed,
  resource,
  server,
  status,
  withoutCors,
} from "./_changes.ts";
import { members, signedIn } from "./_sign_in_world.ts";
import {
  diagnosed,
  idsOf,
  RESOURCE_PATH,
  ROOT_PATH,
  served,
  SERVER_PATH,
  startWorld,
} from "./_world.ts";
import { eachRowInTurn } from "../support/each_row.ts";

const SERVER_AT_ORIGIN = "/.well-known/oauth-authorization-server";

const AS_JSON = { "Content-Type": "application/json" };

/** Leaves nothing but the authorization server at `/as`, with this status. */
const serverAlone = (status: number, headers: HeadersInit = {}): Change =>
  all(removed(RESOURCE_PATH), ({ handlers }) => {
    handlers["GET /as"] = () => new Response(null, { status, headers });
  });

Deno.test("diagnose() diagnoses an authorization server as one", async () => {
  for (const status of [200, 302, 403, 404, 500]) {
    const { ids, verdict, context, failure, summary, model } = await diagnosed(
      serverAlone(status),
      {},
      "/as",
    );
    assertEquals(ids, [], `${status}`);
    assertEquals([verdict, failure], ["ready", undefined]);
    assertEquals(context, {
      issuer: `${model.origin}/as`,
      source: "target",
      serverMetadataUrl: model.origin + SERVER_PATH,
      client: "register",
      iss: "promised",
    });
    assert(summary.startsWith("The URL is an authorization server,"));
  }
});

Deno.test("diagnose() finds what is wrong with an authorization server as the target", async () => {
  const change = server({
    code_challenge_methods_supported: undefined,
    registration_endpoint: undefined,
  });
  const { ids, verdict } = await diagnosed(
    all(serverAlone(200), change),
    {},
    "/as",
  );
  assertEquals(ids, ["error pkce_not_listed", "warning no_registration"]);
  assertEquals(verdict, "needs_option");
});

Deno.test("diagnose() diagnoses a server for all tenants as one", async () => {
  const { verdict, context, options, model: { origin } } = await diagnosed(
    all(
      serverAlone(404),
      server((origin) => ({ issuer: `${origin}/{tenantid}/v2.0` })),
    ),
    {},
    "/as",
  );
  assertEquals([verdict, context?.source], ["needs_option", "target"]);
  assertEquals(options, [
    {
      name: "trustedIssuers",
      value: { [`${origin}/as`]: `${origin}/{tenantid}/v2.0` },
    },
    { name: "resourceIndicator", value: false },
  ]);
});

Deno.test("diagnose() takes no resource for an authorization server", async () => {
  const rows: [name: string, change: Change][] = [
    ["a 401", serverAlone(401)],
    ["a challenge", serverAlone(403, { "WWW-Authenticate": "Bearer" })],
    [
      "metadata of a resource",
      all(
        serverAlone(200),
        resource((origin) => ({ resource: `${origin}/as` })),
        documents((model) => ({
          [`${ROOT_PATH}/as`]: served(model.resourceMetadata),
        })),
      ),
    ],
    [
      "metadata of another server",
      all(serverAlone(200), server((origin) => ({ issuer: origin }))),
    ],
  ];
  await eachRowInTurn(rows, async ([name, change]) => {
    const { context } = await diagnosed(change, {}, "/as");
    assert(context?.source !== "target", name);
  });
});

Deno.test("diagnose() says first that the path of the target is wrong", async () => {
  const rows: [name: string, change: Change][] = [
    ["nothing published there", () => {}],
    [
      "metadata at every path",
      documents((model) => ({
        [ROOT_PATH]: served(model.resourceMetadata),
        [`${ROOT_PATH}/mpc`]: served(model.resourceMetadata),
      })),
    ],
    [
      "a server at the origin",
      all(
        server((origin) => ({ issuer: origin })),
        documents((model) => ({
          [SERVER_AT_ORIGIN]: served(model.serverMetadata),
          [`${SERVER_AT_ORIGIN}/mpc`]: served(model.serverMetadata),
        })),
      ),
    ],
  ];
  await eachRowInTurn(rows, async ([name, change]) => {
    const { verdict, ids, summary, findings } = await diagnosed(
      change,
      {},
      "/mpc",
    );
    assertEquals(verdict, "broken", name);
    assertEquals(ids[0], "error target_not_found", name);
    assertStringIncludes(
      summary,
      "A client stops. There is no resource at this URL: status 404.",
    );
    // An API may hide what it has.
    assertEquals(
      findings[0]?.hints?.map(({ option }) => option),
      ["tokenRequired", "authorizationServer"],
    );
  });
});

Deno.test("diagnose() names tokenRequired and authorizationServer for an API that responds with 404 and publishes nothing", async () => {
  const other = "If the server publishes metadata, its URL is enough.";
  const rows: [
    name: string,
    change: Change,
    verdict: string,
    words: string[],
  ][] = [
    ["a page", all(status(404), only()), "broken", [
      "A client stops. There is no resource at this URL: status 404. If the API " +
      "hides its resources from requests without a token, a client has to know " +
      "the authorization server and obtain a token before its first call.",
    ]],
    ["JSON", all(status(404, AS_JSON), only()), "needs_option", [
      "obtains a token before its first call",
      other,
    ]],
    [
      "JSON, and an endpoint",
      all(
        status(404, AS_JSON),
        only(() => ({ "/authorize": served("", { status: 400 }) })),
      ),
      "needs_option",
      [
        "obtains a token before its first call",
        "the server's metadata from its documentation",
        other,
      ],
    ],
  ];
  await eachRowInTurn(rows, async ([name, change, verdict, words]) => {
    const diagnosis = await diagnosed(change);
    assertEquals(diagnosis.verdict, verdict, name);
    for (const one of words) assertStringIncludes(diagnosis.summary, one);
  });
  // With metadata, the server is known, also for another path.
  const { summary } = await diagnosed(status(404));
  const elsewhere = await diagnosed(
    all(
      server((origin) => ({ issuer: origin })),
      documents((model) => ({
        [SERVER_AT_ORIGIN]: served(model.serverMetadata),
      })),
    ),
    {},
    "/mpc",
  );
  for (const one of [summary, elsewhere.summary]) {
    assert(!one.includes("authorizationServer"), one);
  }
});

Deno.test("diagnose() reads the parent's own document, as discovery does", async () => {
  const rows: [isPublished: boolean, verdict: string, findings: string[]][] = [
    [true, "ready", ["warning resource_mismatch"]],
    [false, "broken", ["error resource_mismatch"]],
  ];
  await eachRowInTurn(rows, async ([isPublished, verdict, findings]) => {
    const diagnosis = await diagnosed(
      (model) => {
        const { documents, handlers, resource, resourceMetadata, origin } =
          model;
        handlers["GET /mcp/v1/files"] = () =>
          new Response(null, {
            status: 401,
            headers: {
              ...resource.headers,
              "Access-Control-Allow-Origin": "*",
              "WWW-Authenticate":
                `Bearer resource_metadata="${origin}/meta", scope="read"`,
            },
          });
        documents["/meta"] = served(resourceMetadata);
        if (!isPublished) delete documents[RESOURCE_PATH];
      },
      {},
      "/mcp/v1/files",
    );
    const ownUrl = diagnosis.model.origin + RESOURCE_PATH;
    assertEquals([diagnosis.verdict, diagnosis.ids], [verdict, findings]);
    const [first] = diagnosis.findings;
    const own = diagnosis.steps.find(({ url }) => url === ownUrl);
    assertEquals(
      [own?.result, own?.isExtra],
      [isPublished ? "metadata" : "not published", false],
    );
    // What is published must not be asked for.
    assertEquals(first?.operator.includes("or this document at"), !isPublished);
    assertEquals(first?.client?.includes(ownUrl), isPublished);
  });
});

Deno.test("diagnose() shows the scopes that a flow requests", async () => {
  const rows: [offlineAccess: boolean, scopes: string[]][] = [
    [true, ["read", "offline_access"]],
    [false, ["read"]],
  ];
  const change = server({
    scopes_supported: ["read", "write", "offline_access"],
  });
  await eachRowInTurn(rows, async ([offlineAccess, scopes]) => {
    const { context } = await diagnosed(change, { offlineAccess });
    assertEquals(context?.scopes, scopes);
  });
});

Deno.test("diagnose() does not claim that no scope is named where it did not look", async () => {
  const rows: [isNamed: boolean, status: number, findings: string[]][] = [
    [false, 404, ["warning no_resource_metadata", "info no_scopes"]],
    [false, 503, ["warning metadata_unusable"]],
    [true, 404, []],
  ];
  await eachRowInTurn(rows, async ([isNamed, status, findings]) => {
    await using world = startWorld(all(
      server((origin) => ({ issuer: origin })),
      challenge("Bearer"),
      only((model) => ({
        [SERVER_AT_ORIGIN]: served(model.serverMetadata),
        [RESOURCE_PATH]: served("", { status }),
      })),
    ));
    const diagnosis = await diagnose(world.target, {
      authorizationServer: isNamed ? world.model.origin : undefined,
    });
    assertEquals(
      idsOf(diagnosis).filter((id) => !/ (challenge|cors)/.test(id)),
      findings,
    );
  });
});

Deno.test("diagnose() looks on request whether a web page can be the client", async () => {
  const hides: Change = ({ resource }) =>
    delete resource.headers["Access-Control-Expose-Headers"];
  const rows: [change: Change, parts: string][] = [
    [() => {}, ""],
    [withoutCors("/mcp"), "the resource"],
    [
      all(withoutCors(SERVER_PATH, "/as/token", "/as/register"), hides),
      "the metadata, the token endpoint, the registration endpoint, the " +
      "challenge of the resource",
    ],
  ];
  await eachRowInTurn(rows, async ([change, parts]) => {
    const { findings, context, steps } = await diagnosed(change, {
      browser: true,
    });
    assertEquals(
      findings.map(({ id, message }) => `${id}: ${message}`),
      parts === "" ? [] : [`cors: A web page cannot use ${parts}.`],
    );
    assertEquals(context?.webPages, parts === "");
    assert(steps.some(({ name, method }) => name + method === "corsOPTIONS"));
    const plain = await diagnosed(change);
    assertEquals([plain.ids, plain.context?.webPages], [[], undefined]);
    assert(plain.steps.every(({ name }) => name !== "cors"));
  });
  // A page that has a client needs no registration.
  const lacking = withoutCors("/as/register");
  const without = await diagnosed(lacking, { browser: true });
  assertEquals(without.context?.webPages, "with_client");
  assertEquals(
    without.findings.map(({ message, client }) => [message, client]),
    [[
      "A web page cannot use the registration endpoint, so it needs a client id.",
      "A page needs the `issuer` and the `client_id` of a client that the operator " +
      "has registered for it.",
    ]],
  );
  const facts = new Map(factRows(without, LIBRARY_WORDS));
  assertEquals(facts.get("Web pages"), "can be the client, with a client id");
  const client = publicClient("c1");
  for (const change of [lacking, () => {}]) {
    const { ids, verdict, ...known } = await diagnosed(change, {
      browser: true,
      client,
    });
    assertEquals([ids, verdict, known.context?.webPages], [[], "ready", true]);
    assertEquals(known.given, [{ name: "client" }]);
    assert(!known.requests.join().includes("/as/register"));
    assert(!known.notTried?.includes("registration_endpoint"));
  }
  // Discovery runs again with options that a client needs; with allowHttp, on the same
  // responses.
  const needing: [members: Record<string, unknown>, webPages?: boolean][] = [
    [{ code_challenge_methods_supported: undefined }, true],
    [{
      issuer: "http://localhost:9",
      code_challenge_methods_supported: undefined,
    }, true],
    [{ issuer: "https://other.example" }],
  ];
  for (const [members, webPages] of needing) {
    const { verdict, context, ids, requests } = await diagnosed(
      server(members),
      { browser: true },
    );
    assertEquals(requests.length, new Set(requests).size, "None is made twice");
    assertEquals([verdict, context?.webPages], ["needs_option", webPages]);
    assert(!ids.includes("info cors"), `${ids}`);
  }
});

Deno.test("diagnose() says whether authorization responses name their issuer", async () => {
  const change = server({
    authorization_response_iss_parameter_supported: undefined,
  });
  const { context: plain, ids } = await diagnosed(change);
  assertEquals([plain?.iss, ids], ["unpromised", []]);
  for (const [iss, expected] of [["", "missing"], [undefined, "sent"]]) {
    const { context } = await signedIn((model) => {
      change(model);
      if (iss === "") members("/as/authorize", { iss: undefined })(model);
    });
    assertEquals(context?.iss, expected);
  }
});

Deno.test("diagnose() requests no assumed endpoint of an open resource", async () => {
  const { verdict, options, notTried, requests } = await diagnosed(
    all(status(200), only()),
  );
  assertEquals([verdict, options, notTried], ["open", undefined, undefined]);
  assert(!requests.some((line) => /authorize|register/.test(line)));
});

Deno.test("diagnose() asks allowUrl for what it requests with the options that it tries", async () => {
  const asked: string[] = [];
  const { verdict, steps } = await diagnosed(
    server({ issuer: "https://other.example" }),
    { allowUrl: ({ href }) => Boolean(asked.push(href)) },
  );
  assertEquals(verdict, "needs_option");
  // Discovery asks again with an option, also where a response is known.
  const most = 3 * steps.length;
  assert(asked.length <= most, `${asked.length} of ${most}`);
});

Deno.test("diagnose() makes no request for the options that it tries", async () => {
  const rows: [name: string, change: Change][] = [
    [
      "a server at http",
      resource({ authorization_servers: ["http://as.example"] }),
    ],
    [
      "metadata at http",
      all(challenge('Bearer resource_metadata="http://api.example/m"'), only()),
    ],
  ];
  await eachRowInTurn(rows, async ([name, change]) => {
    const { verdict, options } = await diagnosed(change, {
      fetch(url, init) {
        assert(url.startsWith("http://127.0.0.1:"), url);
        return fetch(url, init);
      },
    });
    // Whether the option helps was not seen.
    assertEquals([verdict, options], ["broken", undefined], name);
  });
});
