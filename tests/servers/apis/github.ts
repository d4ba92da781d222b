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
  type HostHandler,
  type HostRequest,
  notFound,
  type ServiceOptions,
} from "./_hosts.ts";
import {
  type Issued,
  redirectBack,
  startVendor,
  type Vendor,
} from "./_vendor.ts";

export const GITHUB = "https://github.com";
export const GITHUB_API = "https://api.github.com";
const GITHUB_UPLOADS = "https://uploads.github.com";
export const GITHUB_ARCHIVES = "https://codeload.github.com";

/** The app, as its owner sees it on github.com. */
export const GITHUB_APP = {
  id: "Iv23liExampleExample",
  secret: "0123456789abcdef0123456789abcdef01234567",
  /** The manual requires an exact match, unlike that of OAuth apps. */
  callback: "http://127.0.0.1:33418/callback",
};

/** A form; errors have the status 200 as well. */
function form(members: Record<string, unknown>): Response {
  const text = Object.entries(members)
    .map(([name, value]) => [name, String(value)]);
  return new Response(new URLSearchParams(text).toString(), {
    headers: {
      "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
    },
  });
}

/** An error of the REST API, which has no `WWW-Authenticate`. */
function apiError(status: number, message: string): Response {
  const documentation_url = "https://docs.github.com/rest";
  const body = { message, documentation_url, status: String(status) };
  return Response.json(body, { status });
}

const api = ({ grantOf }: Issued) => (request: HostRequest): Response => {
  const { url, bearer, headers } = request;
  if (headers.has("Authorization") && !grantOf(bearer)) {
    return apiError(401, "Bad credentials");
  }
  switch (url.pathname) {
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
        const Location = `${GITHUB_ARCHIVES}/octocat/private?token=signed`;
        return new Response(null, { status: 302, headers: { Location } });
      }
  }
  return apiError(404, "Not Found");
};

const withAgent = (handle: HostHandler): HostHandler => (request) =>
  request.headers.get("User-Agent")
    ? handle(request)
    : new Response("Request forbidden by administrative rules.", {
      status: 403,
    });

const ERRORS = {
  client: "incorrect_client_credentials",
  secret: "incorrect_client_credentials",
  redirect_uri: "redirect_uri_mismatch",
  code: "bad_verification_code",
  code_redirect: "redirect_uri_mismatch",
  verifier: "bad_verification_code",
  refresh_token: "bad_refresh_token",
} as const;

const VENDOR: Vendor = {
  authorize: [`${GITHUB}/login/oauth/authorize`],
  token: [`${GITHUB}/login/oauth/access_token`],
  clients: [
    { ...GITHUB_APP, isRegistered: (uri) => uri === GITHUB_APP.callback },
  ],
  // The documentation has no other method; a secret is required with PKCE as well.
  method: "post",
  prefixes: { code: "", access: "ghu_", refresh: "ghr_" },
  // Eight hours, and six months.
  seconds: { code: 600, access: 28_800, refresh: 15_811_200 },
  refresh: "rotation",
  refuse(problem, sent) {
    const error = ERRORS[problem];
    if (!sent.has("response_type")) return form({ error });
    if (problem === "client") return notFound();
    sent.set("redirect_uri", GITHUB_APP.callback);
    return redirectBack(sent, { error });
  },
  // Permissions are those of the app.
  members: () => ({
    refresh_token_expires_in: 15_811_200,
    scope: "",
    token_type: "bearer",
  }),
  respond: form,
  guard: withAgent,
  apis: (issued) => ({
    [GITHUB_API]: withAgent(api(issued)),
    [GITHUB_UPLOADS]: withAgent(api(issued)),
    [GITHUB_ARCHIVES]: ({ url }) =>
      url.searchParams.get("token") === "signed"
        ? new Response("archive")
        : notFound(),
  }),
};

export const startGitHub = (options?: ServiceOptions) =>
  startVendor(VENDOR, options);
