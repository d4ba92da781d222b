/**
 * Amazon Cognito, with an API of API Gateway whose authorizer requires the ID token:
 * the issuer has another host than the endpoints, and a refresh returns a new ID token
 * but no refresh token.
 *
 * @see https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-integrate-with-cognito.html
 */
import { errors, jwtVerify } from "jose";
import type { HostRequest, ServiceOptions } from "./_hosts.ts";
import {
  type Issued,
  redirectBack,
  reply,
  startVendor,
  type Vendor,
} from "./_vendor.ts";

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

const SCOPES = ["openid", "email", "phone", "profile"];

/** An error of API Gateway, which has no `WWW-Authenticate`. */
const apiError = (status: number, message: string) =>
  Response.json({ message }, { status });

const api =
  ({ publicKey, now }: Issued) => async ({ url, bearer }: HostRequest) => {
    if (!url.pathname.startsWith("/prod/")) {
      // What API Gateway has no route for.
      return apiError(403, "Missing Authentication Token");
    }
    try {
      const { payload } = await jwtVerify(bearer ?? "", publicKey, {
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
  };

const VENDOR: Vendor<"scope"> = {
  authorize: [`${COGNITO_DOMAIN}/oauth2/authorize`],
  token: [`${COGNITO_DOMAIN}/oauth2/token`],
  documents: {
    [`${COGNITO_ISSUER}/.well-known/openid-configuration`]: {
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
    },
  },
  clients: [{
    ...COGNITO_CLIENT,
    isRegistered: (uri) => uri === COGNITO_CLIENT.redirectUri,
  }],
  prefixes: { code: "", refresh: "" },
  seconds: { code: 300, access: 3_600, refresh: 30 * 86_400 },
  refresh: "no token",
  refuse(problem, sent) {
    if (problem === "scope") {
      return redirectBack(sent, { error: "invalid_scope" });
    }
    // The page in place of a redirect.
    const page = "An error was encountered with the requested page.";
    if (sent.has("response_type")) return new Response(page, { status: 400 });
    const isClient = problem === "client" || problem === "secret";
    return reply({ error: isClient ? "invalid_client" : "invalid_grant" }, 400);
  },
  checkVisit: (_query, scopes) =>
    scopes.every((scope) => SCOPES.includes(scope)) ? undefined : "scope",
  claims: ({ clientId, scopes }, use) => ({
    iss: COGNITO_ISSUER,
    sub: "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
    token_use: use,
    ...(use === "id"
      ? { aud: clientId }
      : { client_id: clientId, scope: scopes.join(" ") }),
  }),
  apis: (issued) => ({ [COGNITO_API]: api(issued) }),
};

export const startCognito = (options?: ServiceOptions) =>
  startVendor(VENDOR, options);
