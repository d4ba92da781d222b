/**
 * Google: one token for the hosts of several APIs, a refresh token only for those who
 * request offline access, and none in the response to a refresh.
 *
 * @see https://developers.google.com/identity/protocols/oauth2/web-server
 * @see https://developers.google.com/identity/protocols/oauth2/native-app
 */
import { type HostRequest, notFound, type ServiceOptions } from "./_hosts.ts";
import {
  exceptPort,
  type Issued,
  reply,
  startVendor,
  type Vendor,
} from "./_vendor.ts";

export const GOOGLE_ACCOUNTS = "https://accounts.google.com";
export const GOOGLE_TOKENS = "https://oauth2.googleapis.com";
export const GOOGLE_APIS = "https://www.googleapis.com";
export const GMAIL = "https://gmail.googleapis.com";

export const DRIVE_SCOPE = "https://www.googleapis.com/auth/drive.readonly";
export const GMAIL_SCOPE = "https://www.googleapis.com/auth/gmail.readonly";

/** A client of the type "Web application", as the console shows it. */
export const GOOGLE_WEB_CLIENT = {
  id: "1-web.apps.googleusercontent.com",
  secret: "GOCSPX-web",
  redirectUri: "https://app.example/callback",
};
/** A client of the type "Desktop app": its redirect URIs are not registered. */
export const GOOGLE_DESKTOP_CLIENT = {
  id: "1-desktop.apps.googleusercontent.com",
  secret: "GOCSPX-desktop",
};

const SCOPES = ["openid", "email", "profile", DRIVE_SCOPE, GMAIL_SCOPE];
const PROMPTS = ["none", "consent", "select_account"];
const REALM = `Bearer realm="${GOOGLE_ACCOUNTS}/"`;

const promptsOf = (query: URLSearchParams) =>
  query.get("prompt")?.split(" ") ?? [];

function apiError(code: number, status: string, challenge?: string): Response {
  return Response.json({ error: { code, status } }, {
    status: code,
    headers: challenge ? { "WWW-Authenticate": challenge } : {},
  });
}

const REQUIRED: Record<string, string> = {
  [`${GOOGLE_APIS}/drive/v3/files`]: DRIVE_SCOPE,
  [`${GMAIL}/gmail/v1/users/me/profile`]: GMAIL_SCOPE,
};

const api = ({ grantOf }: Issued) => ({ url, bearer }: HostRequest) => {
  const scope = REQUIRED[url.origin + url.pathname];
  if (!scope) return notFound();
  if (!bearer) {
    return url.origin === GMAIL
      ? apiError(401, "UNAUTHENTICATED", REALM)
      // Without an identity of the caller, an API key would do.
      : apiError(403, "PERMISSION_DENIED");
  }
  const grant = grantOf(bearer);
  if (!grant) {
    const challenge = `${REALM}, error="invalid_token"`;
    return apiError(401, "UNAUTHENTICATED", challenge);
  }
  if (!grant.scopes.includes(scope)) {
    const error = `error="insufficient_scope", scope="${scope}"`;
    return apiError(403, "PERMISSION_DENIED", `${REALM}, ${error}`);
  }
  return Response.json({ url: url.href });
};

const ERRORS = {
  client: ["invalid_client", 401],
  secret: ["invalid_client", 401],
  redirect_uri: ["redirect_uri_mismatch"],
  no_scope: ["invalid_request"],
  scope: ["invalid_scope"],
  prompt: ["invalid_request"],
  code: ["invalid_grant"],
  code_redirect: ["redirect_uri_mismatch"],
  verifier: ["invalid_grant"],
  refresh_token: ["invalid_grant"],
} as const;

const VENDOR: Vendor<"no_scope" | "scope" | "prompt"> = {
  authorize: [`${GOOGLE_ACCOUNTS}/o/oauth2/v2/auth`],
  token: [`${GOOGLE_TOKENS}/token`],
  documents: {
    [`${GOOGLE_ACCOUNTS}/.well-known/openid-configuration`]: {
      issuer: GOOGLE_ACCOUNTS,
      authorization_endpoint: `${GOOGLE_ACCOUNTS}/o/oauth2/v2/auth`,
      token_endpoint: `${GOOGLE_TOKENS}/token`,
      revocation_endpoint: `${GOOGLE_TOKENS}/revoke`,
      jwks_uri: `${GOOGLE_APIS}/oauth2/v3/certs`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
      scopes_supported: ["openid", "email", "profile"],
      token_endpoint_auth_methods_supported: [
        "client_secret_post",
        "client_secret_basic",
      ],
      code_challenge_methods_supported: ["plain", "S256"],
      grant_types_supported: ["authorization_code", "refresh_token"],
    },
  },
  clients: [
    {
      ...GOOGLE_WEB_CLIENT,
      isRegistered: (uri) => uri === GOOGLE_WEB_CLIENT.redirectUri,
    },
    {
      ...GOOGLE_DESKTOP_CLIENT,
      isRegistered(uri) {
        const path = URL.parse(uri)?.pathname;
        return exceptPort(`http://127.0.0.1${path}`)(uri) ||
          exceptPort(`http://localhost${path}`)(uri);
      },
    },
  ],
  prefixes: { code: "4/0", access: "ya29.", refresh: "1//0" },
  seconds: { code: 600, access: 3_599, refresh: 180 * 86_400 },
  refresh: "no token",
  refuse(problem, sent) {
    const [error, status = 400] = ERRORS[problem];
    if (sent.has("response_type")) {
      // The page in place of a redirect.
      return new Response(`Error 400: ${error}`, { status: 400 });
    }
    // The secret is required of a desktop client, too.
    return problem === "secret" && !sent.has("client_secret")
      ? reply({ error: "invalid_request" }, 400)
      : reply({ error }, status);
  },
  checkVisit(query, scopes) {
    if (scopes.length === 0) return "no_scope";
    if (!scopes.every((scope) => SCOPES.includes(scope))) return "scope";
    return promptsOf(query).every((prompt) => PROMPTS.includes(prompt))
      ? undefined
      : "prompt";
  },
  // A web client receives it only after the consent page, a desktop client always.
  mayRefresh: ({ clientId }, query, isNew) =>
    clientId === GOOGLE_DESKTOP_CLIENT.id ||
    (query.get("access_type") === "offline" &&
      (isNew || promptsOf(query).includes("consent"))),
  callback: ({ scopes }) => ({ scope: scopes.join(" ") }),
  claims: ({ clientId }) => ({
    iss: GOOGLE_ACCOUNTS,
    azp: clientId,
    aud: clientId,
    sub: "110169484474386276334",
  }),
  members: ({ scopes }) => ({ scope: scopes.join(" ") }),
  apis: (issued) => ({ [GOOGLE_APIS]: api(issued), [GMAIL]: api(issued) }),
};

export const startGoogle = (options?: ServiceOptions) =>
  startVendor(VENDOR, options);
