/** Servers that cannot be reached, or only over https, and the options. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  diagnose,
  type IDiagnosis,
  type IFetch,
} from "../../lib/doctor/mod.ts";
import { createCertificate } from "../faults/certificate.ts";
import {
  handle,
  healthyModel,
  type IModel,
  OPENID_PATH,
  ROOT_PATH,
  served,
  SERVER_PATH,
  startWorld,
} from "./_world.ts";

const idsOf = ({ findings }: IDiagnosis) =>
  findings.map(({ severity, id }) => `${severity} ${id}`);

/** A fetch function that fails as runtimes do. */
const failing = (message: string, code?: string): IFetch => () =>
  Promise.reject(
    Object.assign(new TypeError("fetch failed"), {
      cause: Object.assign(new Error(message), { code }),
    }),
  );

Deno.test("diagnose() finds that nothing listens", async () => {
  let target = "";
  {
    await using world = startWorld();
    ({ target } = world);
  }
  const diagnosis = await diagnose(target);
  assertEquals(diagnosis.verdict, "unreachable");
  assertEquals(idsOf(diagnosis), ["error connection_refused"]);
  assertEquals(diagnosis.steps[0]?.result, "no connection");
});

Deno.test("diagnose() finds a certificate that is not accepted", async () => {
  for (const isExpired of [false, true]) {
    const certificate = createCertificate({ isExpired });
    await using world = startWorld(() => {}, certificate);
    const diagnosis = await diagnose(world.target);
    assertEquals(diagnosis.verdict, "unreachable");
    const id = isExpired ? "certificate_expired" : "certificate_rejected";
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
  assertEquals(idsOf(diagnosis), []);
  assertEquals(diagnosis.verdict, "ready");
});

Deno.test("diagnose() finds an authorization server that does not respond", async () => {
  await using world = startWorld((model) => {
    model.resourceMetadata.authorization_servers = ["https://as.example"];
  });
  const { origin } = world.model;
  const lost = failing("dns error: failed to lookup address");
  const diagnosis = await diagnose(world.target, {
    fetch: (url, init) =>
      url.startsWith(origin) ? fetch(url, init) : lost(url, init),
  });
  assertEquals(diagnosis.verdict, "broken");
  assertEquals(idsOf(diagnosis), ["error host_not_found"]);
  assertEquals(
    diagnosis.findings[0]?.url,
    "https://as.example/.well-known/oauth-authorization-server",
  );
});

Deno.test("diagnose() warns of http if it is allowed", async () => {
  await using world = startWorld();
  const { origin } = world.model;
  const fetchHere: IFetch = async (url, init) => {
    const response = await fetch(
      url.replace("http://api.example", origin),
      init,
    );
    const text = (await response.text()).replaceAll(
      origin,
      "http://api.example",
    );
    const headers = new Headers(response.headers);
    const challenge = headers.get("WWW-Authenticate");
    if (challenge) {
      headers.set(
        "WWW-Authenticate",
        challenge.replaceAll(origin, "http://api.example"),
      );
    }
    const { status } = response;
    return new Response(status === 204 ? null : text, { status, headers });
  };
  const diagnosis = await diagnose("http://api.example/mcp", {
    fetch: fetchHere,
    allowHttp: true,
  });
  assertEquals(idsOf(diagnosis), ["warning target_not_https"]);
  assertEquals(diagnosis.verdict, "ready");
});

Deno.test("diagnose() finds slow responses", async () => {
  await using world = startWorld();
  let time = 0;
  const diagnosis = await diagnose(world.target, { now: () => time += 4_000 });
  assertEquals(idsOf(diagnosis), ["warning slow_response"]);
  assertEquals(diagnosis.findings[0]?.message, "A response took 4.0 s.");
});

Deno.test("diagnose() names the options that let a client continue, and looks whether they do", async () => {
  await using world = startWorld((model) => {
    model.serverMetadata.issuer = "https://other.example";
    delete model.serverMetadata.code_challenge_methods_supported;
  });
  const { target, model, requests } = world;
  const { findings, verdict, options, context } = await diagnose(target);
  assertEquals(
    findings.map(({ client }) => client),
    [
      "With this library, if both are known to be one server: " +
      "`trustedIssuers: { " +
      `"${model.origin}/as": "https://other.example" }\`.`,
      "With this library: `assumePkce: true`, if the server is known to " +
      "support PKCE.",
    ],
  );
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
  await using world = startWorld(({ documents }) => {
    for (const path of Object.keys(documents)) {
      if (path !== SERVER_PATH) delete documents[path];
    }
  });
  const { target, model } = world;
  const diagnosis = await diagnose(target, {
    authorizationServer: `${model.origin}/as`,
  });
  assertEquals(idsOf(diagnosis), []);
  assertEquals(diagnosis.context?.source, "option");
});

Deno.test("diagnose() sends a POST without the caller's header fields, and only after a 404 or 405 without a challenge", async () => {
  const rows: [
    status: number,
    fields: Record<string, string>,
    posts: number,
  ][] = [
    [200, { "Content-Type": "text/html" }, 0],
    [200, { "Content-Type": "application/json" }, 0],
    [400, {}, 0],
    [404, {}, 1],
    [410, {}, 0],
    [406, {}, 0],
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
        const challenge = resource.headers["WWW-Authenticate"] ?? "";
        return new Response(null, {
          status: 401,
          headers: {
            ...resource.headers,
            "WWW-Authenticate": challenge.replace(', scope="read"', ""),
          },
        });
      };
    });
    const headers = { "X-Key": "k3y", Authorization: "Bearer of-the-user" };
    const { findings } = await diagnose(world.target, { headers });
    assertEquals(received, Array(posts).fill([null, null]), `${status}`);
    if (posts > 0) assertEquals(findings, []);
  }
});

Deno.test("diagnose() finds nothing where two documents are equal", async () => {
  await using world = startWorld((model) => {
    model.documents[OPENID_PATH] = served({ ...model.serverMetadata });
  });
  assertEquals(idsOf(await diagnose(world.target)), []);
});

Deno.test("diagnose() makes few requests beside those of discovery", async () => {
  await using world = startWorld();
  const { target, requests } = world;
  const { steps } = await diagnose(target);
  const count = (isExtra: boolean) =>
    steps.filter((step) => step.isExtra === isExtra).length;
  assertEquals([count(false), count(true)], [3, 6]);
  assertEquals(requests.length, 9);
  assertEquals(new Set(requests).size, 9, "No request is made twice");
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
  await using world = startWorld();
  const controller = new AbortController();
  const reason = new Error("Enough");
  const error = await assertRejects(() =>
    diagnose(world.target, {
      signal: controller.signal,
      onRequest: () => controller.abort(reason),
    })
  );
  assertEquals(error, reason);
});

Deno.test("diagnose() ignores the fragment of a URL", async () => {
  await using world = startWorld();
  const { target, findings } = await diagnose(`${world.target}#part`);
  assertEquals([target, findings], [world.target, []]);
});

Deno.test("diagnose() finds null members and 503 at once", async () => {
  await using world = startWorld((model) => {
    model.resourceMetadata.resource_name = null;
    model.documents[SERVER_PATH] = served("", { status: 503 });
  });
  assertEquals(idsOf(await diagnose(world.target)), [
    "error metadata_status",
    "warning null_members",
  ]);
});

/** A fetch function of a server that is not on loopback. */
function remote(change: (model: IModel) => void): IFetch {
  const model = healthyModel("https://api.example");
  change(model);
  return (url, init) => handle(model, new Request(url, init));
}

Deno.test("diagnose() requests nothing on loopback for a server that is not", async () => {
  const rows: [finding: string, change: (model: IModel) => void][] = [
    ["authorization_server_refused", ({ resourceMetadata }) => {
      resourceMetadata.authorization_servers = ["http://127.0.0.1:9"];
    }],
    ["endpoint_refused", ({ serverMetadata }) => {
      serverMetadata.token_endpoint = "https://localhost/token";
    }],
    ["metadata_url_refused", ({ resource, documents }) => {
      resource.headers["WWW-Authenticate"] =
        'Bearer resource_metadata="http://[::1]/m", scope="read"';
      for (const path of Object.keys(documents)) delete documents[path];
    }],
  ];
  for (const [finding, change] of rows) {
    const { findings, steps } = await diagnose("https://api.example/mcp", {
      fetch: remote(change),
    });
    assertEquals(findings.map(({ id, severity }) => `${severity} ${id}`), [
      `error ${finding}`,
    ]);
    assert(steps.every(({ url }) => url.startsWith("https://api.example/")));
  }
});

Deno.test("diagnose() finds a parent resource if only the same one is allowed", async () => {
  await using world = startWorld((model) => {
    model.resourceMetadata.resource = model.origin;
    model.resource.headers["WWW-Authenticate"] =
      `Bearer resource_metadata="${model.origin}${ROOT_PATH}", scope="read"`;
    model.documents = {
      [ROOT_PATH]: served(model.resourceMetadata),
      [SERVER_PATH]: served(model.serverMetadata),
    };
  });
  const { target } = world;
  assertEquals(idsOf(await diagnose(target)), ["info resource_is_parent"]);
  assertEquals(idsOf(await diagnose(target, { resourceMatch: "exact" })), [
    "error resource_mismatch",
  ]);
});
