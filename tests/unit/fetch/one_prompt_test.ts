/** What a sign-in does not help with: the user is prompted once, until `signIn()`. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  type AuthorizedFetchOptions,
  codeFlow,
  isOAuthClientError,
  memoryStore,
  OAuthClientError,
  startAuthorization,
} from "../../../mod.ts";
import {
  AS,
  assertRejectsCode,
  CODE_SERVER,
  CONTEXT,
  MCP,
  REDIRECT_URI,
  SERVER,
} from "../../support/fixtures.ts";
import {
  redirection,
  resourceFetch,
  SESSION,
  SESSION_CLIENT,
} from "../../support/resource.ts";
import { deferred, never } from "../../support/stub_fetch.ts";
import { LIMIT_MS, within } from "../../support/within.ts";

const AUTHORIZATION = `${AS}/authorize`;
const TOKEN = SERVER.token_endpoint;

const { refresh_token: _, ...token } = SESSION.token;
const withoutRefresh = { ...SESSION, token };

const resultOf = (call: Promise<Response>) =>
  call.then(
    ({ status }) => status,
    (error) => isOAuthClientError(error) ? error.error ?? error.code : error,
  );

const codeOf = (call: Promise<unknown>) =>
  call.then(() => undefined, ({ code }) => code);

const refusing = (challenge: string) =>
  new Response(null, {
    status: 401,
    headers: { "WWW-Authenticate": `Bearer ${challenge}` },
  });

Deno.test("createAuthorizedFetch() prompts the user once for an authentication that the API never finds sufficient", async () => {
  let prompts = 0;
  let acr = "a";
  const { api } = resourceFetch(
    ({ url }) =>
      url === MCP
        ? refusing(
          `error="insufficient_user_authentication", acr_values="${acr}"`,
        )
        : undefined,
    {
      flow: () => {
        const token = { ...SESSION.token, access_token: `t${++prompts}` };
        return Promise.resolve({ ...SESSION, token });
      },
    },
  );
  for (const _ of [1, 2, 3]) assertEquals(await resultOf(api(MCP)), 401);
  assertEquals(prompts, 1);
  // Another requirement is another prompt.
  acr = "b";
  for (const _ of [1, 2]) assertEquals(await resultOf(api(MCP)), 401);
  assertEquals(prompts, 2);
  const response = await api(MCP);
  assertEquals(await codeOf(api.renew(response)), "invalid_argument");
  await api.signIn();
  assertEquals(prompts, 3);
});

Deno.test("createAuthorizedFetch() refreshes a token although the API never finds an authentication sufficient", async () => {
  let challenge = `error="insufficient_user_authentication"`;
  const { api, urls } = resourceFetch(
    ({ url, headers }) =>
      url === TOKEN
        ? Response.json({ access_token: "t2", token_type: "Bearer" })
        : url === MCP && headers.get("Authorization") !== "Bearer t2"
        ? refusing(challenge)
        : undefined,
    { flow: () => Promise.resolve(SESSION) },
  );
  assertEquals(await resultOf(api(MCP)), 401);
  challenge = "";
  assertEquals(await resultOf(api(MCP)), 200);
  assertEquals(urls.filter((url) => url === TOKEN).length, 1);
});

for (
  const [error, status] of [["invalid_scope", 400], [
    "invalid_client",
    401,
  ]] as const
) {
  /** A fetch whose token endpoint refuses each code. */
  const refusingCodes = (options: Partial<AuthorizedFetchOptions> = {}) => {
    const count = { prompts: 0, isRefused: true };
    const { api } = resourceFetch(({ url, headers }) => {
      if (url === TOKEN && count.isRefused) {
        return Response.json({ error }, { status });
      }
      if (url === TOKEN) {
        return Response.json({ access_token: "t", token_type: "Bearer" });
      }
      return url === MCP && !headers.has("Authorization")
        ? refusing("")
        : undefined;
    }, {
      store: memoryStore(),
      serverMetadata: { ...SERVER, authorization_endpoint: AUTHORIZATION },
      flow: codeFlow({
        redirectUri: "https://app.example/callback",
        knownClients: [{
          issuer: AS,
          client_id: "c",
          token_endpoint_auth_method: "none",
        }],
        async visit(url, { pending }) {
          await Promise.resolve();
          count.prompts++;
          const state = url.searchParams.get("state") ?? pending.state;
          const query = { code: "x", state, iss: AS };
          return `https://app.example/callback?${new URLSearchParams(query)}`;
        },
      }),
      ...options,
    });
    return { api, count };
  };

  Deno.test(`createAuthorizedFetch() prompts the user once if the server answers the code with ${error}`, async () => {
    const { api, count } = refusingCodes();
    assertEquals(await resultOf(api(MCP)), error);
    for (const _ of [1, 2]) {
      assertEquals(await resultOf(api(MCP)), "sign_in_required");
    }
    assertEquals(count.prompts, 1);
    count.isRefused = false;
    await api.signIn();
    assertEquals([count.prompts, await resultOf(api(MCP))], [2, 200]);
  });
}

/** Calls that follow a sign-in that has failed: how the server refuses it, and the prompts. */
const VISITS: [
  what: string,
  visit: (state: string) => Promise<string>,
  refused: string | undefined,
  prompts: number,
][] = [
  ["a code that is refused", returning(), "invalid_scope", 1],
  ["a client that is forgotten", returning(), "invalid_client", 2],
  ["a popup that is closed", closed("popup_closed"), undefined, 3],
  ["a popup that is blocked", closed("popup_blocked"), undefined, 3],
  // The page is back from the cache of the browser.
  ["the Back button of the browser", closed("redirected"), undefined, 3],
  ["a redirect of the network's own page", returning(), "redirect", 3],
];

function returning() {
  return (state: string) => Promise.resolve(`code=c0de&state=${state}`);
}

function closed(code: "popup_closed" | "popup_blocked" | "redirected") {
  return () => Promise.reject(new OAuthClientError(code, "No page"));
}

for (const [what, visit, refused, expected] of VISITS) {
  Deno.test(`createAuthorizedFetch() sends the user ${expected} times for three calls after ${what}`, async () => {
    let prompts = 0;
    const { api } = resourceFetch(({ url, body }) => {
      if (url === `${AS}/register`) return Response.json({ client_id: "new" });
      if (url === MCP) return refusing("");
      if (url !== TOKEN) return undefined;
      if (refused === "redirect") return redirection("https://portal.example/");
      // The code of a question about the client is made up.
      const error = body.includes("code=c0de") ? refused : "invalid_grant";
      const isNew = body.includes("client_id=new");
      return isNew && refused === "invalid_client"
        ? Response.json({ error: "invalid_scope" }, { status: 400 })
        : Response.json({ error }, { status: 400 });
    }, {
      store: memoryStore(withoutRefresh),
      serverMetadata: CODE_SERVER,
      flow: codeFlow({
        redirectUri: REDIRECT_URI,
        clientMetadata: { client_name: "Test" },
        visit: (_url, { pending: { state } }) => (prompts++, visit(state)),
      }),
    });
    for (const _ of [1, 2, 3]) await resultOf(api(MCP));
    assertEquals(prompts, expected);
  });
}

for (
  const [what, callback, error, expected] of [
    ["a code that is refused", {}, "invalid_scope", 0],
    ["a client that is forgotten", {}, "invalid_client", 1],
    ["a response of no sign-in", { state: "other" }, "invalid_scope", 1],
  ] as const
) {
  Deno.test(`createAuthorizedFetch() asks the user ${expected} times after finish() with ${what}`, async () => {
    let prompts = 0;
    const { api } = resourceFetch(
      ({ url }) =>
        url === TOKEN
          ? Response.json({ error }, { status: 400 })
          : url === MCP
          ? refusing("")
          : undefined,
      {
        store: memoryStore(withoutRefresh),
        flow: () => (prompts++, Promise.reject(new Error("asked"))),
      },
    );
    const client = SESSION_CLIENT;
    const options = { client, redirectUri: REDIRECT_URI };
    const { pending } = await startAuthorization(CONTEXT, options);
    const { state } = pending;
    const query = new URLSearchParams({ code: "c1", state, ...callback });
    await codeOf(api.finish(query, pending));
    await resultOf(api(MCP));
    assertEquals(prompts, expected);
  });
}

Deno.test("createAuthorizedFetch() opens no page for a user who has denied another sign-in while the client was registered", async () => {
  const registering = deferred<void>();
  const registered = deferred<Response>();
  const registration_endpoint = `${AS}/register`;
  let visits = 0;
  const { api } = resourceFetch(({ url }) => {
    if (url === MCP) return new Response(null, { status: 401 });
    if (url !== registration_endpoint) return undefined;
    registering.resolve();
    return registered.promise;
  }, {
    store: memoryStore(),
    serverMetadata: { ...CODE_SERVER, registration_endpoint },
    flow: codeFlow({
      redirectUri: REDIRECT_URI,
      clientMetadata: { client_name: "Example" },
      visit: () => (visits++, never<string>()),
    }),
  });
  const call = assertRejectsCode(() => api(MCP), "sign_in_required");
  await within(LIMIT_MS, registering.promise);
  const { pending } = await startAuthorization(CONTEXT, {
    client: SESSION_CLIENT,
    redirectUri: REDIRECT_URI,
  });
  const denial = new URL(REDIRECT_URI);
  denial.search = String(
    new URLSearchParams({ error: "access_denied", state: pending.state }),
  );
  await assertRejects(() => api.finish(denial, pending));
  registered.resolve(Response.json({ client_id: "c2" }, { status: 201 }));
  await within(LIMIT_MS, call);
  assertEquals(visits, 0);
});
