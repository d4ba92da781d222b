/**
 * The library against oidc-provider, over loopback. The other real servers are in
 * `real_mcp_servers_test.ts`.
 */
import {
  assert,
  assertEquals,
  assertFalse,
  assertInstanceOf,
  assertMatch,
  assertRejects,
} from "@std/assert";
import {
  AuthorizationDeviceCodeErrorType,
  AuthorizationErrorType,
  AuthorizationRegistrationErrorType,
  buildIdJagExchangeBody,
  buildResourceRedemptionBody,
  DEFAULT_REDIRECT_URIS,
  fetchAuthorizationServerMetadata,
  fetchDynamicRegistration,
  getClaimsFromJWT,
  type IFetchDynamicRegistrationOptions,
  isAuthorizationDeviceResponse,
  isAuthorizationDynamicClientRegistrationResponse,
  isAuthorizationErrorResponse,
  isAuthorizationRegistrationErrorResponse,
  isAuthorizationServerMetadata,
  isAuthorizationTokenResponse,
  OAuthClientError,
  REGISTRATION_GRANT_TYPES,
  scopesMatch,
} from "../../mod.ts";
import { startAuthorizationServer } from "../servers/authorization_server.ts";

const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const RESOURCE = "http://127.0.0.1:9/mcp";

const machine = {
  client_id: "machine",
  client_secret: "it's & a secret",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
  token_endpoint_auth_method: "client_secret_post" as const,
};

const machineForm = {
  client_id: machine.client_id,
  client_secret: machine.client_secret,
  grant_type: "client_credentials",
};

type Form = URLSearchParams | Record<string, string>;

async function post(url = "", form: Form) {
  const body = new URLSearchParams(form);
  const response = await fetch(url, { method: "POST", body });
  return { status: response.status, body: await response.json() };
}

async function metadataOf(issuer: string) {
  return (await fetchAuthorizationServerMetadata(issuer)).metadata;
}

for (const slash of ["", "/"]) {
  Deno.test(`fetchAuthorizationServerMetadata() finds oidc-provider at the root, issuer + "${slash}"`, async () => {
    await using server = await startAuthorizationServer();
    const { issuer, requests } = server;
    const { metadata, discoveryUrl, errors } =
      await fetchAuthorizationServerMetadata(issuer + slash);
    assertEquals(
      discoveryUrl,
      `${issuer}/.well-known/oauth-authorization-server`,
    );
    assertEquals(errors, []);
    assertEquals(metadata.issuer, issuer);
    assertEquals(metadata.token_endpoint, `${issuer}/token`);
    assertEquals(requests, ["GET /.well-known/oauth-authorization-server"]);
  });

  Deno.test(`fetchAuthorizationServerMetadata() finds oidc-provider below /tenant1, issuer + "${slash}"`, async () => {
    await using server = await startAuthorizationServer({ path: "/tenant1" });
    const { issuer, requests } = server;
    const { origin } = new URL(issuer);
    const { metadata, discoveryUrl, errors } =
      await fetchAuthorizationServerMetadata(issuer + slash);
    assertEquals(discoveryUrl, `${issuer}/.well-known/openid-configuration`);
    assertEquals(metadata.issuer, issuer);
    assertEquals(metadata.token_endpoint, `${issuer}/token`);
    const insertions = [
      `/.well-known/oauth-authorization-server/tenant1${slash}`,
      `/.well-known/openid-configuration/tenant1${slash}`,
    ];
    assertEquals(requests, [
      ...insertions.map((path) => `GET ${path}`),
      "GET /tenant1/.well-known/openid-configuration",
    ]);
    assertEquals(errors.length, 2);
    for (const [index, path] of insertions.entries()) {
      const url = origin + path;
      const page = await (await fetch(url)).text();
      const error = errors[index];
      assertInstanceOf(error, OAuthClientError);
      assertEquals(
        error.message,
        `Failed to fetch authorization server metadata from ${url}: 404 ${page}`,
      );
      assertEquals(error.code, "unexpected_status");
      assertEquals(error.status, 404);
      assertEquals(error.url, url);
    }
  });
}

for (const path of ["", "/tenant1"]) {
  Deno.test(`fetchDynamicRegistration() makes a client known to oidc-provider at "${path}"`, async () => {
    await using server = await startAuthorizationServer({ path });
    const metadata = await metadataOf(server.issuer);
    server.requests.length = 0;
    const client = await fetchDynamicRegistration(metadata, "My client", [
      "mcp:read",
      "mcp:write",
    ]);
    assertEquals(server.requests, [`POST ${path}/reg`]);
    assertEquals(client.client_secret, undefined);

    const known = await server.provider.Client.find(client.client_id);
    const stored = known!.metadata();
    assertEquals(stored.client_name, "My client");
    assertEquals(stored.redirect_uris, [...DEFAULT_REDIRECT_URIS]);
    assertEquals(stored.grant_types, [...REGISTRATION_GRANT_TYPES]);
    assertEquals(stored.response_types, ["code"]);
    assertEquals(stored.scope, "mcp:read mcp:write");
    assertEquals(stored.token_endpoint_auth_method, "none");
    assertEquals(stored.application_type, "native");

    const { client_id } = client;
    const device = await post(metadata.device_authorization_endpoint, {
      client_id,
      scope: "mcp:read",
    });
    assertEquals(device.status, 200);
    assert(isAuthorizationDeviceResponse(device.body));
    const pending = await post(metadata.token_endpoint, {
      client_id,
      grant_type: DEVICE_GRANT,
      device_code: device.body.device_code,
    });
    assert(isAuthorizationErrorResponse(pending.body));
    assertEquals(
      pending.body.error,
      AuthorizationDeviceCodeErrorType.AuthorizationPending,
    );
  });
}

Deno.test("fetchDynamicRegistration() registers what the caller chose", async () => {
  await using server = await startAuthorizationServer();
  const redirectUris = ["http://127.0.0.1:8123/callback", "my.client:/back"];
  const client = await fetchDynamicRegistration(
    await metadataOf(server.issuer),
    "My client",
    undefined,
    {
      clientUri: "https://my-client.example/",
      redirectUris,
      clientMetadata: {
        client_name: "Another name",
        contacts: ["ada@my-client.example"],
        token_endpoint_auth_method: "client_secret_basic",
      },
    },
  );
  assertMatch(client.client_secret ?? "", /./);
  const known = await server.provider.Client.find(client.client_id);
  const stored = known!.metadata();
  assertEquals(stored.client_uri, "https://my-client.example/");
  assertEquals(stored.redirect_uris, redirectUris);
  assertEquals(stored.client_name, "Another name");
  assertEquals(stored.contacts, ["ada@my-client.example"]);
  assertEquals(stored.client_secret, client.client_secret);
  assertEquals(stored.scope, undefined);
});

const refusals: [
  what: string,
  error: string,
  description: string,
  scopes: string[],
  options: IFetchDynamicRegistrationOptions,
][] = [
  [
    "an http redirect to another host",
    AuthorizationRegistrationErrorType.InvalidRedirectUri,
    "redirect_uris for native clients using http as a protocol can only use " +
    "loopback addresses as hostnames",
    ["mcp:read"],
    { redirectUris: ["http://my-client.example/callback"] },
  ],
  [
    "an unknown scope",
    AuthorizationRegistrationErrorType.InvalidClientMetadata,
    "scope must only contain Authorization Server supported scope values",
    ["mcp:read", "mcp:fly"],
    {},
  ],
];

for (const [what, error, description, scopes, options] of refusals) {
  Deno.test(`fetchDynamicRegistration() tells that oidc-provider refuses ${what}`, async () => {
    await using server = await startAuthorizationServer();
    const metadata = await metadataOf(server.issuer);
    const failure = await assertRejects(
      () => fetchDynamicRegistration(metadata, "My client", scopes, options),
      OAuthClientError,
    );
    const endpoint = `${server.issuer}/reg`;
    assertEquals(
      failure.message,
      `Registration to ${endpoint} failed: ${error}: ${description}`,
    );
    assertEquals(failure.code, "oauth_error");
    assertEquals(failure.error, error);
    assertEquals(failure.error_description, description);
    assertEquals(failure.status, 400);
    assertEquals(failure.url, endpoint);
    assert(isAuthorizationRegistrationErrorResponse(failure));
  });
}

Deno.test("getClaimsFromJWT() reads an access token of oidc-provider", async () => {
  await using server = await startAuthorizationServer({ clients: [machine] });
  const { status, body } = await post(`${server.issuer}/token`, {
    ...machineForm,
    scope: "mcp:read",
    resource: RESOURCE,
  });
  assertEquals(status, 200);
  assert(isAuthorizationTokenResponse(body));
  assertFalse(isAuthorizationErrorResponse(body));
  const claims = getClaimsFromJWT(body.access_token);
  assertEquals(claims.iss, server.issuer);
  assertEquals([claims.sub, claims.client_id], ["machine", "machine"]);
  assertEquals(claims.aud, RESOURCE);
  assertEquals(claims.scope, "mcp:read");
  assertEquals(claims.exp! - claims.iat!, body.expires_in);
  assertMatch(claims.jti, /./);
});

Deno.test("scopesMatch() compares what was asked with what oidc-provider granted", async () => {
  await using server = await startAuthorizationServer({ clients: [machine] });
  const grant = async (scope: string): Promise<string[]> => {
    const form = { ...machineForm, scope, resource: RESOURCE };
    const { body } = await post(`${server.issuer}/token`, form);
    return body.scope.split(" ");
  };
  const asked = ["mcp:write", "mcp:read"];
  assert(scopesMatch(asked, await grant("mcp:read mcp:write")));
  assertFalse(scopesMatch(asked, await grant("mcp:read")));
  assertFalse(scopesMatch(["mcp:read"], await grant("mcp:read mcp:write")));
});

Deno.test("isAuthorizationErrorResponse() knows the refusals of oidc-provider", async () => {
  await using server = await startAuthorizationServer({ clients: [machine] });
  const metadata = await metadataOf(server.issuer);
  const { token_endpoint, device_authorization_endpoint } = metadata;
  const form = { ...machineForm, resource: RESOURCE };
  const token = await post(token_endpoint, { ...form, client_secret: "no" });
  const target = await post(token_endpoint, { ...form, resource: "https://a" });
  const device = await post(device_authorization_endpoint, form);
  for (
    const [{ body, status }, expectedStatus, error] of [
      [token, 401, AuthorizationErrorType.InvalidClient],
      [target, 400, "invalid_target"],
      [device, 400, AuthorizationErrorType.InvalidRequest],
    ] as const
  ) {
    assert(isAuthorizationErrorResponse(body));
    assertEquals(body.error, error);
    assertEquals(status, expectedStatus);
    assertFalse(isAuthorizationTokenResponse(body));
    assertFalse(isAuthorizationDeviceResponse(body));
    assertFalse(isAuthorizationDynamicClientRegistrationResponse(body));
  }
  assert(isAuthorizationServerMetadata(metadata));
  assertFalse(isAuthorizationErrorResponse(metadata));
});

const secret = machine.client_secret;
const jwt = "header.pay+load=.sig & ü";
const audience = "https://as.example/a?b=c&d";
const resource = `${RESOURCE}?a=1&b`;
const scopes = ["mcp:read", "mcp:write"];

const bodies: [name: string, URLSearchParams, sent: [string, string][]][] = [
  [
    "buildResourceRedemptionBody",
    buildResourceRedemptionBody("machine", secret, jwt, resource, scopes),
    [
      ["client_id", "machine"],
      ["client_secret", secret],
      ["grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
      ["assertion", jwt],
      ["resource", resource],
      ["scope", "mcp:read mcp:write"],
    ],
  ],
  [
    "buildIdJagExchangeBody",
    buildIdJagExchangeBody("machine", secret, jwt, audience, resource, scopes),
    [
      ["client_id", "machine"],
      ["client_secret", secret],
      ["grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"],
      ["subject_token", jwt],
      ["subject_token_type", "urn:ietf:params:oauth:token-type:id_token"],
      ["requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"],
      ["audience", audience],
      ["resource", resource],
      ["scope", "mcp:read mcp:write"],
    ],
  ],
];

for (const [name, form, sent] of bodies) {
  Deno.test(`${name}() makes a body that oidc-provider reads as it was meant`, async () => {
    const grantType = Object.fromEntries(sent).grant_type!;
    const client = { ...machine, grant_types: [grantType] };
    await using server = await startAuthorizationServer({ clients: [client] });
    let received: unknown;
    server.provider.registerGrantType(grantType, (ctx) => {
      received = Object.entries(ctx.oidc.body ?? {});
      ctx.body = { access_token: "granted", token_type: "Bearer" };
    });
    const { status, body } = await post(`${server.issuer}/token`, form);
    assertEquals(body, { access_token: "granted", token_type: "Bearer" });
    assertEquals(status, 200);
    assertEquals(received, sent);
  });

  Deno.test(`${name}() is refused where the grant is unknown`, async () => {
    await using server = await startAuthorizationServer({ clients: [machine] });
    const { status, body } = await post(`${server.issuer}/token`, form);
    assertEquals(status, 400);
    assert(isAuthorizationErrorResponse(body));
    assertEquals(body.error, AuthorizationErrorType.UnsupportedGrantType);
  });
}
