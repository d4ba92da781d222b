/** What the store and the server see of the client of a sign-in. */
import { internalOf } from "../../../lib/session/_internal.ts";
import { assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  type CodeFlowOptions,
  type Flow,
  memoryStore,
  OAuthClientError,
  type Session,
} from "../../../mod.ts";
import { AS, CODE_SERVER, MCP, REDIRECT_URI } from "../../support/fixtures.ts";
import {
  resourceFetch,
  SESSION,
  SESSION_CLIENT,
} from "../../support/resource.ts";
import { LIMIT_MS, within } from "../../support/within.ts";

const client = SESSION_CLIENT;
const PAR = CODE_SERVER.pushed_authorization_request_endpoint;
const CLOSED = new OAuthClientError("popup_closed", "Closed");
const ELSEWHERE = new Error("The visit goes on elsewhere");

/** What differs from a fetch with a stored session, at a server that knows its client. */
interface World {
  stored?: Session | null;
  /** The client that the server does not let push a request. */
  refused?: string;
  scope?: string;
  wrap?: (flow: Flow) => Flow;
  signInOn?: "signIn";
}

/** A fetch, what its store and servers see, and its sign-ins. */
function world(
  flow: Partial<CodeFlowOptions>,
  { stored = SESSION, refused = "", scope, wrap = (one) => one, signInOn }:
    World = {},
) {
  const inner = memoryStore(stored ?? undefined);
  /** Whether each session that was saved has a mark. */
  const marks: unknown[] = [];
  let isLocked = false;
  let registered = 0;
  const codes = codeFlow({
    redirectUri: REDIRECT_URI,
    clientMetadata: { client_name: "Test" },
    visit: (_url, { pending: { state } }) =>
      Promise.resolve(`code=c0de&state=${state}`),
    ...flow,
  });
  const { api, received } = resourceFetch(({ url, body, headers }) => {
    if (url === MCP && scope && headers.get("Authorization") !== "Bearer a2") {
      const challenge = `Bearer error="insufficient_scope", scope="${scope}"`;
      const fields = { "WWW-Authenticate": challenge };
      return new Response(null, { status: 403, headers: fields });
    }
    const form = new URLSearchParams(body);
    if (url === `${AS}/register`) {
      return Response.json({ client_id: `new${++registered}` });
    }
    if (url === PAR) {
      return form.get("client_id") === refused
        ? Response.json({ error: "invalid_client" }, { status: 401 })
        : Response.json({ request_uri: "urn:r:1", expires_in: 60 });
    }
    if (url !== `${AS}/token`) return undefined;
    // The code of the probe is made up.
    return form.get("code") === "c0de"
      ? Response.json({ access_token: "a2" })
      : Response.json({ error: "invalid_grant" }, { status: 400 });
  }, {
    serverMetadata: {
      ...CODE_SERVER,
      require_pushed_authorization_requests: refused !== "",
      pushed_authorization_request_endpoint: refused ? PAR : undefined,
    },
    store: {
      load: inner.load,
      save(session) {
        marks.push(isLocked && (internalOf(session).isUserAway ?? false));
        return inner.save(session);
      },
      async lock(task) {
        isLocked = true;
        try {
          return await task();
        } finally {
          isLocked = false;
        }
      },
    },
    flow: wrap(codes),
    signInOn,
  });
  return {
    api,
    marks,
    isMarked: async () => internalOf(await inner.load()).isUserAway ?? false,
    signIn: () => within(LIMIT_MS, api.signIn({ fresh: true })),
    /** Fails unless a sign-in ends with an error. */
    fails: () =>
      assertRejects(() => within(LIMIT_MS, api.signIn({ fresh: true }))),
    /** How many requests an endpoint received. */
    count: (path: string) =>
      received.filter(({ url }) => url === AS + path).length,
  };
}

Deno.test("a sign-in marks the client that is kept while it is pending, also where a wrapper of the flow fails after it", async () => {
  const { signIn, marks } = world({});
  assertEquals((await signIn()).client, SESSION.client);
  // Before and after the page, and with the new session.
  assertEquals(marks, [true, false, false]);
  const later = world({}, {
    wrap: (flow) => async (request) => {
      await flow(request);
      throw new Error("later");
    },
  });
  await later.fails();
  assertEquals(later.marks, [true, false]);
});

Deno.test("a sign-in does not mark the stored client if it has registered a new one", async () => {
  const redirect_uris = ["https://app.example/former"];
  const { fails, marks, count } = world({
    visit: () => Promise.reject(CLOSED),
  }, { stored: { ...SESSION, client: { ...client, redirect_uris } } });
  await fails();
  assertEquals([marks, count("/register")], [[], 1]);
});

Deno.test("a sign-in marks a client that any flow finds refused, and does not use it again", async () => {
  const given: unknown[] = [];
  const error = "invalid_client";
  const { fails, isMarked } = world({}, {
    wrap: () => ({ session }) => {
      given.push(session?.client);
      const refusal = new OAuthClientError("oauth_error", "No", { error });
      return Promise.reject(refusal);
    },
  });
  await fails();
  assertEquals(await isMarked(), true);
  await fails();
  assertEquals(given, [SESSION.client, undefined]);
});

Deno.test("a sign-in marks a client whose pushed request is refused, and does not use it again", async () => {
  const { fails, marks, count } = world({
    visit: () => Promise.reject(ELSEWHERE),
  }, { refused: "c1" });
  await fails();
  await fails();
  assertEquals([marks, count("/register"), count("/par")], [[true], 2, 3]);
});

for (const name of ["client", "knownClients"]) {
  Deno.test(`a sign-in does not push a request again that is refused for a client named by ${name}`, async () => {
    const named = name === "client" ? { client } : { knownClients: [client] };
    const { fails, count, marks } = world(named, { refused: "c1" });
    await fails();
    assertEquals([count("/par"), count("/register"), marks], [1, 0, []]);
  });
}

Deno.test("a sign-in asks the server whether it knows the client, and a step-up does not", async () => {
  const anew = world({});
  await anew.signIn();
  const stepUp = world({}, { scope: "write" });
  assertEquals((await stepUp.api(MCP)).status, 200);
  // A click may come much later than the call that lacked a scope.
  const click = world({}, { scope: "write", signInOn: "signIn" });
  await assertRejects(() => click.api(MCP), OAuthClientError);
  await click.api.signIn();
  const counts = [anew, stepUp, click].map(({ count }) => count("/token"));
  assertEquals(counts, [2, 1, 2]);
});

/** Errors of an authorization response, and whether `finish()` marks the client. */
const FINISHED: [error: string, flow: Partial<CodeFlowOptions>, unknown[]][] = [
  ["unauthorized_client", {}, [true]],
  // Nothing is marked, so that nothing is saved.
  ["access_denied", {}, []],
  ["unauthorized_client", { client }, []],
  ["unauthorized_client", { knownClients: [client] }, []],
  // Another client of the server, and one of another server.
  [
    "unauthorized_client",
    { knownClients: [{ ...client, client_id: "c2" }] },
    [true],
  ],
  [
    "unauthorized_client",
    { knownClients: [{ ...client, issuer: "https://other.example" }] },
    [true],
  ],
];

for (const [error, flow, expected] of FINISHED) {
  Deno.test(`finish() with ${error} saves ${expected.length} marks under the lock, with ${JSON.stringify(flow)}`, async () => {
    const { api, marks } = world(flow);
    const { token: _, ...grant } = SESSION;
    const pending = {
      ...grant,
      state: "s1",
      codeVerifier: "v".repeat(43),
      redirectUri: REDIRECT_URI,
    };
    await assertRejects(
      () => api.finish(`error=${error}&state=s1`, pending),
      OAuthClientError,
    );
    assertEquals(marks, expected);
  });
}
