/** What the target is: a resource, another URL of it, or an authorization server. */

import { assert, assertEquals } from "@std/assert";
import { diagnose, type IDiagnosis } from "../../lib/doctor/mod.ts";
import {
  type IModel,
  RESOURCE_PATH,
  ROOT_PATH,
  served,
  SERVER_PATH,
  startWorld,
} from "./_world.ts";

const idsOf = ({ findings }: IDiagnosis) =>
  findings.map(({ severity, id }) => `${severity} ${id}`);

/** Leaves nothing but the authorization server at `/as`, with this status. */
function serverAlone(status: number, headers: Record<string, string> = {}) {
  return (model: IModel) => {
    const { documents, handlers } = model;
    delete documents[RESOURCE_PATH];
    handlers["GET /as"] = () => new Response(null, { status, headers });
  };
}

Deno.test("diagnose() diagnoses an authorization server as one", async () => {
  for (const status of [200, 302, 403, 404, 500]) {
    await using world = startWorld(serverAlone(status));
    const diagnosis = await diagnose(`${world.model.origin}/as`);
    assertEquals(idsOf(diagnosis), [], `${status}`);
    const { verdict, context, failure, summary } = diagnosis;
    assertEquals([verdict, failure], ["ready", undefined]);
    assertEquals(context, {
      issuer: `${world.model.origin}/as`,
      source: "target",
      serverMetadataUrl: world.model.origin + SERVER_PATH,
      client: "register",
    });
    assert(summary.startsWith("The URL is that of an authorization server,"));
  }
});

Deno.test("diagnose() finds what is wrong with an authorization server as the target", async () => {
  await using world = startWorld((model) => {
    serverAlone(200)(model);
    delete model.serverMetadata.code_challenge_methods_supported;
    delete model.serverMetadata.registration_endpoint;
  });
  const diagnosis = await diagnose(`${world.model.origin}/as`);
  assertEquals(idsOf(diagnosis), [
    "error pkce_not_listed",
    "warning no_registration",
  ]);
  assertEquals(diagnosis.verdict, "needs_option");
});

Deno.test("diagnose() diagnoses a server for all tenants as one", async () => {
  await using world = startWorld((model) => {
    serverAlone(404)(model);
    model.serverMetadata.issuer = `${model.origin}/{tenantid}/v2.0`;
  });
  const { origin } = world.model;
  const { verdict, context, options } = await diagnose(`${origin}/as`);
  assertEquals([verdict, context?.source], ["needs_option", "target"]);
  assertEquals(options, [
    {
      name: "trustedIssuers",
      value: { [`${origin}/as`]: `${origin}/{tenantid}/v2.0` },
    },
    { name: "resource", value: false },
  ]);
});

Deno.test("diagnose() takes no resource for an authorization server", async () => {
  const rows: [name: string, change: (model: IModel) => void][] = [
    ["a 401", serverAlone(401)],
    ["a challenge", serverAlone(403, { "WWW-Authenticate": "Bearer" })],
    ["metadata of a resource", (model) => {
      serverAlone(200)(model);
      const { resourceMetadata, origin } = model;
      resourceMetadata.resource = `${origin}/as`;
      model.documents[`${ROOT_PATH}/as`] = served(resourceMetadata);
    }],
    ["metadata of another server", (model) => {
      serverAlone(200)(model);
      model.serverMetadata.issuer = model.origin;
    }],
  ];
  for (const [name, change] of rows) {
    await using world = startWorld(change);
    const { context } = await diagnose(`${world.model.origin}/as`);
    assert(context?.source !== "target", name);
  }
});

Deno.test("diagnose() says first that the path of the target is wrong", async () => {
  const rows: [name: string, change: (model: IModel) => void][] = [
    ["nothing published there", () => {}],
    ["metadata at every path", ({ handlers, resourceMetadata }) => {
      const respond = () => Response.json(resourceMetadata);
      handlers[`${ROOT_PATH}/mpc`] = respond;
      handlers[ROOT_PATH] = respond;
    }],
    ["a server at the origin", (model) => {
      model.serverMetadata.issuer = model.origin;
      const document = served(model.serverMetadata);
      model.documents["/.well-known/oauth-authorization-server"] = document;
      model.documents["/.well-known/oauth-authorization-server/mpc"] = document;
    }],
  ];
  for (const [name, change] of rows) {
    await using world = startWorld(change);
    const diagnosis = await diagnose(`${world.model.origin}/mpc`);
    assertEquals(diagnosis.verdict, "broken", name);
    assertEquals(idsOf(diagnosis)[0], "error target_not_found", name);
    assertEquals(
      diagnosis.summary,
      "A client stops. There is no resource at this URL: status 404.",
    );
  }
});

Deno.test("diagnose() reads the parent's own document, as discovery does", async () => {
  const rows: [isPublished: boolean, verdict: string, findings: string[]][] = [
    [true, "ready", ["warning resource_mismatch", "info resource_is_parent"]],
    [false, "broken", ["error resource_mismatch"]],
  ];
  for (const [isPublished, verdict, findings] of rows) {
    await using world = startWorld((model) => {
      const { documents, handlers, resource, resourceMetadata, origin } = model;
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
    });
    const { origin } = world.model;
    const diagnosis = await diagnose(`${origin}/mcp/v1/files`);
    assertEquals(diagnosis.verdict, verdict);
    assertEquals(idsOf(diagnosis), findings);
    const [{ operator, client }] = diagnosis.findings as [
      IDiagnosis["findings"][0],
    ];
    const own = diagnosis.steps.find(({ url }) =>
      url === origin + RESOURCE_PATH
    );
    assertEquals(
      [own?.result, own?.isExtra],
      [isPublished ? "metadata" : "not published", false],
    );
    // What is published must not be asked for.
    assertEquals(operator.includes("or this document at"), !isPublished);
    assertEquals(client?.includes(origin + RESOURCE_PATH), isPublished);
  }
});

Deno.test("diagnose() shows the scopes that a flow requests", async () => {
  await using world = startWorld(({ serverMetadata }) => {
    serverMetadata.scopes_supported = ["read", "write", "offline_access"];
  });
  const { target } = world;
  const { context } = await diagnose(target);
  assertEquals(context?.scopes, ["read", "offline_access"]);
  const without = await diagnose(target, { offlineAccess: false });
  assertEquals(without.context?.scopes, ["read"]);
});

Deno.test("diagnose() does not claim that no scope is named where it did not look", async () => {
  const rows: [
    options: (origin: string) => { authorizationServer?: string },
    status: number,
    findings: string[],
  ][] = [
    [() => ({}), 404, ["warning no_resource_metadata", "info no_scopes"]],
    [() => ({}), 503, ["warning metadata_status"]],
    [(origin) => ({ authorizationServer: origin }), 404, []],
  ];
  for (const [optionsFor, status, findings] of rows) {
    await using world = startWorld((model) => {
      const { serverMetadata, resource, origin } = model;
      serverMetadata.issuer = origin;
      resource.headers["WWW-Authenticate"] = "Bearer";
      model.documents = {
        "/.well-known/oauth-authorization-server": served(serverMetadata),
        [RESOURCE_PATH]: served("", { status }),
      };
    });
    const { target, model } = world;
    const diagnosis = await diagnose(target, optionsFor(model.origin));
    assertEquals(
      idsOf(diagnosis).filter((id) => !/ (challenge|cors)/.test(id)),
      findings,
    );
  }
});

Deno.test("diagnose() names all parts that a web page cannot use in one finding", async () => {
  await using world = startWorld(({ noCors, resource }) => {
    for (const path of [SERVER_PATH, "/as/token", "/as/register"]) {
      noCors.add(path);
    }
    delete resource.headers["Access-Control-Expose-Headers"];
  });
  const { findings } = await diagnose(world.target);
  assertEquals(findings.map(({ message }) => message), [
    "A web page cannot use the metadata, the token endpoint, the registration " +
    "endpoint, the challenge of the resource.",
  ]);
});

Deno.test("diagnose() requests no assumed endpoint of an open resource", async () => {
  await using world = startWorld((model) => {
    model.resource = served("", { headers: {} });
    model.documents = {};
  });
  const { verdict, options, notTried } = await diagnose(world.target);
  assertEquals([verdict, options, notTried], ["open", undefined, undefined]);
  assert(!world.requests.some((line) => /authorize|register/.test(line)));
});

Deno.test("diagnose() asks allowUrl nothing for the options that it tries", async () => {
  await using world = startWorld(({ serverMetadata }) => {
    serverMetadata.issuer = "https://other.example";
  });
  const asked: string[] = [];
  const { verdict, steps } = await diagnose(world.target, {
    allowUrl(url) {
      asked.push(url.href);
      return true;
    },
  });
  assertEquals(verdict, "needs_option");
  // Discovery and the reading of its documents ask for one URL each.
  const most = 2 * steps.length;
  assert(asked.length <= most, `${asked.length} of ${most}`);
});

Deno.test("diagnose() makes no request for the options that it tries", async () => {
  const documents: [name: string, change: (model: IModel) => void][] = [
    ["a server at http", ({ resourceMetadata }) => {
      resourceMetadata.authorization_servers = ["http://as.example"];
    }],
    ["metadata at http", (model) => {
      model.resource.headers["WWW-Authenticate"] =
        'Bearer resource_metadata="http://api.example/m"';
      model.documents = {};
    }],
  ];
  for (const [name, change] of documents) {
    await using world = startWorld(change);
    const { origin } = world.model;
    const diagnosis = await diagnose(world.target, {
      fetch(url, init) {
        assert(url.startsWith(origin), url);
        return fetch(url, init);
      },
    });
    // Whether the option helps was not seen.
    assertEquals([diagnosis.verdict, diagnosis.options], [
      "broken",
      undefined,
    ], name);
  }
});
