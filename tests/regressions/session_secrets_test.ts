/** A resource that repeats what the authorized fetch has sent to it. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type AuthorizedFetchEvent,
  codeFlow,
  createDpop,
  memoryStore,
  OAuthClientError,
} from "../../mod.ts";
import {
  API,
  AS,
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

const ENCODINGS: [name: string, encode: (value: string) => string][] = [
  ["as it was sent", (value) => value],
  ["percent-encoded", encodeURIComponent],
  ["in a query", (value) => `${new URLSearchParams({ q: value })}`],
];

/** The token without a refresh, which the fetch would try first. */
const { refresh_token: _, ...token } = SESSION.token;
const store = () => memoryStore({ ...SESSION, token });
const { access_token } = token;

Deno.test("createAuthorizedFetch() repeats no refresh token from Location, which its server may have passed on", async () => {
  const refreshToken = SESSION.token.refresh_token!;
  const { api } = resourceFetch(() =>
    redirection(`http://127.0.0.1/?${refreshToken}`)
  );
  const error = await assertRejects(() => api(MCP));
  assertHides(error, "redirect_refused", [refreshToken]);
});

for (const [name, encode] of ENCODINGS) {
  Deno.test(`createAuthorizedFetch() repeats no token from resource_metadata, ${name}`, async () => {
    for (const origin of [OTHER, API]) {
      const { api } = resourceFetch(
        ({ url, headers }) => {
          if (url !== MCP) return new Response(null, { status: 404 });
          const token = headers.get("Authorization")!.slice(7);
          const key = headers.get("X-Api-Key")!;
          return challenge(`${origin}/?${encode(token)}&${encode(key)}`);
        },
        { store: store() },
      );
      const error = await assertRejects(() =>
        api(MCP, { headers: { "X-Api-Key": KEY } })
      );
      assertHides(error, "discovery_failed", [
        encode(access_token),
        encode(KEY),
      ]);
    }
  });

  Deno.test(`createAuthorizedFetch() repeats no token from Location, ${name}`, async () => {
    for (
      const [target, method] of [
        [OTHER, "POST"],
        ["http://127.0.0.1", "GET"],
        [API, "GET"],
      ] as const
    ) {
      const { api } = resourceFetch(({ headers }) => {
        const token = headers.get("Authorization")?.slice(7) ?? access_token;
        return redirection(`${target}/?${encode(token)}&${encode(KEY)}`);
      });
      const error = await assertRejects(() =>
        api(MCP, { method, headers: { "X-Api-Key": KEY } })
      );
      assert(error instanceof OAuthClientError);
      const values = [encode(access_token), encode(KEY)];
      // The redirects within the origin end with one more than are followed.
      if (target === OTHER) assert(!shown(error).includes(values[0]!));
      else assertHides(error, "redirect_refused", values);
    }
  });
}

Deno.test("createAuthorizedFetch() repeats no ID-JAG, which its server may have passed on", async () => {
  const assertion = "id-jag-of-the-session";
  const { api } = resourceFetch(
    ({ url }) =>
      url === MCP
        ? challenge(`${OTHER}/?${assertion}`)
        : new Response(null, { status: 404 }),
    { store: memoryStore({ ...SESSION, token, idJag: { assertion } }) },
  );
  const error = await assertRejects(() => api(MCP));
  assertHides(error, "discovery_failed", [assertion]);
});

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

Deno.test("createAuthorizedFetch() uses no authorization server whose metadata repeats the token", async () => {
  for (
    const [issuer, endpoint] of [
      [`${AS}/${access_token}`, "/token"],
      [AS, `/${encodeURIComponent(access_token)}`],
    ] as const
  ) {
    let asked = 0;
    const { api } = resourceFetch(({ url }) => {
      if (url === MCP) return challenge(`${PRM}/mcp`);
      if (url.startsWith(API)) {
        const authorization_servers = [issuer];
        return Response.json({ resource: MCP, authorization_servers });
      }
      const token_endpoint = AS + endpoint;
      return Response.json({
        issuer,
        token_endpoint,
        response_types_supported: ["code"],
      });
    }, {
      store: store(),
      authorize: () => {
        asked++;
        return Promise.resolve(SESSION);
      },
    });
    const error = await assertRejects(() => api(MCP), OAuthClientError);
    assertEquals([error.code, asked], ["discovery_failed", 0]);
    assert(!shown(error).includes(access_token));
    assert(!shown(error).includes(encodeURIComponent(access_token)));
  }
});

/** Responds as a server that repeats a token where it names itself, or a client. */
const REPEATING: [name: string, respond: (token: string) => Respond][] = [
  ["the issuer", (token) => ({ url }) => {
    const issuer = `${OTHER}/${token}`;
    if (url === MCP) return undefined;
    if (url.startsWith(API)) {
      return Response.json({ resource: MCP, authorization_servers: [issuer] });
    }
    return Response.json({ ...SERVER, issuer });
  }],
  ["the scope of a step-up", (token) => () => {
    const value = `Bearer error="insufficient_scope", scope="${token}"`;
    const headers = { "WWW-Authenticate": value };
    return new Response(null, { status: 403, headers });
  }],
  ["the acr_values of a step-up", (token) => () => {
    const error = "insufficient_user_authentication";
    const value = `Bearer error="${error}", acr_values="${token}"`;
    const headers = { "WWW-Authenticate": value };
    return new Response(null, { status: 401, headers });
  }],
  [
    "a client identifier",
    (token) => ({ url }) =>
      url === REGISTRATION_ENDPOINT
        ? Response.json({ client_id: token })
        : undefined,
  ],
  [
    "a granted scope",
    (token) => ({ url }) =>
      url === TOKEN_ENDPOINT
        ? Response.json({ access_token: token, scope: `read ${token}` })
        : undefined,
  ],
  ["an error of a refresh", (token) => ({ url, body }) => {
    const error = { error: "invalid_grant", error_description: token };
    return url === TOKEN_ENDPOINT && body.includes("refresh_token")
      ? Response.json(error, { status: 400 })
      : undefined;
  }],
];

for (const [name, respond] of REPEATING) {
  for (const [how, encode] of ENCODINGS.slice(0, 2)) {
    Deno.test(`createAuthorizedFetch() reports no token in an event that a server repeats in ${name}, ${how}`, async () => {
      const events: AuthorizedFetchEvent[] = [];
      const repeating = respond(encode(access_token));
      const server = {
        ...SERVER,
        authorization_endpoint: `${AS}/authorize`,
        code_challenge_methods_supported: ["S256"],
      };
      const { api } = resourceFetch((received) => {
        const { url, headers } = received;
        const isFirst = url === MCP && !headers.has("Authorization");
        if (isFirst) return new Response(null, { status: 401 });
        const response = repeating(received);
        if (response) return response;
        if (url === MCP) return new Response(null, { status: 401 });
        if (url === OAUTH) return Response.json(server);
        if (url === REGISTRATION_ENDPOINT) {
          return Response.json({ client_id: "c2" });
        }
        return url === TOKEN_ENDPOINT
          ? Response.json({ error: "invalid_client" }, { status: 401 })
          : undefined;
      }, {
        store: memoryStore(
          name === "an error of a refresh" ? SESSION : { ...SESSION, token },
        ),
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
      // An error description with a token is left out as a whole.
      const isShown = name !== "an error of a refresh";
      assertEquals(text.includes("[redacted]"), isShown, text);
    });
  }
}

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
