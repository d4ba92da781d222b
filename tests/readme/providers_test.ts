/** What `.github/docs/providers.md` says of discovery, with the documents of its sources. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  discoverAuthorization,
  type DiscoverAuthorizationOptions,
  OAuthClientError,
} from "../../mod.ts";
import { encodeBase64Url } from "../support/base64url.ts";

const RESOURCE = ".well-known/oauth-protected-resource";
const SERVER = ".well-known/oauth-authorization-server";
const OPENID = ".well-known/openid-configuration";
const ATLASSIAN = "auth.atlassian.com/VCeDsk8ZHncYF1g234fKtc4lNipbBhu3";
const SALESFORCE = "api.salesforce.com:443/platform/mcp/v1/platform/x";
const ORGANIZATIONS = "https://login.microsoftonline.com/organizations/v2.0";

/** Members that all servers publish in some form. */
const serverOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
});

/** Target, documents by URL without `https://`, options that help, and issuer. */
const PROVIDERS: Record<string, [
  target: string,
  documents: Record<string, unknown>,
  options: DiscoverAuthorizationOptions,
  issuer: string,
]> = {
  "Atlassian v1": ["https://mcp.atlassian.com/v1/mcp", {
    [`mcp.atlassian.com/${SERVER}`]: serverOf("https://cf.mcp.atlassian.com"),
  }, {
    trustedIssuers: {
      "https://mcp.atlassian.com": "https://cf.mcp.atlassian.com",
    },
  }, "https://cf.mcp.atlassian.com"],
  "Atlassian authv2": ["https://mcp.atlassian.com/v1/mcp/authv2", {
    [`mcp.atlassian.com/${RESOURCE}/v1/mcp/authv2`]: {
      resource: "https://mcp.atlassian.com/v1/mcp/authv2",
      authorization_servers: [`https://${ATLASSIAN}`],
    },
    [`auth.atlassian.com/${SERVER}/VCeDsk8ZHncYF1g234fKtc4lNipbBhu3`]: serverOf(
      "https://auth.atlassian.com",
    ),
  }, {
    trustedIssuers: { [`https://${ATLASSIAN}`]: "https://auth.atlassian.com" },
  }, "https://auth.atlassian.com"],
  "Slack in spring 2026": ["https://mcp.slack.com/mcp", {
    [`mcp.slack.com/${RESOURCE}`]: {
      resource: "https://mcp.slack.com",
      authorization_servers: ["https://mcp.slack.com"],
    },
    [`mcp.slack.com/${SERVER}`]: serverOf("https://slack.com"),
  }, {
    trustedIssuers: { "https://mcp.slack.com": "https://slack.com" },
  }, "https://slack.com"],
  "Salesforce": ["https://api.salesforce.com/platform/mcp/v1/platform/x", {
    [`api.salesforce.com/${RESOURCE}/platform/mcp/v1/platform/x`]: {
      resource: "https://api.salesforce.com/platform/mcp/v1/platform/x",
      authorization_servers: [`https://${SALESFORCE}`],
    },
    [`api.salesforce.com/${SERVER}/platform/mcp/v1/platform/x`]: serverOf(
      "https://login.salesforce.com",
    ),
    [`login.salesforce.com/${OPENID}`]: serverOf(
      "https://login.salesforce.com",
    ),
  }, {
    authorizationServer: "https://login.salesforce.com",
  }, "https://login.salesforce.com"],
  "Entra, for any organization": ["https://api.contoso.example", {
    [`login.microsoftonline.com/organizations/v2.0/${OPENID}`]: serverOf(
      "https://login.microsoftonline.com/{tenantid}/v2.0",
    ),
  }, {
    authorizationServer: ORGANIZATIONS,
    trustedIssuers: {
      [ORGANIZATIONS]: "https://login.microsoftonline.com/{tenantid}/v2.0",
    },
  }, "https://login.microsoftonline.com/{tenantid}/v2.0"],
};

const PLAIN: typeof PROVIDERS = {
  "Slack since": [
    "https://mcp.slack.com/mcp",
    {
      [`mcp.slack.com/${RESOURCE}`]: {
        resource: "https://mcp.slack.com",
        authorization_servers: ["https://mcp.slack.com"],
      },
      [`mcp.slack.com/${SERVER}`]: {
        issuer: "https://mcp.slack.com",
        authorization_endpoint: "https://slack.com/oauth/v2_user/authorize",
        token_endpoint: "https://slack.com/api/oauth.v2.user.access",
      },
    },
    {},
    "https://mcp.slack.com",
  ],
  "HubSpot": [
    "https://mcp.hubspot.com",
    {
      [`mcp.hubspot.com/${SERVER}`]: {
        issuer: "https://mcp.hubspot.com",
        authorization_endpoint: "https://mcp.hubspot.com/oauth/authorize/user",
        token_endpoint: "https://mcp.hubspot.com/oauth/v3/token",
        token_endpoint_auth_methods_supported: ["client_secret_post"],
        code_challenge_methods_supported: ["S256"],
      },
    },
    {},
    "https://mcp.hubspot.com",
  ],
  "GitHub, whose metadata is before its path": ["https://api.github.com", {
    [`github.com/${SERVER}/login/oauth`]: serverOf(
      "https://github.com/login/oauth",
    ),
  }, {
    authorizationServer: "https://github.com/login/oauth",
  }, "https://github.com/login/oauth"],
  "Google's MCP servers": [
    "https://gmailmcp.googleapis.com/mcp/v1",
    {
      [`gmailmcp.googleapis.com/${RESOURCE}/mcp/v1`]: {
        resource: "https://gmailmcp.googleapis.com/mcp/v1",
        authorization_servers: ["https://accounts.google.com/"],
      },
      [`accounts.google.com/${OPENID}`]: serverOf(
        "https://accounts.google.com",
      ),
    },
    {},
    "https://accounts.google.com",
  ],
  "Auth0, named without its slash": [
    "https://api.example/mcp",
    {
      [`api.example/${RESOURCE}/mcp`]: {
        resource: "https://api.example/mcp",
        authorization_servers: ["https://tenant.auth0.com"],
      },
      [`tenant.auth0.com/${OPENID}`]: serverOf("https://tenant.auth0.com/"),
    },
    {},
    "https://tenant.auth0.com/",
  ],
  "Google, named with a slash": ["https://api.example/mcp", {
    [`accounts.google.com/${OPENID}`]: serverOf("https://accounts.google.com"),
  }, {
    authorizationServer: "https://accounts.google.com/",
  }, "https://accounts.google.com"],
};

function fetchFrom(documents: Record<string, unknown>) {
  return (input: string | URL | Request) => {
    const { host, pathname } = new URL(`${input}`);
    const document = documents[host + pathname];
    return Promise.resolve(
      document ? Response.json(document) : new Response(null, { status: 404 }),
    );
  };
}

for (const [name, row] of Object.entries({ ...PROVIDERS, ...PLAIN })) {
  const [target, documents, options, issuer] = row;
  const fetch = fetchFrom(documents);
  Deno.test(`providers.md is right about the options of ${name}`, async () => {
    const found = await discoverAuthorization(target, { ...options, fetch });
    assertEquals(found.issuer, issuer);
    if (!(name in PROVIDERS)) return;
    const { trustedIssuers: _, ...without } = options;
    const given = name === "Salesforce" ? {} : without;
    const error = await assertRejects(
      () => discoverAuthorization(target, { ...given, fetch }),
      OAuthClientError,
    );
    assertEquals(error.code, "discovery_failed");
    assertStringIncludes(error.message, "trustedIssuers");
  });
}

/** Signs in at Entra with the metadata of `organizations`; returns the status or the code. */
async function signInAtOrganizations(issuer: string, ...scopes: string[]) {
  const target = "https://api.contoso.example";
  const redirectUri = "http://localhost/callback";
  const [, documents, options] = PROVIDERS["Entra, for any organization"]!;
  const discovery = fetchFrom(documents);
  let nonce: string | null = null;
  const idToken = () => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      ...{ iss: "https://login.microsoftonline.com/5d1f4a0e/v2.0", sub: "ada" },
      ...{ aud: "ID", iat: now, exp: now + 600, nonce },
    };
    const parts = [{ alg: "RS256" }, claims]
      .map((part) => encodeBase64Url(JSON.stringify(part)));
    return [...parts, "c2lnbmF0dXJl"].join(".");
  };
  const api = createAuthorizedFetch(target, {
    ...options,
    fetch(input, init) {
      const url = String(input);
      if (url.startsWith(target)) {
        const isSignedIn = new Headers(init?.headers).has("Authorization");
        const headers = { "WWW-Authenticate": "Bearer" };
        const status = isSignedIn ? 200 : 401;
        return Promise.resolve(new Response(null, { status, headers }));
      }
      if (!url.endsWith("/token")) return discovery(input);
      return Promise.resolve(Response.json({
        ...{ access_token: "of-ada-at-orders", token_type: "Bearer" },
        ...{ expires_in: 3600, id_token: idToken() },
      }));
    },
    flow: codeFlow({
      ...{ redirectUri, client: { issuer, client_id: "ID" }, scopes },
      ...{ assumePkce: true, resourceIndicator: false },
      visit({ searchParams }) {
        nonce = searchParams.get("nonce");
        const state = searchParams.get("state");
        return Promise.resolve(`${redirectUri}?code=code&state=${state}`);
      },
    }),
  });
  return await api(target).then(
    ({ status }) => status,
    ({ code }) => code,
  );
}

const ORDERS = "api://ID/Orders.Read";
const TEMPLATE = "https://login.microsoftonline.com/{tenantid}/v2.0";

Deno.test("providers.md is right about the client of Entra's organizations", async () => {
  assertEquals(await signInAtOrganizations(TEMPLATE, ORDERS), 200);
  const tenant = "https://login.microsoftonline.com/5d1f4a0e/v2.0";
  for (const issuer of [tenant, ORGANIZATIONS]) {
    const code = await signInAtOrganizations(issuer, ORDERS);
    assertEquals(code, "issuer_mismatch");
  }
  const withOpenId = await signInAtOrganizations(TEMPLATE, ORDERS, "openid");
  assertEquals(withOpenId, "invalid_id_token");
});
