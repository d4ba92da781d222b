/**
 * Microsoft Entra ID, with an app registration that is client and API at once: a
 * discovery document whose issuer is a template, no `resource` parameter, refreshes
 * with a scope, and refresh tokens that stay valid after their use.
 *
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow
 * @see https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
 */
import {
  createSigningKey,
  createValues,
  credentialsOf,
  grantOf,
  type IGrant,
  isSameButForPort,
  isVerified,
  redirectBack,
  reply,
} from "./_grants.ts";
import {
  type IHostRequest,
  type IService,
  type IServiceOptions,
  notFound,
  startHosts,
  withUser,
} from "./_hosts.ts";

export const ENTRA = "https://login.microsoftonline.com";
export const ENTRA_API = "https://api.contoso.example";

/** The app registration, as the portal shows it. */
export const ENTRA_APP = {
  id: "8b0fe3a1-6d9f-4a42-8a4d-1c5c6f6b7f10",
  scope: "api://8b0fe3a1-6d9f-4a42-8a4d-1c5c6f6b7f10/Orders.Read",
  /** Of the platform "Mobile and desktop applications": any port is accepted. */
  redirectUri: "http://localhost/callback",
};

/** Seconds. */
const ACCESS_SECONDS = 3_920;
const REFRESH_SECONDS = 90 * 86_400;
const CODE_SECONDS = 600;

/** The tenant of the user, which the name "organizations" stands for. */
export const ENTRA_TENANT = "5d1f4a0e-2a2f-4d64-9c0a-7a3e3f1f0b6c";

/** An error response: the description says what the code does not. */
const refuse = (error: string, aadsts: number, status = 400) =>
  reply({
    error,
    error_description: `AADSTS${aadsts}: See the reference of error codes.`,
    error_codes: [aadsts],
    error_uri: `${ENTRA}/error?code=${aadsts}`,
  }, status);

/** The parameter `resource` does not match the scopes. */
const refuseResource = () => refuse("invalid_target", 9010010);

/** Returns the scopes of the API in a request. */
const apiScopesOf = (scopes: string[]) =>
  scopes.filter((scope) => scope === ENTRA_APP.scope);

export async function startEntra(
  { now = Date.now }: IServiceOptions = {},
): Promise<IService> {
  const key = await createSigningKey();
  const codes = createValues("1.A", now);
  const accessTokens = createValues("eyJ", now);
  const refreshTokens = createValues("1.B", now);

  async function issue(grant: IGrant, nonce?: string | null) {
    const { clientId, scopes } = grant;
    const access_token = accessTokens.issue(grant, ACCESS_SECONDS);
    const iat = Math.floor(now() / 1000);
    const claims = {
      // Not the name that the client used.
      iss: `${ENTRA}/${ENTRA_TENANT}/v2.0`,
      aud: clientId,
      sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
      tid: ENTRA_TENANT,
      iat,
      exp: iat + ACCESS_SECONDS,
      ...(nonce && { nonce }),
    };
    return reply({
      token_type: "Bearer",
      // Without offline_access, which is no scope of the token.
      scope: apiScopesOf(scopes).join(" "),
      expires_in: ACCESS_SECONDS,
      ext_expires_in: ACCESS_SECONDS,
      access_token,
      ...(scopes.includes("offline_access") && {
        refresh_token: refreshTokens.issue(grant, REFRESH_SECONDS),
      }),
      ...(scopes.includes("openid") && {
        id_token: await key.signIdToken(claims, access_token),
      }),
    });
  }

  function authorize({ url: { searchParams: query } }: IHostRequest): Response {
    const grant = grantOf(query);
    if (grant.clientId !== ENTRA_APP.id) {
      return refuse("unauthorized_client", 700016);
    }
    if (!isSameButForPort(grant.redirectUri, ENTRA_APP.redirectUri)) {
      return refuse("invalid_request", 50011);
    }
    if (query.has("resource")) return refuseResource();
    if (grant.scopes.length === 0) return refuse("invalid_request", 900144);
    return redirectBack(query, { code: codes.issue(grant, CODE_SECONDS) });
  }

  async function token(request: IHostRequest): Promise<Response> {
    const { form } = request;
    const { id, secret } = credentialsOf(request);
    if (id !== ENTRA_APP.id) return refuse("unauthorized_client", 700016);
    // The client is public.
    if (secret !== undefined) return refuse("invalid_client", 700025, 401);
    if (form.has("resource")) return refuseResource();
    if (form.get("grant_type") === "refresh_token") {
      const grant = refreshTokens.find(form.get("refresh_token"));
      if (!grant) return refuse("invalid_grant", 70008);
      const scopes = (form.get("scope") ?? "").split(" ");
      // Without a scope of the API, the token would be for the client itself.
      if (apiScopesOf(scopes).length === 0) {
        return refuse("invalid_request", 90009);
      }
      return await issue({ ...grant, scopes });
    }
    const grant = codes.take(form.get("code"));
    if (!grant) return refuse("invalid_grant", 70000);
    if (grant.redirectUri !== form.get("redirect_uri")) {
      return refuse("invalid_client", 500112);
    }
    // PKCE is required.
    if (grant.challenge === null) return refuse("invalid_request", 9002325);
    if (!isVerified(grant, form)) return refuse("invalid_grant", 501481);
    return await issue(grant, grant.nonce);
  }

  /** The document of a tenant. It has no list of PKCE methods. */
  function metadata(tenant: string): Response {
    const endpoints = `${ENTRA}/${tenant}/oauth2/v2.0`;
    return Response.json({
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
    });
  }

  const hosts = startHosts({
    ...Object.fromEntries(
      ["organizations", ENTRA_TENANT].flatMap((tenant) => [
        [
          `GET ${ENTRA}/${tenant}/v2.0/.well-known/openid-configuration`,
          () => metadata(tenant),
        ],
        [`GET ${ENTRA}/${tenant}/oauth2/v2.0/authorize`, authorize],
        [`POST ${ENTRA}/${tenant}/oauth2/v2.0/token`, token],
      ]),
    ),
    // A web API with the JWT bearer handler of ASP.NET Core.
    [ENTRA_API]({ url, bearer }) {
      if (!url.pathname.startsWith("/orders")) return notFound();
      const grant = accessTokens.find(bearer);
      if (grant && apiScopesOf(grant.scopes).length > 0) {
        return Response.json({ url: url.href });
      }
      const challenge = bearer ? 'Bearer error="invalid_token"' : "Bearer";
      const headers = { "WWW-Authenticate": challenge };
      return new Response(null, { status: 401, headers });
    },
  });
  return withUser(hosts, "/oauth2/v2.0/authorize", (all) => {
    refreshTokens.clear();
    if (all) accessTokens.clear();
  });
}
