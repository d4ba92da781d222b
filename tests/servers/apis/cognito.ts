/**
 * Amazon Cognito, with an API of API Gateway whose authorizer requires the ID token:
 * the issuer has another host than the endpoints, and a refresh returns a new ID token
 * but no refresh token.
 *
 * @see https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-integrate-with-cognito.html
 */
import { errors, jwtVerify } from "jose";
import {
  createSigningKey,
  createValues,
  credentialsOf,
  grantOf,
  type IGrant,
  isVerified,
  redirectBack,
  reply,
} from "./_grants.ts";
import {
  type IHostRequest,
  type IService,
  type IServiceOptions,
  startHosts,
  withUser,
} from "./_hosts.ts";

const IDP = "https://cognito-idp.eu-central-1.amazonaws.com";
export const COGNITO_POOL = "eu-central-1_AbCdEfGhI";
export const COGNITO_ISSUER = `${IDP}/${COGNITO_POOL}`;
export const COGNITO_DOMAIN =
  "https://contoso.auth.eu-central-1.amazoncognito.com";
export const COGNITO_API =
  "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com";

/** The app client, as the console shows it. */
export const COGNITO_CLIENT = {
  id: "1example23456789",
  secret: "9example87654321",
  /** Compared character by character, with its port. */
  redirectUri: "http://localhost:8765/callback",
};

/** Seconds. */
const TOKEN_SECONDS = 3_600;
const REFRESH_SECONDS = 30 * 86_400;
const CODE_SECONDS = 300;

const SCOPES = ["openid", "email", "phone", "profile"];

const refuse = (error: string) => reply({ error }, 400);

/** An error of API Gateway, which has no `WWW-Authenticate`. */
const apiError = (status: number, message: string) =>
  Response.json({ message }, { status });

export async function startCognito(
  { now = Date.now }: IServiceOptions = {},
): Promise<IService> {
  const key = await createSigningKey();
  const codes = createValues("", now);
  const refreshTokens = createValues("", now);

  async function issue(grant: IGrant, nonce?: string | null) {
    const iat = Math.floor(now() / 1000);
    const common = {
      iss: COGNITO_ISSUER,
      sub: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
      iat,
      exp: iat + TOKEN_SECONDS,
      jti: crypto.randomUUID(),
    };
    const access_token = await key.sign({
      ...common,
      token_use: "access",
      client_id: grant.clientId,
      scope: grant.scopes.join(" "),
    });
    const claims = {
      ...common,
      token_use: "id",
      aud: grant.clientId,
      ...(nonce && { nonce }),
    };
    return {
      access_token,
      expires_in: TOKEN_SECONDS,
      token_type: "Bearer",
      ...(grant.scopes.includes("openid") && {
        id_token: await key.signIdToken(claims, access_token),
      }),
    };
  }

  function authorize({ url: { searchParams: query } }: IHostRequest): Response {
    const grant = grantOf(query);
    if (
      grant.clientId !== COGNITO_CLIENT.id ||
      grant.redirectUri !== COGNITO_CLIENT.redirectUri
    ) {
      // The page in place of a redirect.
      return new Response("An error was encountered with the requested page.", {
        status: 400,
      });
    }
    if (grant.scopes.some((scope) => !SCOPES.includes(scope))) {
      return redirectBack(query, { error: "invalid_scope" });
    }
    return redirectBack(query, { code: codes.issue(grant, CODE_SECONDS) });
  }

  async function token(request: IHostRequest): Promise<Response> {
    const { form } = request;
    const { id, secret } = credentialsOf(request);
    if (id !== COGNITO_CLIENT.id || secret !== COGNITO_CLIENT.secret) {
      return refuse("invalid_client");
    }
    if (form.get("grant_type") === "refresh_token") {
      const grant = refreshTokens.find(form.get("refresh_token"));
      return grant ? reply(await issue(grant)) : refuse("invalid_grant");
    }
    const grant = codes.take(form.get("code"));
    const isValid = grant?.redirectUri === form.get("redirect_uri") &&
      isVerified(grant, form);
    if (!isValid) return refuse("invalid_grant");
    return reply({
      ...await issue(grant, grant.nonce),
      refresh_token: refreshTokens.issue(grant, REFRESH_SECONDS),
    });
  }

  async function api({ url, bearer }: IHostRequest): Promise<Response> {
    if (!url.pathname.startsWith("/prod/")) {
      // What API Gateway has no route for.
      return apiError(403, "Missing Authentication Token");
    }
    try {
      const { payload } = await jwtVerify(bearer ?? "", key.publicKey, {
        issuer: COGNITO_ISSUER,
        audience: COGNITO_CLIENT.id,
        currentDate: new Date(now()),
      });
      if (payload.token_use === "id") return Response.json({ url: url.href });
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      if (error instanceof errors.JWTExpired) {
        return apiError(401, "The incoming token has expired");
      }
    }
    return apiError(401, "Unauthorized");
  }

  const hosts = startHosts({
    [`GET ${COGNITO_ISSUER}/.well-known/openid-configuration`]: () =>
      Response.json({
        issuer: COGNITO_ISSUER,
        authorization_endpoint: `${COGNITO_DOMAIN}/oauth2/authorize`,
        token_endpoint: `${COGNITO_DOMAIN}/oauth2/token`,
        revocation_endpoint: `${COGNITO_DOMAIN}/oauth2/revoke`,
        jwks_uri: `${COGNITO_ISSUER}/.well-known/jwks.json`,
        response_types_supported: ["code", "token"],
        scopes_supported: SCOPES,
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        token_endpoint_auth_methods_supported: [
          "client_secret_basic",
          "client_secret_post",
        ],
      }),
    [`GET ${COGNITO_DOMAIN}/oauth2/authorize`]: authorize,
    [`POST ${COGNITO_DOMAIN}/oauth2/token`]: token,
    [COGNITO_API]: api,
  });
  return withUser(hosts, "/oauth2/authorize", () => refreshTokens.clear());
}
