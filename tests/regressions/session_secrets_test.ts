/** A resource that repeats what the authorized fetch has sent to it. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type AuthorizedFetchEvent,
  codeFlow,
  createDpop,
  type ISession,
  type ISessionStore,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import {
  API,
  AS,
  CODE_SERVER,
  MCP,
  OAUTH,
  PRM,
  REGISTRATION_ENDPOINT,
  SERVER,
  TOKEN_ENDPOINT,
} from "../support/fixtures.ts";
import {
  redirection,
  resourceFetch,
  type Respond,
  SESSION,
} from "../support/resource.ts";
import { shown } from "../support/shown.ts";
import { statusOf } from "../support/stub_fetch.ts";

const KEY = "k3y-of/the+caller";
const OTHER = "https://other.example";

/** Fails unless an error has this code, and shows none of the values. */
function assertHides(error: unknown, code: string, values: string[]): void {
  assert(error instanceof OAuthClientError);
  assertEquals<string>(error.code, code, error.message);
  const text = shown(error);
  for (const value of values) {
    assert(!text.includes(value), text);
    // A part would do for a token in a JWT.
    assert(!text.includes(value.slice(2, 14)), text);
  }
  assert(text.includes("[redacted]"), text);
}

/** A 401 that names this URL. */
function challenge(url: string): Response {
  const headers = { "WWW-Authenticate": `Bearer resource_metadata="${url}"` };
  return new Response(null, { status: 401, headers });
}

type Encode = (value: string) => string;
const ENCODINGS: Record<string, Encode> = {
  "as it was sent": (value) => value,
  "percent-encoded": encodeURIComponent,
  "in a query": (value) => `${new URLSearchParams({ q: value })}`,
};

/** The token without a refresh, which the fetch would try first. */
const { refresh_token: REFRESH_TOKEN = "", ...token } = SESSION.token;
const store = () => memoryStore({ ...SESSION, token });
const { access_token } = token;

const KEY_FIELD = { "X-Api-Key": KEY };

interface ICase {
  /** What the resource responds with. */
  respond: Respond;
  code?: string;
  /** What must not be shown. */
  values: string[];
  session?: Partial<ISession>;
  method?: string;
}

/** Responds with a 401 that names a URL with what was sent. */
const repeatingAt =
  (origin: string, encode: Encode): Respond => ({ url, headers }) =>
    url === MCP
      ? challenge(
        `${origin}/?${encode(headers.get("Authorization")!.slice(7))}&${
          encode(headers.get("X-Api-Key")!)
        }`,
      )
      : new Response(null, { status: 404 });

const CASES: Record<string, ICase> = {
  // Which its server may have passed on.
  "the refresh token from Location": {
    respond: () => redirection(`http://127.0.0.1/?${REFRESH_TOKEN}`),
    code: "redirect_refused",
    values: [REFRESH_TOKEN],
    session: { token: SESSION.token },
  },
  "the ID-JAG from resource_metadata": {
    respond: ({ url }) =>
      url === MCP
        ? challenge(`${OTHER}/?id-jag-of-the-session`)
        : new Response(null, { status: 404 }),
    values: ["id-jag-of-the-session"],
    session: { idJag: { assertion: "id-jag-of-the-session" } },
  },
};
for (const [name, encode] of Object.entries(ENCODINGS)) {
  const values = [encode(access_token), encode(KEY)];
  for (const origin of [OTHER, API]) {
    CASES[`a token from resource_metadata at ${origin}, ${name}`] = {
      respond: repeatingAt(origin, encode),
      values,
    };
  }
  // The redirects within the origin end with one more than are followed.
  for (const target of ["http://127.0.0.1", API]) {
    CASES[`a token from Location at ${target}, ${name}`] = {
      respond: () => redirection(`${target}/?${values.join("&")}`),
      code: "redirect_refused",
      values,
    };
  }
  CASES[`a token from Location of a POST, ${name}`] = {
    respond: () => redirection(`${OTHER}/?${values.join("&")}`),
    code: "redirect_refused",
    values: values.slice(0, 1),
    method: "POST",
  };
}

for (const [name, one] of Object.entries(CASES)) {
  Deno.test(`createAuthorizedFetch() does not repeat ${name}`, async () => {
    const { respond, code = "discovery_failed", values, method = "GET" } = one;
    const { api } = resourceFetch(respond, {
      store: memoryStore({ ...SESSION, token, ...one.session }),
    });
    const error = await assertRejects(() =>
      api(MCP, { method, headers: KEY_FIELD })
    );
    assertHides(error, code, values);
  });
}

Deno.test("createAuthorizedFetch() repeats no proof, and no token that was refreshed on the way", async () => {
  const dpop = await createDpop();
  const proofs: string[] = [];
  const { api } = resourceFetch(({ url, headers }) => {
    if (url === TOKEN_ENDPOINT) {
      const fresh = { access_token: "a-token-that-is-new", token_type: "DPoP" };
      return Response.json(fresh);
    }
    if (url !== MCP) return new Response(null, { status: 404 });
    proofs.push(headers.get("DPoP")!);
    return challenge(`${OTHER}/${access_token}/${proofs[0]}`);
  }, {
    dpop,
    store: memoryStore({ ...SESSION, dpopThumbprint: dpop.thumbprint }),
  });
  const error = await assertRejects(() => api(MCP));
  assertEquals(proofs.length, 2);
  assertHides(error, "discovery_failed", [access_token, proofs[0]!]);
});

Deno.test("createAuthorizedFetch().renew() repeats no token of the session", async () => {
  const { api } = resourceFetch(
    () => new Response(null, { status: 404 }),
    { store: store() },
  );
  const response = challenge(`${OTHER}/${access_token}`);
  Object.defineProperty(response, "url", { value: MCP });
  const error = await assertRejects(() => api.renew(response));
  assertHides(error, "discovery_failed", [access_token]);
});

Deno.test("createAuthorizedFetch() repeats no value of tokenParameters, unless its parameter is public", async () => {
  const key = "s3cret-tenant-key";
  const tokenParameters = { key, audience: MCP };
  const { api } = resourceFetch(
    () => challenge(`${OTHER}/${key}`),
    { store: memoryStore({ ...SESSION, tokenParameters }) },
  );
  const error = await assertRejects(() => api(MCP));
  assertHides(error, "discovery_failed", [key]);
  assert(shown(error).includes(MCP));
});

Deno.test("createAuthorizedFetch().renew() repeats no token that has been replaced since", async () => {
  const store = memoryStore({ ...SESSION, token });
  const { api } = resourceFetch(({ url, headers }) => {
    const sent = headers.get("Authorization")?.slice(7);
    const challenge =
      `Bearer error="insufficient_scope", scope="write", resource_metadata="${OTHER}/${sent}"`;
    return new Response(null, {
      status: url === MCP ? 403 : 404,
      headers: { "WWW-Authenticate": challenge },
    });
  }, { store });
  const body = new Blob(["once"]).stream();
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const response = await api(MCP, init);
  const fresh = { access_token: "a-token-that-is-new", token_type: "Bearer" };
  await store.save({ ...SESSION, token: fresh });
  const error = await assertRejects(() => api.renew(response));
  assertHides(error, "discovery_failed", [access_token]);
});

/** Members of metadata that repeat a token, and the code of the error at that server. */
const REPEATED_IN: [members: string[], code: string][] = [
  [["issuer"], "issuer_mismatch"],
  [["registration_endpoint"], "oauth_error"],
  [["authorization_endpoint"], "unsupported"],
  [["token_endpoint"], "unexpected_status"],
];

for (const [[member = ""], code] of REPEATED_IN) {
  for (const encode of [String, encodeURIComponent]) {
    Deno.test(`createAuthorizedFetch() repeats no token that is in the ${member} of the metadata, as ${encode.name}`, async () => {
      const repeated = encode(access_token);
      const metadata: Record<string, unknown> = { ...CODE_SERVER };
      metadata[member] = `${AS}/${repeated}`;
      if (member === "authorization_endpoint") {
        metadata.code_challenge_methods_supported = undefined;
      }
      const events: AuthorizedFetchEvent[] = [];
      const { api } = resourceFetch(({ url }) => {
        if (url === MCP) return challenge(`${PRM}/mcp`);
        if (url.startsWith(API)) {
          const authorization_servers = [metadata.issuer];
          return Response.json({ resource: MCP, authorization_servers });
        }
        if (url.includes("/.well-known/")) return Response.json(metadata);
        if (url === metadata.registration_endpoint) {
          return member === "registration_endpoint"
            ? Response.json({
              error: "invalid_client_metadata",
              error_description: repeated,
            }, { status: 400 })
            : Response.json({ client_id: "c2" });
        }
        return new Response("", { status: 404 });
      }, {
        // Of a client that the server no longer knows.
        store: memoryStore({
          ...SESSION,
          token,
          client: { ...SESSION.client, client_id: "" },
        }),
        onEvent: (event) => events.push(event),
        authorize: member === "issuer"
          ? () => Promise.resolve(SESSION)
          : codeFlow({
            clientMetadata: { client_name: "x", redirect_uris: [] },
            redirectUri: "https://app.example/callback",
            visit: (_url, { pending: { state } }) =>
              Promise.resolve(new URLSearchParams({ code: "c1", state })),
          }),
      });
      const error = await assertRejects(() => api(MCP), OAuthClientError);
      assertEquals<string>(error.code, code, error.message);
      for (const text of [shown(error), JSON.stringify(events)]) {
        assert(!text.includes(access_token), text);
        assert(!text.includes(encodeURIComponent(access_token)), text);
      }
    });
  }
}

/** A response that refuses by a challenge. */
const refusal = (status: number, value: string) =>
  new Response(null, { status, headers: { "WWW-Authenticate": value } });

/** Responses by URL of servers that repeat a token where they name themselves, or a client. */
const REPEATING: Record<
  string,
  (token: string) => Record<string, (body: string) => Response | undefined>
> = {
  "the issuer": (token) => ({
    [`${PRM}/mcp`]: () =>
      Response.json({
        resource: MCP,
        authorization_servers: [`${OTHER}/${token}`],
      }),
    [`${OTHER}/.well-known/oauth-authorization-server/${token}`]: () =>
      Response.json({ ...SERVER, issuer: `${OTHER}/${token}` }),
  }),
  "the scope of a step-up": (token) => ({
    [MCP]: () =>
      refusal(403, `Bearer error="insufficient_scope", scope="${token}"`),
  }),
  "the acr_values of a step-up": (token) => ({
    [MCP]: () =>
      refusal(
        401,
        'Bearer error="insufficient_user_authentication", ' +
          `acr_values="${token}"`,
      ),
  }),
  "a client identifier": (token) => ({
    [REGISTRATION_ENDPOINT]: () => Response.json({ client_id: token }),
  }),
  "a granted scope": (token) => ({
    [TOKEN_ENDPOINT]: () =>
      Response.json({ access_token: token, scope: `read ${token}` }),
  }),
  "an error of a refresh": (token) => ({
    [TOKEN_ENDPOINT]: (body) =>
      body.includes("refresh_token")
        ? Response.json({ error: "invalid_grant", error_description: token }, {
          status: 400,
        })
        : undefined,
  }),
};

for (const [name, respond] of Object.entries(REPEATING)) {
  for (const [how, encode] of Object.entries(ENCODINGS).slice(0, 2)) {
    Deno.test(`createAuthorizedFetch() reports no token in an event that a server repeats in ${name}, ${how}`, async () => {
      const events: AuthorizedFetchEvent[] = [];
      const repeating = respond(encode(access_token));
      const isRefresh = name === "an error of a refresh";
      const { api } = resourceFetch(({ url, headers, body }) => {
        const isFirst = url === MCP && !headers.has("Authorization");
        const response = isFirst ? undefined : repeating[url]?.(body);
        if (response) return response;
        if (url === MCP) return new Response(null, { status: 401 });
        if (url === OAUTH) return Response.json(CODE_SERVER);
        if (url === REGISTRATION_ENDPOINT) {
          return Response.json({ client_id: "c2" });
        }
        return url === TOKEN_ENDPOINT
          ? Response.json({ error: "invalid_client" }, { status: 401 })
          : undefined;
      }, {
        store: memoryStore(isRefresh ? SESSION : { ...SESSION, token }),
        onEvent: (event) => events.push(event),
        authorize: codeFlow({
          clientMetadata: { client_name: "x", redirect_uris: [] },
          redirectUri: "https://app.example/callback",
          visit: (_url, { pending: { state } }) =>
            Promise.resolve(new URLSearchParams({ code: "c1", state })),
        }),
      });
      await statusOf(api(MCP)).catch(() => {});
      const text = JSON.stringify(events);
      assert(!text.includes(encode(access_token)), text);
      // An error description with a token is left out as a whole, and a scope that is a
      // token is dropped.
      const isLeftOut = isRefresh || name.includes("scope");
      assertEquals(text.includes("[redacted]"), !isLeftOut, text);
    });
  }
}

Deno.test("createAuthorizedFetch() requests no scope that is a token of the session", async () => {
  const challenge = `Bearer scope="${access_token} write"`;
  const asked: (string[] | undefined)[] = [];
  for (const status of [401, 403]) {
    const error = status === 403 ? `, error="insufficient_scope"` : "";
    const { api } = resourceFetch(
      ({ url }) =>
        url === MCP
          ? refusal(status, challenge + error)
          : url === OAUTH
          ? Response.json(CODE_SERVER)
          : undefined,
      {
        store: memoryStore({ ...SESSION, token }),
        authorize({ scopes, requiredScopes }) {
          asked.push(scopes, requiredScopes);
          return Promise.reject(new Error("enough"));
        },
      },
    );
    await api(MCP).catch(() => {});
  }
  assertEquals(asked.length, 4);
  for (const scopes of asked) {
    assertEquals(scopes?.includes(access_token), false, `${scopes}`);
    assertEquals(scopes?.includes("write"), true);
  }
});

Deno.test("createAuthorizedFetch() reports no query of a token endpoint in an event", async () => {
  const events: AuthorizedFetchEvent[] = [];
  const { serverMetadata } = SESSION;
  const token_endpoint = `${TOKEN_ENDPOINT}?code=a-key`;
  const { api } = resourceFetch(
    ({ url }) =>
      url === MCP
        ? new Response(null, { status: 401 })
        : Response.json({ error: "invalid_grant" }, { status: 400 }),
    {
      authorize: undefined,
      store: memoryStore({
        ...SESSION,
        serverMetadata: { ...serverMetadata, token_endpoint },
      }),
      onEvent: (event) => events.push(event),
    },
  );
  await statusOf(api(MCP));
  const dropped = events.find(({ type }) => type === "session_dropped");
  assertEquals(dropped, {
    type: "session_dropped",
    issuer: AS,
    code: "invalid_grant",
    message: `The token request to ${TOKEN_ENDPOINT} failed: 400 invalid_grant`,
  });
});

Deno.test("createAuthorizedFetch() reports no query of any URL in an error description", async () => {
  const { serverMetadata } = SESSION;
  const texts = [
    "See wss://h.example/p?key=1 now? Yes",
    "See //h.example/p?key=1",
    "(/p?key=1)",
  ];
  const shown = ["See wss://h.example/p now? Yes", "See //h.example/p", "(/p"];
  for (const [index, error_description] of texts.entries()) {
    const events: AuthorizedFetchEvent[] = [];
    const { api } = resourceFetch(
      ({ url }) =>
        url === MCP
          ? new Response(null, { status: 401 })
          : Response.json({ error: "invalid_grant", error_description }, {
            status: 400,
          }),
      {
        authorize: undefined,
        store: memoryStore({ ...SESSION, serverMetadata }),
        onEvent: (event) => events.push(event),
      },
    );
    await statusOf(api(MCP));
    const dropped = events.find(({ type }) => type === "session_dropped");
    const message = dropped?.type === "session_dropped" ? dropped.message : "";
    assert(message.endsWith(`: ${shown[index]}`), message);
  }
});

Deno.test("createAuthorizedFetch() reports no token in the path of a request that it does not cover", async () => {
  const events: AuthorizedFetchEvent[] = [];
  const { api } = resourceFetch(() => new Response("ok"), {
    onEvent: (event) => events.push(event),
  });
  const { origin } = new URL(MCP);
  await statusOf(api(`${origin}/other/${access_token}/x`));
  assertEquals(events, [{
    type: "uncovered_request",
    method: "GET",
    url: `${origin}/other/[redacted]/x`,
  }]);

  // The path is left out if the token is not known, or is that of another server.
  const event = { type: "uncovered_request", method: "GET" };
  const others: [ISessionStore, url: string][] = [
    [{ ...store(), load: () => Promise.reject(new Error("down")) }, origin],
    [
      memoryStore({ ...SESSION, token, dpopThumbprint: "k" }),
      `${origin}/other/[redacted]/x`,
    ],
  ];
  for (const [store, url] of others) {
    const seen: AuthorizedFetchEvent[] = [];
    const { api } = resourceFetch(() => new Response("ok"), {
      store,
      onEvent: (event) => seen.push(event),
    });
    await statusOf(api(`${origin}/other/${access_token}/x`));
    assertEquals<unknown>(seen, [{ ...event, url }]);
  }
});

Deno.test("createAuthorizedFetch() repeats no access token from an error of a refresh", async () => {
  const { api } = resourceFetch(({ url }) =>
    url === MCP
      ? new Response(null, { status: 401 })
      : Response.json({ error: "x", error_description: access_token }, {
        status: 503,
      })
  );
  const error = await assertRejects(() => api(MCP), OAuthClientError);
  assertEquals([error.status, error.error], [503, "x"]);
  assert(!shown(error).includes(access_token), shown(error));
});
