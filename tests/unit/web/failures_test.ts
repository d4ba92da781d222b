/** What browsers get after a failure: each row of the table of web.md. */

import { assertEquals } from "@std/assert";
import { adviceFor } from "../../../mod.ts";
import { pageAt, tablesOf } from "../../support/markdown.ts";
import { eachRowInTurn } from "../../support/each_row.ts";
import { type Browser, World } from "./_world.ts";

type Step = (world: World, browser: Browser) => Promise<Response>;

/** A server that fails, and a route to which that matters. */
type Fault = (world: World) => void;

const respond: Step = ({ signIn, servers }, browser) =>
  signIn.respond(
    { method: "GET", url: "/notes", headers: browser.headers() },
    (api) => api(servers.resource),
  );
const login: Step = (_, browser) => browser.open("/login");
const callback = (fail: Fault): Step => async (world, browser) => {
  const path = await browser.visit();
  fail(world);
  return await browser.open(path);
};
const signedIn = (fail: Fault, step: Step): Step => async (world, browser) => {
  await browser.signIn();
  fail(world);
  return await step(world, browser);
};

const down: Fault = ({ servers }) => {
  const endpoints = ["server_metadata", "resource_metadata", "token"] as const;
  for (const endpoint of endpoints) {
    for (let i = 0; i < 6; i++) servers.failNext(endpoint, "lose_request");
  }
};
const busy: Fault = ({ servers }) => servers.failNext("token", 503);
const expired: Fault = ({ servers }) => servers.advance(3_600);
const answers = (status: number, error: string): Fault => (world) => {
  world.change = (response, init) =>
    init?.method === "POST" ? Response.json({ error }, { status }) : response;
};
const unreachable = (message: string, code: string): Fault => (world) => {
  world.change = () => {
    throw new TypeError(message, {
      cause: Object.assign(new Error(), { code }),
    });
  };
};
const noStore: Fault = (world) => {
  world.storeOf = () => {
    throw new Error("down");
  };
};
const both = (...faults: Fault[]): Fault => (world) => {
  for (const fail of faults) fail(world);
};
const declined: Fault = ({ servers }) => {
  servers.user = "refuses";
};

const [RETRY, DECLINED, UNMATCHED, REJECTED, STORE, STORE_OF_PAGE, API] =
  tablesOf(pageAt("web.md"))["Failure"] ?? [];

const ROWS: [
  row: string | undefined,
  what: string,
  step: Step,
  result: unknown[],
][] = [
  [RETRY, "/login, no server", (world, browser) => {
    down(world);
    return login(world, browser);
  }, [503, "discovery_failed", "10"]],
  [RETRY, "/callback, no server", callback(down), [503, "network_error", "10"]],
  [RETRY, "/callback, the server is busy", callback(busy), [
    503,
    "temporarily_unavailable",
    "1",
  ]],
  [
    RETRY,
    "/callback, denied by a server that is down",
    callback(answers(500, "access_denied")),
    [503, "access_denied", "10"],
  ],
  [RETRY, "respond(), signed out, no server", (world, browser) => {
    down(world);
    return respond(world, browser);
  }, [503, "discovery_failed", "10"]],
  [RETRY, "respond(), a refresh", signedIn(both(expired, busy), respond), [
    503,
    "temporarily_unavailable",
    "1",
  ]],
  [DECLINED, "/callback", (world, browser) => {
    declined(world);
    return browser.signIn();
  }, [403, "access_denied", null]],
  [
    UNMATCHED,
    "/callback",
    (_, browser) => browser.open("/callback?state=x&code=y"),
    [400, "expired", null],
  ],
  [REJECTED, "/callback", callback(answers(400, "invalid_client")), [
    502,
    "invalid_client",
    null,
  ]],
  [
    REJECTED,
    "respond()",
    signedIn(both(expired, answers(401, "invalid_client")), respond),
    [502, "invalid_client", null],
  ],
  [
    REJECTED,
    "respond(), a certificate of the server",
    signedIn(
      both(expired, unreachable("fetch failed", "CERT_HAS_EXPIRED")),
      respond,
    ),
    [502, "network_error", null],
  ],
  [STORE, "/callback", callback(noStore), [500, "error", null]],
  [STORE, "/logout", signedIn(noStore, (_, browser) => browser.signOut()), [
    500,
    "error",
    null,
  ]],
  [STORE_OF_PAGE, "respond()", signedIn(noStore, respond), [
    503,
    "error",
    "10",
  ]],
  [
    API,
    "respond()",
    signedIn(unreachable("fetch failed", "ECONNREFUSED"), respond),
    [503, "error", "10"],
  ],
];

Deno.test("createWebSignIn() responds to failures as the table of web.md says", async () => {
  await eachRowInTurn(ROWS, async ([row = "", , step, result]) => {
    const world = new World();
    const response = await step(world, world.browser());
    const [, code] = /<code>(.*)<\/code>/.exec(await response.text()) ?? [];
    const { status, headers } = response;
    const found = [status, code, headers.get("Retry-After")];
    assertEquals(found, result);
    const isRetry = adviceFor(world.errors[0]).action === "retry";
    assertEquals(isRetry, [RETRY, API].includes(row));
    const [, saidStatus, saidCode, saidAfter] = row.split(" | ");
    assertEquals(`${status}`, saidStatus);
    if (saidCode?.startsWith("`")) assertEquals(`\`${code}\``, saidCode);
    assertEquals(result[2] === null, saidAfter === "-");
  });
  const rows = tablesOf(pageAt("web.md"))["Failure"];
  assertEquals([...new Set(ROWS.map(([row]) => row))], rows);
});
