/**
 * Microsoft Entra ID, with an app registration that is client and API at once: a
 * discovery document whose issuer is a template, no `resource` parameter, refreshes
 * with a scope, and refresh tokens that stay valid after their use.
 *
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
 */
import { notFound, type ServiceOptions } from "./_hosts.ts";
import { exceptPort, reply, startVendor, type Vendor } from "./_vendor.ts";

export const ENTRA = "https://login.microsoftonline.com";
export const ENTRA_API = "https://api.contoso.example";

/** The app registration, as the portal shows it. */
export const ENTRA_APP = {
  id: "8b0fe3a1-6d9f-4a42-8a4d-1c5c6f6b7f10",
  scope: "api://8b0fe3a1-6d9f-4a42-8a4d-1c5c6f6b7f10/Orders.Read",
  /** Of the platform "Mobile and desktop applications": any port is accepted. */
  redirectUri: "http://localhost/callback",
};

/** The tenant of the user, which the name "organizations" stands for. */
export const ENTRA_TENANT = "5d1f4a0e-2a2f-4d64-9c0a-7a3e3f1f0b6c";
const TENANTS = ["organizations", ENTRA_TENANT];

const apiScopesOf = (scopes: readonly string[]) =>
  scopes.filter((scope) => scope === ENTRA_APP.scope);

const scopesOf = (form: URLSearchParams) =>
  (form.get("scope") ?? "").split(" ");

/** The document of a tenant. It has no list of PKCE methods. */
function metadataOf(tenant: string) {
  const endpoints = `${ENTRA}/${tenant}/oauth2/v2.0`;
  return {
    token_endpoint: `${endpoints}/token`,
    token_endpoint_auth_methods_supported: [
      "client_secret_post",
      "private_key_jwt",
      "client_secret_basic",
    ],
    jwks_uri: `${ENTRA}/${tenant}/discovery/v2.0/keys`,
    response_modes_supported: ["query", "fragment", "form_post"],
    subject_types_supported: ["pairwise"],
    id_token_signing_alg_values_supported: ["RS256"],
    response_types_supported: [
      "code",
      "id_token",
      "code id_token",
      "id_token token",
    ],
    scopes_supported: ["openid", "profile", "email", "offline_access"],
    issuer: `${ENTRA}/${
      tenant === ENTRA_TENANT ? ENTRA_TENANT : "{tenantid}"
    }/v2.0`,
    request_uri_parameter_supported: false,
    authorization_endpoint: `${endpoints}/authorize`,
    device_authorization_endpoint: `${endpoints}/devicecode`,
    tenant_region_scope: tenant === ENTRA_TENANT ? "EU" : null,
  };
}

/** Each error with its number, which says what the code does not. */
const ERRORS = {
  client: ["unauthorized_client", 700016],
  // The client is public.
  secret: ["invalid_client", 700025, 401],
  redirect_uri: ["invalid_request", 50011],
  // The parameter `resource` does not match the scopes.
  resource: ["invalid_target", 9010010],
  no_scope: ["invalid_request", 900144],
  code: ["invalid_grant", 70000],
  code_redirect: ["invalid_client", 500112],
  // PKCE is required.
  no_challenge: ["invalid_request", 9002325],
  verifier: ["invalid_grant", 501481],
  refresh_token: ["invalid_grant", 70008],
  // Without a scope of the API, the token would be for the client itself.
  own_scope: ["invalid_request", 90009],
} as const;

const VENDOR: Vendor<"resource" | "no_scope" | "no_challenge" | "own_scope"> = {
  authorize: TENANTS.map((name) => `${ENTRA}/${name}/oauth2/v2.0/authorize`),
  token: TENANTS.map((name) => `${ENTRA}/${name}/oauth2/v2.0/token`),
  documents: Object.fromEntries(TENANTS.map((name) => [
    `${ENTRA}/${name}/v2.0/.well-known/openid-configuration`,
    metadataOf(name),
  ])),
  clients: [
    { id: ENTRA_APP.id, isRegistered: exceptPort(ENTRA_APP.redirectUri) },
  ],
  prefixes: { code: "1.A", access: "eyJ", refresh: "1.B" },
  seconds: { code: 600, access: 3_920, refresh: 90 * 86_400 },
  refresh: "another token",
  refuse(problem) {
    const [error, aadsts, status = 400] = ERRORS[problem];
    return reply({
      error,
      error_description: `AADSTS${aadsts}: See the reference of error codes.`,
      error_codes: [aadsts],
      error_uri: `${ENTRA}/error?code=${aadsts}`,
    }, status);
  },
  checkVisit(query, scopes) {
    if (query.has("resource")) return "resource";
    return scopes.length === 0 ? "no_scope" : undefined;
  },
  checkToken(form, grant) {
    if (form.has("resource")) return "resource";
    if (grant) return grant.challenge === null ? "no_challenge" : undefined;
    return apiScopesOf(scopesOf(form)).length === 0 ? "own_scope" : undefined;
  },
  mayRefresh: ({ scopes }) => scopes.includes("offline_access"),
  refreshScopes: scopesOf,
  claims: ({ clientId }) => ({
    // Not the name that the client used.
    iss: `${ENTRA}/${ENTRA_TENANT}/v2.0`,
    aud: clientId,
    sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
    tid: ENTRA_TENANT,
  }),
  members: ({ scopes }) => ({
    // Without offline_access, which is no scope of the token.
    scope: apiScopesOf(scopes).join(" "),
    ext_expires_in: 3_920,
  }),
  apis: ({ grantOf }) => ({
    // A web API with the JWT bearer handler of ASP.NET Core.
    [ENTRA_API]({ url, bearer }) {
      if (!url.pathname.startsWith("/orders")) return notFound();
      const grant = grantOf(bearer);
      if (grant && apiScopesOf(grant.scopes).length > 0) {
        return Response.json({ url: url.href });
      }
      const challenge = bearer ? 'Bearer error="invalid_token"' : "Bearer";
      const headers = { "WWW-Authenticate": challenge };
      return new Response(null, { status: 401, headers });
    },
  }),
};

export const startEntra = (options?: ServiceOptions) =>
  startVendor(VENDOR, options);
