/** What `.github/docs/providers.md` says of discovery, with the documents of its sources. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  discoverAuthorization,
  type IDiscoverAuthorizationOptions,
  OAuthClientError,
} from "../../mod.ts";

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
  options: IDiscoverAuthorizationOptions,
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

/** Documents that need no option. */
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
