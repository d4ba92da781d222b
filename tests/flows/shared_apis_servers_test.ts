/** One sign-in for several APIs, at servers that know an API by something else. */

import { assert, assertEquals } from "@std/assert";
import {
  type AuthorizedFetchEvent,
  type AuthorizedFetchOptions,
  cibaFlow,
  clientCredentialsFlow,
  codeFlow,
  type CodeFlowOptions,
  createAuthorizedFetch,
  createDpop,
  deviceFlow,
  discoverAuthorization,
  memoryStore,
  OAuthClientError,
  type PendingAuthorization,
  sharedSignIn,
  startAuthorization,
} from "../../mod.ts";
import {
  assertRejectsCode,
  pinRejected,
  pinThrown,
} from "../support/fixtures.ts";

const issuer = "https://as.example";
const a = "https://a.example/v1";
const b = "https://b.example/v1";
const client = { issuer, client_id: "c1" };
const redirectUri = "http://127.0.0.1/callback";

/** By what a server knows the API of a token request. */
type ApiOf = (request: URLSearchParams, granted: URLSearchParams) => string;

/** Entra ID knows an API by its scopes, and refuses scopes of two in one token request. */
const entra: ApiOf = (request, granted) => {
  const scope = request.get("scope") ?? granted.get("scope") ?? "";
  const apis = scope.split(" ").filter((one) => one.includes("/"));
  const names = new Set(apis.map((one) => one.replace(/\/[^/]+$/, "")));
  if (granted.has("resource") || request.has("resource")) throw "AADSTS901002";
  if (request.has("scope") && names.size > 1) throw "AADSTS28000";
  return [...names][0] === "api://a" ? a : b;
};

/** Auth0 knows it by `audience`; without the setting, a refresh is for the first API. */
const auth0 = (hasPolicy: boolean): ApiOf => (request, granted) => {
  if (granted.has("resource") || request.has("resource")) {
    throw "invalid_request";
  }
  const isRefresh = request.get("grant_type") === "refresh_token";
  const { audience } = Object.fromEntries(
    isRefresh && hasPolicy ? request : granted,
  );
  return audience === "aud-a" ? a : b;
};

/** As oidc-provider, which takes `resource`. */
const standard: ApiOf = (request) => request.get("resource") ?? "";

function world(apiOf: ApiOf, problem?: "invalid_target" | "page") {
  let clock = 1_800_000_000_000;
  let last = 0;
  const grants = new Map<string, URLSearchParams>();
  const access = new Map<string, { aud: string; exp: number }>();
  const seen = { visits: [] as URLSearchParams[], tokens: [] as string[] };
  const refuse = (error: string) => Response.json({ error }, { status: 400 });
  const bodies: URLSearchParams[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const api = [a, b].find((one) => url.origin === new URL(one).origin);
    if (api && url.pathname.startsWith("/.well-known/")) {
      return Response.json({ resource: api, authorization_servers: [issuer] });
    }
    if (api) {
      const token = access.get(
        request.headers.get("Authorization")?.slice(7) ?? "",
      );
      const isValid = token?.aud === api && token.exp > clock;
      return new Response(null, {
        status: isValid ? 200 : 401,
        headers: isValid
          ? {}
          : { "WWW-Authenticate": `Bearer error="invalid_token"` },
      });
    }
    if (url.pathname.startsWith("/.well-known/")) {
      return Response.json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        device_authorization_endpoint: `${issuer}/device`,
        backchannel_authentication_endpoint: `${issuer}/ciba`,
        backchannel_token_delivery_modes_supported: ["poll"],
        grant_types_supported: ["urn:openid:params:grant-type:ciba"],
        code_challenge_methods_supported: ["S256"],
      });
    }
    const body = new URLSearchParams(await request.text());
    bodies.push(body);
    if (url.pathname === "/device") {
      if (problem && body.getAll("resource").length > 1) return refuse(problem);
      grants.set("device", body);
      return Response.json({
        device_code: "device",
        user_code: "U",
        verification_uri: `${issuer}/d`,
        expires_in: 600,
        interval: 0,
      });
    }
    const key = body.get("code") ?? body.get("refresh_token") ??
      body.get("device_code") ?? "";
    const granted = grants.get(key);
    if (!granted) return refuse("invalid_grant");
    grants.delete(key);
    const refresh_token = `rt${++last}`;
    try {
      const aud = apiOf(body, granted);
      seen.tokens.push(`${body.get("grant_type")?.slice(-13)} ${aud}`);
      grants.set(refresh_token, granted);
      access.set(`at${last}`, { aud, exp: clock + 3600_000 });
    } catch (error) {
      return refuse(String(error));
    }
    const token = { access_token: `at${last}`, token_type: "Bearer" };
    return Response.json({ ...token, refresh_token, expires_in: 3600 });
  };
  const visit: CodeFlowOptions["visit"] = ({ searchParams }) => {
    seen.visits.push(searchParams);
    if (problem === "page") {
      throw new OAuthClientError("timeout", "The user did not come back");
    }
    grants.set(`code${++last}`, searchParams);
    const state = searchParams.get("state") ?? "";
    return Promise.resolve(`${redirectUri}?code=code${last}&state=${state}`);
  };
  const events: AuthorizedFetchEvent[] = [];
  const options = {
    fetch,
    now: () => clock,
    store: memoryStore(),
    onEvent: (event: AuthorizedFetchEvent) => void events.push(event),
  };
  /** Calls both APIs in three rounds, over expiries. */
  async function rounds(further: AuthorizedFetchOptions) {
    const all = { ...options, ...further };
    const fetches = [a, b].map((one) => createAuthorizedFetch(one, all));
    for (let round = 0; round < 3; round++) {
      const calls = fetches.map((api, index) => api([a, b][index]!));
      const responses = await Promise.all(calls);
      assertEquals(responses.map(({ status }) => status), [200, 200]);
      clock += 3600_000;
    }
    return fetches;
  }
  return { seen, bodies, events, options, rounds, visit, fetch };
}

const SCOPED = sharedSignIn({
  [a]: { scopes: ["api://a/read"] },
  [b]: { scopes: ["api://b/read"] },
});

Deno.test("sharedSignIn() shares at a server that knows an API by its scopes", async () => {
  const servers = world(entra);
  const { visit, seen, bodies } = servers;
  const flow = {
    client,
    redirectUri,
    visit,
    resourceIndicator: false,
    sendScopeOnRefresh: true,
  } as const;
  await servers.rounds({ apis: SCOPED, flow: codeFlow(flow) });
  assertEquals(seen.visits.map((one) => one.get("scope")), [
    "api://a/read api://b/read",
  ]);
  assertEquals(seen.tokens.length, 6);
  assert(
    bodies.every((one) => /^api:..[ab].read$/.test(one.get("scope") ?? "")),
  );
});

Deno.test("sharedSignIn() shares at a server that knows an API by its audience", async () => {
  const apis = sharedSignIn(
    Object.fromEntries([[a, "aud-a"], [b, "aud-b"]].map((
      [api, audience],
    ) => [api, {
      parameters: { audience: audience! },
      tokenParameters: { audience: audience! },
    }])),
  );
  // Where the setting is missing, each API signs in by itself, once.
  for (const [hasPolicy, visits] of [[true, 1], [false, 2]] as const) {
    const servers = world(auth0(hasPolicy));
    const { visit, seen } = servers;
    const flow = codeFlow({
      client,
      redirectUri,
      visit,
      resourceIndicator: false,
    });
    await servers.rounds({ apis, flow: flow });
    assertEquals(seen.visits.length, visits);
  }
});

Deno.test("sharedSignIn() works with deviceFlow, also if the server refuses to share", async () => {
  for (
    const [problem, shown] of [[undefined, 1], ["invalid_target", 2]] as const
  ) {
    const servers = world(standard, problem);
    let count = 0;
    const authorize = deviceFlow({
      client,
      show: () => void count++,
      delay: () => Promise.resolve(),
    });
    await servers.rounds({ apis: SCOPED, flow: authorize });
    assertEquals(count, shown);
    const { events, bodies } = servers;
    assertEquals(bodies[0]?.getAll("resource"), [a, b]);
    const refused = events.filter(({ type }) => type === "sharing_refused");
    assertEquals(
      refused,
      problem
        ? [{ type: "sharing_refused", issuer, code: problem, resource: a }]
        : [],
    );
    assert(events.every((event) => [a, b].includes(event.resource ?? "")));
  }
});

Deno.test("sharedSignIn() takes another spelling of an identifier than the metadata has", async () => {
  const servers = world(standard);
  const apis = sharedSignIn({
    [a.replace("//a", "//A")]: { scopes: ["api://a/read"] },
    [b.replace("//b", "//B")]: { scopes: ["api://b/read"] },
  });
  const { visit, seen } = servers;
  const authorize = codeFlow({ client, redirectUri, visit });
  const [, api] = await servers.rounds({ apis, flow: authorize });
  assertEquals([seen.visits.length, seen.tokens.length], [1, 6]);
  await api?.signIn({ fresh: true });
  await servers.rounds({ apis, flow: authorize });
  const { resource, apis: others = {} } = await servers.options.store.load() ??
    {};
  assertEquals([resource, ...Object.keys(others)].sort(), [a, b]);
  assertEquals([seen.visits.length, seen.tokens.length], [2, 12]);
});

Deno.test("startAuthorization() and finish() share a sign-in", async () => {
  const servers = world(standard);
  const { options, seen, fetch, visit } = servers;
  const context = await discoverAuthorization(a, { fetch });
  const { url, pending } = await startAuthorization(context, {
    ...{ client, redirectUri, apis: SCOPED },
  });
  assertEquals(url.searchParams.getAll("resource"), [a, b]);
  const [api] = [createAuthorizedFetch(a, { ...options, apis: SCOPED })];
  const kept: PendingAuthorization = JSON.parse(JSON.stringify(pending));
  await api.finish(await visit(url, { pending, signal: undefined }), kept);
  await servers.rounds({ apis: SCOPED });
  assertEquals([seen.visits.length, seen.tokens.length], [1, 6]);
});

Deno.test("startAuthorization() refuses apis without the resource that it signs in for", async () => {
  const { fetch } = world(standard);
  const context = await discoverAuthorization(a, { fetch });
  const apis = sharedSignIn({ [b]: {} });
  await pinRejected(
    () => startAuthorization(context, { client, redirectUri, apis }),
    "invalid_argument",
  );
});

Deno.test("a server that shows a page and never redirects: the message names apis", async () => {
  const servers = world(standard, "page");
  const authorize = codeFlow({ client, redirectUri, visit: servers.visit });
  const api = createAuthorizedFetch(a, {
    ...servers.options,
    apis: SCOPED,
    flow: authorize,
  });
  await pinRejected(() => api(a), "timeout");
});

Deno.test("signIn({ fresh }) leaves no token of another user", async () => {
  const servers = world(standard);
  const authorize = codeFlow({ client, redirectUri, visit: servers.visit });
  const [api] = await servers.rounds({ apis: SCOPED, flow: authorize });
  await api?.signIn({ fresh: true });
  const { apis } = await servers.options.store.load() ?? {};
  assertEquals(apis?.[b], { scopes: ["api://b/read"], internal: {} });
});

Deno.test("createAuthorizedFetch() refuses apis that it could not share", async () => {
  const { options, visit } = world(standard);
  const authorize = codeFlow({ client, redirectUri, visit });
  const ours = { ...options, flow: authorize, apis: SCOPED };
  const secret = { ...client, client_secret: "s3cret" };
  const rows: [Partial<AuthorizedFetchOptions>, url?: string][] = [
    [{ apis: { resources: [a] } }],
    [{}, "https://c.example/"],
    [{ bearer: "id_token" }],
    [{ store: undefined }],
    [{ flow: clientCredentialsFlow({ client: secret }) }],
  ];
  for (const [further, url = a] of rows) {
    const create = () => createAuthorizedFetch(url, { ...ours, ...further });
    pinThrown(create, "invalid_argument");
  }
  createAuthorizedFetch(a, ours);
  const dpop = await createDpop();
  const other = () => createAuthorizedFetch(b, { ...ours, dpop });
  pinThrown(other, "invalid_argument");
  const ciba = cibaFlow({ client, getLoginHint: () => "ann" });
  const api = createAuthorizedFetch(a, { ...ours, flow: ciba });
  await assertRejectsCode(() => api(a), "invalid_argument");
});
