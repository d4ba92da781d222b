/** The pages of a site, which need the API: `respond()` of a web sign-in. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { UseApi } from "../../../lib/web/mod.ts";
import { type Browser, ORIGIN, World } from "./_world.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

interface Asking {
  method?: string;
  site?: string;
  use?: UseApi;
}

const SCRIPT = { "Sec-Fetch-Dest": "empty" };
const SIGNED_OUT =
  `{"code":"sign_in_required","login":"https://app.example/login"}`;

async function ask(
  { signIn, servers }: World,
  browser: Browser,
  further: Record<string, string> = {},
  { method = "GET", site = "same-origin", use }: Asking = {},
): Promise<Response> {
  const headers = browser.headers({ method, site, further });
  const request = { method, url: "/notes?a=b", headers };
  return await signIn.respond(request, use ?? ((api) => api(servers.resource)));
}

const shown = async (response: Response) => [
  response.status,
  response.headers.get("Content-Type"),
  await response.text(),
];

async function signedInWorld(options?: ConstructorParameters<typeof World>[0]) {
  const world = new World(options);
  const browser = world.browser();
  await browser.signIn();
  return { world, browser, servers: world.servers };
}

const expire = ({ servers }: World) => servers.advance(3_600);

function refuseRefreshes(world: World, refuse: () => Response) {
  expire(world);
  world.change = (response, init) =>
    init?.method === "POST" ? refuse() : response;
}

Deno.test("respond() redirects a user who is signed out, and tells a script where the sign-in is", async () => {
  const world = new World();
  const browser = world.browser();
  const page = await ask(world, browser);
  assertEquals(page.status, 303);
  const script = await ask(world, browser, SCRIPT);
  assertEquals(script.headers.get("Cache-Control"), "no-store");
  assertEquals(script.headers.getSetCookie(), []);
  assertEquals(await shown(script), [401, "application/json", SIGNED_OUT]);
  browser.keep(page);
  const url = page.headers.get("Location")!;
  const back = new URL(await world.servers.receiver.visit(url));
  const done = await browser.open(back.pathname + back.search);
  assertEquals(done.headers.get("Location"), `${ORIGIN}/notes?a=b`);
  assertEquals((await ask(world, browser, SCRIPT)).status, 200);
  assertEquals(world.errors, []);
});

Deno.test("respond() passes on no type whose parts have header fields of their own", async () => {
  const { world, browser, servers } = await signedInWorld();
  for (
    const type of ["multipart/x-mixed-replace; boundary=b", " Multipart/a"]
  ) {
    world.change = () => {
      const headers = { "Content-Type": type };
      const response = new Response("--b", { headers });
      Object.defineProperty(response, "url", { value: servers.resource });
      return response;
    };
    assertEquals(await shown(await ask(world, browser)), [200, null, "--b"]);
  }
});

Deno.test("respond() passes on status, body and type of the API's response only, also of its copy", async () => {
  const { world, browser, servers } = await signedInWorld();
  const headers = {
    ...{ "Content-Type": "text/html", "Set-Cookie": "__Host-sign-in=x" },
    ...{ "Access-Control-Allow-Origin": "*", Location: "/x", "X-Any": "1" },
    ...{ "Content-Security-Policy": "default-src *", "Refresh": "0; /x" },
  };
  let body: BodyInit = "<b>";
  world.change = () => {
    const response = new Response(body, { status: 203, headers });
    Object.defineProperty(response, "url", { value: servers.resource });
    return response;
  };
  const own = [
    ...["cache-control", "content-security-policy", "content-type"],
    ...["referrer-policy", "x-content-type-options"],
  ];
  const copied: UseApi = async (api) => {
    const response = await api(servers.resource);
    // What `clone()` of a response of the network has.
    const copy = response.clone();
    Object.defineProperty(copy, "url", { value: response.url });
    return copy;
  };
  for (const use of [undefined, copied]) {
    const passed = await ask(world, browser, {}, use ? { use } : {});
    assertEquals([...passed.headers.keys()].sort(), own);
    assert(
      passed.headers.get("Content-Security-Policy")!.includes(
        "default-src 'none'",
      ),
    );
    assertEquals(await shown(passed), [203, "text/html", "<b>"]);
  }
  // The rest of the body arrives later.
  let rest = (): void => {};
  body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("first"));
      rest = () => controller.close();
    },
  });
  const streamed = await ask(world, browser);
  const reader = streamed.body!.getReader();
  assertEquals(new TextDecoder().decode((await reader.read()).value), "first");
  rest();
  assert((await reader.read()).done);
  world.change = () => new Response(null, { status: 204 });
  assertEquals(await shown(await ask(world, browser)), [204, null, ""]);
});

Deno.test("respond() sends a response of the site as it is", async () => {
  const { world, browser } = await signedInWorld();
  for (const status of [200, 401, 403]) {
    const own = new Response("own", { status, headers: { "X-Own": "1" } });
    for (const further of [SCRIPT, {}]) {
      const use = () => own;
      assert(await ask(world, browser, further, { use }) === own);
    }
  }
});

Deno.test("respond() has the user sign in again once the session has ended at the server", async () => {
  const bodies = [
    { error: "invalid_grant" },
    { error: "invalid_request" },
  ];
  for (const body of bodies) {
    const { world, browser } = await signedInWorld();
    refuseRefreshes(world, () => Response.json(body, { status: 400 }));
    const script = await ask(world, browser, SCRIPT);
    assertEquals(await shown(script), [401, "application/json", SIGNED_OUT]);
    assertEquals((await ask(world, browser)).status, 303);
    assertEquals(world.errors, []);
  }
});

Deno.test("respond() passes what an API requires beyond a sign-in to a script", async () => {
  const { world, browser, servers } = await signedInWorld();
  servers.advance(60);
  const challenge = `Bearer error="insufficient_scope", scope="write"`;
  world.change = (response, init) =>
    init?.method === "POST" || response.status !== 200 ||
      !response.headers.get("Content-Type")?.includes("json") ||
      (response.url || "").includes("well-known")
      ? response
      : new Response("lacks write", {
        status: 403,
        headers: { "WWW-Authenticate": challenge },
      });
  const script = await ask(world, browser, SCRIPT);
  assertEquals([script.status, await script.text()], [403, "lacks write"]);
});

Deno.test("respond() shows a page with 503 and Retry-After while the server is down, and JSON to a script", async () => {
  const rows: [refuse: () => Response, code: string, seconds: string][] = [
    [
      () => {
        throw new TypeError("fetch failed");
      },
      "network_error",
      "10",
    ],
    [() => new Response(null, { status: 500 }), "unexpected_status", "10"],
    [
      () =>
        new Response(null, { status: 503, headers: { "Retry-After": "7" } }),
      "unexpected_status",
      "7",
    ],
  ];
  await eachRowInTurn(rows, async ([refuse, code, seconds]) => {
    const steps: string[] = [];
    const { world, browser } = await signedInWorld({
      onError: (_, { step }) => void steps.push(step),
    });
    refuseRefreshes(world, refuse);
    const page = await ask(world, browser);
    assertEquals([page.status, page.headers.get("Retry-After")], [
      ...[503, seconds],
    ]);
    assertEquals(page.headers.getSetCookie(), []);
    const text = await page.text();
    const again = `<a href="${ORIGIN}/notes?a=b">Try again</a>`;
    for (const part of [again, `<code>${code}</code>`, "Sign in again"]) {
      assert(text.includes(part), text);
    }
    const script = await ask(world, browser, SCRIPT);
    assertEquals(script.headers.has("Retry-After"), true);
    const [status, type, body] = await shown(script);
    assertEquals([status, type], [503, "application/json"]);
    assertEquals(JSON.parse(`${body}`), { code, login: `${ORIGIN}/login` });
    assertEquals(steps, ["respond", "respond"]);
  });
});

Deno.test("respond() shows a page with 503 and Retry-After to a user who is signed out while the server or the metadata of the API is down", async () => {
  for (const endpoint of ["server_metadata", "resource_metadata"] as const) {
    for (const fault of [503, 429, "lose_request"] as const) {
      const world = new World();
      for (let i = 0; i < 6; i++) world.servers.failNext(endpoint, fault);
      const page = await ask(world, world.browser());
      const { status, headers } = page;
      assertEquals([status, headers.has("Retry-After")], [503, true]);
    }
  }
});

Deno.test("respond() shows a page if the API cannot be reached, or the store fails", async () => {
  const { world, browser } = await signedInWorld();
  const thrown = new TypeError("fetch failed");
  world.change = () => {
    throw thrown;
  };
  assertEquals((await ask(world, browser)).status, 503);
  const down = new Error("Redis is down");
  for (const store of world.stores.values()) {
    store.load = () => Promise.reject(down);
  }
  assertEquals((await ask(world, browser, SCRIPT)).status, 503);
  world.storeOf = () => {
    throw down;
  };
  assertEquals((await ask(world, browser)).status, 503);
  assertEquals(world.errors, [thrown, down, down]);
});

Deno.test("respond() answers 502 if trying again does not help", async () => {
  const { world, browser } = await signedInWorld();
  refuseRefreshes(
    world,
    () => Response.json({ error: "invalid_client" }, { status: 401 }),
  );
  const page = await ask(world, browser);
  assertEquals([page.status, page.headers.has("Retry-After")], [502, false]);
  assertEquals(world.errors.length, 1);
});

Deno.test("respond() rejects with what the site's own function throws, such as a framework's redirect", async () => {
  const { world, browser, servers } = await signedInWorld();
  const thrown: unknown[] = [
    new SyntaxError("own"),
    new Response(null, { status: 302 }),
    { digest: "NEXT_REDIRECT" },
    "text",
    undefined,
  ];
  for (const one of thrown) {
    const use: UseApi = async (api) => {
      await api(servers.resource);
      throw one;
    };
    let caught: unknown = world;
    await ask(world, browser, {}, { use }).catch((error) => caught = error);
    assert(caught === one);
  }
  // A body that was read is the site's mistake too.
  const use: UseApi = (api) =>
    api(servers.resource).then(async (response) => {
      await response.text();
      throw new RangeError("of the site");
    });
  await assertRejects(() => ask(world, browser, {}, { use }), RangeError);
  assertEquals(world.errors, []);
});

Deno.test("respond() refuses what another site causes, except for a link to the page", async () => {
  const { world, browser } = await signedInWorld();
  let used = 0;
  const use = () => {
    used++;
    return new Response("ok");
  };
  for (const site of ["cross-site", "same-site"]) {
    const rows: [method: string, further: Record<string, string>][] = [
      ["POST", {}],
      ["POST", SCRIPT],
      ["GET", SCRIPT],
      ["GET", { "Sec-Fetch-Dest": "image" }],
      ["GET", { "Sec-Purpose": "prefetch" }],
    ];
    await eachRowInTurn(rows, async ([method, further]) => {
      const asking = { method, site, use };
      const refused = await ask(world, browser, further, asking);
      assertEquals([refused.status, refused.headers.getSetCookie()], [403, []]);
    });
    assertEquals(used, 0);
    const linked = await ask(world, browser, {}, { site, use });
    assertEquals([linked.status, used], [200, 1]);
    used = 0;
  }
  const own = { method: "POST", site: "same-origin", use };
  assertEquals((await ask(world, browser, SCRIPT, own)).status, 200);
});

Deno.test("respond() ends the response of the API that a sign-in replaces", async () => {
  const { world, browser, servers } = await signedInWorld();
  // A 401 right after a sign-in would lead to no other one.
  servers.advance(60);
  const stepUp = 'Bearer error="insufficient_user_authentication", max_age="1"';
  const rows: [
    challenge: string,
    further: Record<string, string>,
    status: number,
    isEnded: boolean,
  ][] = [
    ["Bearer", {}, 303, true],
    ["Bearer", SCRIPT, 401, true],
    [stepUp, {}, 303, true],
    [stepUp, SCRIPT, 401, false],
  ];
  await eachRowInTurn(rows, async ([challenge, further, status, isEnded]) => {
    let isCancelled = false;
    const use: UseApi = () => {
      const headers = { "WWW-Authenticate": challenge };
      const body = new ReadableStream({
        cancel: () => void (isCancelled = true),
      });
      const response = new Response(body, { status: 401, headers });
      return Object.defineProperty(response, "url", {
        value: servers.resource,
      });
    };
    const response = await ask(world, browser, further, { use });
    assertEquals([response.status, isCancelled], [status, isEnded]);
  });
});
