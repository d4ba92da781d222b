/**
 * Google: one token for the hosts of several APIs, a refresh token only for those who
 * request offline access, and none in the response to a refresh.
 *
 * @see https://developers.google.com/identity/protocols/oauth2/web-server
 * @see https://developers.google.com/identity/protocols/oauth2/native-app
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

/** Seconds. */
const ACCESS_SECONDS = 3_599;
const REFRESH_SECONDS = 180 * 86_400;
const CODE_SECONDS = 600;

const SCOPES = ["openid", "email", "profile", DRIVE_SCOPE, GMAIL_SCOPE];
const PROMPTS = ["none", "consent", "select_account"];
const REALM = `Bearer realm="${GOOGLE_ACCOUNTS}/"`;

/** The page in place of a redirect. */
const errorPage = (error: string) =>
  new Response(`Error 400: ${error}`, { status: 400 });

const refuse = (error: string, status = 400) => reply({ error }, status);

/** An error of an API, with its challenge if it has one. */
function apiError(code: number, status: string, challenge?: string): Response {
  return Response.json({ error: { code, status } }, {
    status: code,
    headers: challenge ? { "WWW-Authenticate": challenge } : {},
  });
}

/** The scope that each call requires. */
const REQUIRED: Record<string, string> = {
  [`${GOOGLE_APIS}/drive/v3/files`]: DRIVE_SCOPE,
  [`${GMAIL}/gmail/v1/users/me/profile`]: GMAIL_SCOPE,
};

export async function startGoogle(
  { now = Date.now }: IServiceOptions = {},
): Promise<IService> {
  const key = await createSigningKey();
  const codes = createValues("4/0", now);
  const accessTokens = createValues("ya29.", now);
  const refreshTokens = createValues("1//0", now);
  /** The web clients that the user has agreed to. */
  const agreed = new Set<string>();
  /** The codes with which a refresh token is issued. */
  const offline = new Set<string>();

  async function issue(grant: IGrant, nonce?: string | null) {
    const { clientId, scopes } = grant;
    const access_token = accessTokens.issue(grant, ACCESS_SECONDS);
    const iat = Math.floor(now() / 1000);
    const claims = {
      iss: GOOGLE_ACCOUNTS,
      azp: clientId,
      aud: clientId,
      sub: "110169484474386276334",
      iat,
      exp: iat + 3600,
      ...(nonce && { nonce }),
    };
    return {
      access_token,
      expires_in: ACCESS_SECONDS,
      scope: scopes.join(" "),
      token_type: "Bearer",
      ...(scopes.includes("openid") && {
        id_token: await key.signIdToken(claims, access_token),
      }),
    };
  }

  function authorize({ url: { searchParams: query } }: IHostRequest): Response {
    const grant = grantOf(query);
    const { clientId, redirectUri, scopes } = grant;
    const isWeb = clientId === GOOGLE_WEB_CLIENT.id;
    if (!isWeb && clientId !== GOOGLE_DESKTOP_CLIENT.id) {
      return errorPage("invalid_client");
    }
    const path = URL.parse(redirectUri)?.pathname;
    const isRegistered = isWeb
      ? redirectUri === GOOGLE_WEB_CLIENT.redirectUri
      : isSameButForPort(redirectUri, `http://127.0.0.1${path}`) ||
        isSameButForPort(redirectUri, `http://localhost${path}`);
    if (!isRegistered) return errorPage("redirect_uri_mismatch");
    if (scopes.length === 0) return errorPage("invalid_request");
    if (!scopes.every((scope) => SCOPES.includes(scope))) {
      return errorPage("invalid_scope");
    }
    const prompts = query.get("prompt")?.split(" ") ?? [];
    if (!prompts.every((prompt) => PROMPTS.includes(prompt))) {
      return errorPage("invalid_request");
    }
    const code = codes.issue(grant, CODE_SECONDS);
    const sees = prompts.includes("consent") || !agreed.has(clientId);
    const isOffline = query.get("access_type") === "offline";
    // A web client receives it only after the consent page, a desktop client always.
    if (!isWeb || (isOffline && sees)) offline.add(code);
    agreed.add(clientId);
    return redirectBack(query, { code, scope: scopes.join(" ") });
  }

  async function token(request: IHostRequest): Promise<Response> {
    const { form } = request;
    const { id, secret } = credentialsOf(request);
    const client = [GOOGLE_WEB_CLIENT, GOOGLE_DESKTOP_CLIENT]
      .find((one) => one.id === id);
    if (!client) return refuse("invalid_client", 401);
    // Of a desktop client, too.
    if (secret === undefined) return refuse("invalid_request");
    if (secret !== client.secret) return refuse("invalid_client", 401);
    if (form.get("grant_type") === "refresh_token") {
      const grant = refreshTokens.find(form.get("refresh_token"));
      return grant?.clientId === id
        ? reply(await issue(grant))
        : refuse("invalid_grant");
    }
    const code = form.get("code") ?? "";
    const grant = codes.take(code);
    if (grant?.clientId !== id) return refuse("invalid_grant");
    if (grant.redirectUri !== form.get("redirect_uri")) {
      return refuse("redirect_uri_mismatch");
    }
    if (!isVerified(grant, form)) return refuse("invalid_grant");
    return reply({
      ...await issue(grant, grant.nonce),
      ...(offline.delete(code) && {
        refresh_token: refreshTokens.issue(grant, REFRESH_SECONDS),
      }),
    });
  }

  function api({ url, bearer }: IHostRequest): Response {
    const scope = REQUIRED[url.origin + url.pathname];
    if (!scope) return notFound();
    if (!bearer) {
      return url.origin === GMAIL
        ? apiError(401, "UNAUTHENTICATED", REALM)
        // Without an identity of the caller, an API key would do.
        : apiError(403, "PERMISSION_DENIED");
    }
    const grant = accessTokens.find(bearer);
    if (!grant) {
      const challenge = `${REALM}, error="invalid_token"`;
      return apiError(401, "UNAUTHENTICATED", challenge);
    }
    if (!grant.scopes.includes(scope)) {
      const error = `error="insufficient_scope", scope="${scope}"`;
      return apiError(403, "PERMISSION_DENIED", `${REALM}, ${error}`);
    }
    return Response.json({ url: url.href });
  }

  const hosts = startHosts({
    [`GET ${GOOGLE_ACCOUNTS}/o/oauth2/v2/auth`]: authorize,
    [`GET ${GOOGLE_ACCOUNTS}/.well-known/openid-configuration`]: () =>
      Response.json({
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
      }),
    [`POST ${GOOGLE_TOKENS}/token`]: token,
    [GOOGLE_APIS]: api,
    [GMAIL]: api,
  });
  return withUser(hosts, "/o/oauth2/v2/auth", (all) => {
    // The user removes the app from the account: it has to ask for consent again.
    agreed.clear();
    refreshTokens.clear();
    if (all) accessTokens.clear();
  });
}
