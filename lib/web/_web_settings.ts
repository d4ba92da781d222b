import {
  optionalFunction,
  requireArgument,
  requireHttpUrl,
  requireNames,
  requireObject,
  requireString,
} from "../core/_arguments.ts";
import { requireSafeUrl } from "../core/_url.ts";
import { requireBoundClient } from "../client/_authentication_selection.ts";
import { requireFlowOptions } from "../flows/_flow_parameters.ts";
import type { ApiContext } from "../fetch/_api_context.ts";
import { apiContextOf } from "../fetch/_settings.ts";
import { nearest } from "../fetch/policy/_covered_urls.ts";
import { SignInCookies } from "./_cookies.ts";
import { pathOf, requestedUrl } from "./_requests.ts";
import type { WebRequest, WebSignInOptions } from "./web_sign_in_options.ts";

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof WebSignInOptions, true> = {
  origin: true,
  client: true,
  storeOf: true,
  cookieKeys: true,
  cookieName: true,
  lifetimeSeconds: true,
  loginPath: true,
  callbackPath: true,
  logoutPath: true,
  homePath: true,
  onError: true,
  assumePkce: true,
  authorizationDetails: true,
  offlineAccess: true,
  par: true,
  parameters: true,
  sendRedirectUriOnRefresh: true,
  sendScopeOnRefresh: true,
  requireIss: true,
  resourceIndicator: true,
  scopes: true,
  tokenParameters: true,
  allowHttp: true,
  allowUrl: true,
  alsoFor: true,
  apis: true,
  authorizationServer: true,
  bearer: true,
  dpop: true,
  fetch: true,
  maxBytes: true,
  now: true,
  onEvent: true,
  resourceMatch: true,
  resourceMetadataHeaders: true,
  serverMetadata: true,
  serverMetadataHeaders: true,
  skewSeconds: true,
  timeoutMs: true,
  tokenRequired: true,
  trustedIssuers: true,
  userAgent: true,
};

/** 30 days. A product would stay in bundles that do not use it. */
const DEFAULT_LIFETIME_SECONDS = 2_592_000;

/** A longer `returnTo` does not fit into the login cookie. */
const MAX_RETURN_TO = 1_700;

export interface Paths {
  readonly loginPath: string;
  readonly callbackPath: string;
  readonly logoutPath: string;
  readonly homePath: string;
}

export interface WebSettings extends ApiContext {
  readonly options: WebSignInOptions;
  readonly storeOf: WebSignInOptions["storeOf"];
  /** The context of each API, the resource's first. */
  readonly all: readonly ApiContext[];
  readonly origin: string;
  readonly paths: Paths;
  readonly home: string;
  readonly redirectUri: string;
  readonly cookies: SignInCookies;
  readonly now: () => number;
}

function requireOrigin(
  value: string | URL,
  allowHttp: boolean | undefined,
): URL {
  const url = requireHttpUrl("origin", String(value));
  const isOrigin = url.href === `${url.origin}/`;
  requireArgument(isOrigin, "origin", `${url.origin}, without a path`);
  return requireSafeUrl("the origin that browsers see", url, {
    allowHttp,
    allowLoopback: true,
  });
}

/** Returns the paths as browsers request them. */
function pathsOf(
  {
    loginPath = "/login",
    callbackPath = "/callback",
    logoutPath = "/logout",
    homePath = "/",
  }: WebSignInOptions,
  origin: string,
): Paths {
  const paths = { loginPath, callbackPath, logoutPath, homePath };
  for (const [name, value] of Object.entries(paths)) {
    const path = pathOf(requireString(name, value), origin);
    const isPath = path === value && !/[?#]/.test(value);
    requireArgument(isPath, name, "a path, such as /login");
  }
  const isDistinct = new Set(Object.values(paths)).size === 4;
  requireArgument(isDistinct, "loginPath", "different from the other paths");
  return paths;
}

export function webSettingsOf(
  resource: string | URL,
  options: WebSignInOptions,
): WebSettings {
  const {
    client,
    storeOf,
    cookieKeys,
    onError,
    lifetimeSeconds = DEFAULT_LIFETIME_SECONDS,
    cookieName = "sign-in",
    now = Date.now,
    parameters: { response_mode = "query" } = {},
    allowHttp,
  } = requireObject("options", options);
  requireNames(options, Object.keys(OPTIONS), "createWebSignIn");
  requireBoundClient(requireObject("client", client));
  requireArgument(typeof storeOf === "function", "storeOf", "a function");
  optionalFunction("onError", onError);
  requireFlowOptions(options);
  const isWhole = Number.isSafeInteger(lifetimeSeconds) && lifetimeSeconds > 0;
  requireArgument(isWhole, "lifetimeSeconds", "a positive integer");
  const isName = /^[\w-]{1,64}$/.test(cookieName);
  requireArgument(isName, "cookieName", "letters, digits, - or _");
  requireArgument(
    response_mode === "query" || response_mode === "form_post",
    "parameters.response_mode",
    '"query" or "form_post"',
  );
  const { origin, protocol } = requireOrigin(options.origin, allowHttp);
  const paths = pathsOf(options, origin);
  const first = apiContextOf(resource, options);
  const resources = options.apis?.resources ?? [];
  const nameOfFirst = nearest(resources, first.resource);
  const others = resources.filter((one) => one !== nameOfFirst)
    .map((one) => apiContextOf(one, { ...options, alsoFor: undefined }));
  return {
    ...first,
    all: [first, ...others],
    options,
    storeOf: (id) => {
      const expected = "a function that returns a store";
      return requireObject("storeOf", options.storeOf(id), expected);
    },
    origin,
    paths,
    home: origin + paths.homePath,
    redirectUri: origin + paths.callbackPath,
    cookies: new SignInCookies({
      name: cookieName,
      keys: cookieKeys,
      isSecure: protocol === "https:",
      lifetimeSeconds,
      now,
    }),
    now,
  };
}

/** Returns the user's page after the sign-in. */
export function returnToOf(
  request: WebRequest,
  { origin, paths }: Pick<WebSettings, "origin" | "paths">,
  returnTo?: string,
): string {
  const { loginPath, callbackPath, logoutPath, homePath } = paths;
  const { pathname, search, searchParams } = requestedUrl(request, origin);
  const requestedPath = request.method === "GET"
    ? pathname + search
    : undefined;
  const wanted = returnTo ??
    (pathname === loginPath ? searchParams.get("returnTo") : requestedPath);
  const path = pathOf(wanted, origin) ?? homePath;
  const [name = ""] = path.split(/[?#]/);
  const isOurs = [loginPath, callbackPath, logoutPath].includes(name);
  return isOurs || path.length > MAX_RETURN_TO ? homePath : path;
}
