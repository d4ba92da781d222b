/**
 * GitHub, with a GitHub App whose user tokens expire: no metadata, 404 for what is
 * private, errors with status 200 and form-encoded responses of the token endpoint.
 *
 * GitHub responds with JSON if `Accept` requires it. This server does not, like those
 * that ignore the field.
 *
 * @see https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
 */
import {
  createValues,
  credentialsOf,
  grantOf,
  type IGrant,
  isSameButForPort,
  isVerified,
  redirectBack,
} from "./_grants.ts";
import {
  type HostHandler,
  type IHostRequest,
  type IService,
  type IServiceOptions,
  notFound,
  startHosts,
  withUser,
} from "./_hosts.ts";

export const GITHUB = "https://github.com";
export const GITHUB_API = "https://api.github.com";
const GITHUB_UPLOADS = "https://uploads.github.com";
export const GITHUB_ARCHIVES = "https://codeload.github.com";

/** The app, as its owner sees it on github.com. */
export const GITHUB_APP = {
  id: "Iv23liExampleExample",
  secret: "0123456789abcdef0123456789abcdef01234567",
  /** Any port of a loopback address is accepted. */
  callback: "http://127.0.0.1/callback",
};

/** Seconds; eight hours, and six months. */
const ACCESS_SECONDS = 28_800;
const REFRESH_SECONDS = 15_811_200;
const CODE_SECONDS = 600;

/** Requires a `User-Agent`, as all hosts do. */
const withAgent = (handle: HostHandler): HostHandler => (request) =>
  request.headers.get("User-Agent")
    ? handle(request)
    : new Response("Request forbidden by administrative rules.", {
      status: 403,
    });

/** A response of the token endpoint; errors have the status 200 as well. */
function form(members: Record<string, string | number>): Response {
  const text = Object.entries(members)
    .map(([name, value]) => [name, String(value)]);
  return new Response(new URLSearchParams(text).toString(), {
    headers: {
      "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
    },
  });
}

const refuse = (error: string) => form({ error });

/** An error of the REST API, which has no `WWW-Authenticate`. */
function apiError(status: number, message: string): Response {
  const documentation_url = "https://docs.github.com/rest";
  const body = { message, documentation_url, status: String(status) };
  return Response.json(body, { status });
}

export function startGitHub(
  { now = Date.now }: IServiceOptions = {},
): IService {
  const codes = createValues("", now);
  const accessTokens = createValues("ghu_", now);
  const refreshTokens = createValues("ghr_", now);
  /** The access token that each refresh token was issued with. */
  const pairs = new Map<string, string>();

  function issue(grant: IGrant): Response {
    const access_token = accessTokens.issue(grant, ACCESS_SECONDS);
    const refresh_token = refreshTokens.issue(grant, REFRESH_SECONDS);
    pairs.set(refresh_token, access_token);
    return form({
      access_token,
      expires_in: ACCESS_SECONDS,
      refresh_token,
      refresh_token_expires_in: REFRESH_SECONDS,
      // Permissions are those of the app.
      scope: "",
      token_type: "bearer",
    });
  }

  function authorize({ url: { searchParams: query } }: IHostRequest): Response {
    const grant = grantOf(query);
    if (grant.clientId !== GITHUB_APP.id) return notFound();
    if (!isSameButForPort(grant.redirectUri, GITHUB_APP.callback)) {
      query.set("redirect_uri", GITHUB_APP.callback);
      return redirectBack(query, { error: "redirect_uri_mismatch" });
    }
    return redirectBack(query, { code: codes.issue(grant, CODE_SECONDS) });
  }

  function token(request: IHostRequest): Response {
    const { form: body } = request;
    const { method, id, secret } = credentialsOf(request);
    // The documentation has no other method; a secret is required with PKCE as well.
    if (
      method !== "post" || id !== GITHUB_APP.id || secret !== GITHUB_APP.secret
    ) {
      return refuse("incorrect_client_credentials");
    }
    if (body.get("grant_type") === "refresh_token") {
      const value = body.get("refresh_token");
      const grant = refreshTokens.take(value);
      if (!grant) return refuse("bad_refresh_token");
      accessTokens.take(pairs.get(value ?? "") ?? "");
      return issue(grant);
    }
    const grant = codes.take(body.get("code"));
    return grant && isVerified(grant, body)
      ? issue(grant)
      : refuse("bad_verification_code");
  }

  function api({ url, bearer, headers }: IHostRequest): Response {
    if (headers.has("Authorization") && !accessTokens.find(bearer)) {
      return apiError(401, "Bad credentials");
    }
    const { pathname } = url;
    switch (pathname) {
      case "/user":
        return bearer
          ? Response.json({ login: "octocat" })
          : apiError(401, "Requires authentication");
      case "/users/octocat/repos":
        // Without a token, what everybody can see.
        return Response.json(bearer ? ["public", "private"] : ["public"]);
      case "/repos/octocat/private":
      case "/repos/octocat/private/releases/1/assets":
        if (bearer) return Response.json({ private: true });
        break;
      case "/repos/octocat/private/tarball":
        if (bearer) {
          return new Response(null, {
            status: 302,
            headers: {
              Location: `${GITHUB_ARCHIVES}/octocat/private?token=signed`,
            },
          });
        }
    }
    return apiError(404, "Not Found");
  }

  const hosts = startHosts({
    [`GET ${GITHUB}/login/oauth/authorize`]: withAgent(authorize),
    [`POST ${GITHUB}/login/oauth/access_token`]: withAgent(token),
    [GITHUB_API]: withAgent(api),
    [GITHUB_UPLOADS]: withAgent(api),
    [GITHUB_ARCHIVES]: ({ url }) =>
      url.searchParams.get("token") === "signed"
        ? new Response("archive")
        : notFound(),
  });
  return withUser(hosts, "/login/oauth/authorize", (all) => {
    refreshTokens.clear();
    if (all) accessTokens.clear();
  });
}
