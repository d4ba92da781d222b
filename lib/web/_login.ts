/** The route that starts a sign-in, and API responses that require one. */

import { bearerOf } from "../session/_bearer.ts";
import { reaches } from "../fetch/policy/_covered_urls.ts";
import { needOf } from "../fetch/policy/_need.ts";
import type { ApiContext } from "../fetch/_api_context.ts";
import { isForeign, isNavigation, requestedUrl } from "./_requests.ts";
import { refuse } from "./_responses.ts";
import { FRESH, type Site } from "./_site.ts";
import { withStepUp } from "./_step_ups.ts";
import type { Wanted } from "./_visits.ts";
import { returnToOf } from "./_web_settings.ts";
import type { WebLoginOptions, WebRequest } from "./web_sign_in_options.ts";

/** After a sign-in, how long a `401` starts no other: it would be endless. */
const JUST_SIGNED_IN_SECONDS = 10;

/** The API of a sign-in; all if absent. */
interface Wish extends WebLoginOptions {
  readonly api?: ApiContext | undefined;
}

export async function login(
  site: Site,
  request: WebRequest,
  { returnTo: path, parameters, api: given }: Wish = {},
): Promise<Response> {
  const { settings } = site;
  const { searchParams, pathname } = requestedUrl(request, settings.origin);
  const named = pathname === settings.paths.loginPath &&
    settings.all.length > 1 && searchParams.get("resource");
  const api = given ?? (named ? site.apiAt(named) : undefined);
  const isForeignForm = request.method !== "GET" &&
    isForeign(request, settings.origin);
  if (!isNavigation(request) || isForeignForm) return refuse();
  const signedIn = await settings.cookies.signedIn(request.headers);
  // A sign-in does not need the session.
  const session = await site.sessionOf(signedIn, api).catch(() => undefined);
  const returnTo = returnToOf(request, settings, path);
  // A sign-in for one API keeps the others' tokens.
  const reason = api && "no_session" as const;
  const wanted = { need: FRESH, session, parameters, returnTo, api, reason };
  return await site.begin(request, wanted);
}

export async function wantedFor(
  site: Site,
  { request, response }: { request: WebRequest; response: Response },
  { returnTo: path, parameters }: WebLoginOptions = {},
): Promise<Wanted | undefined> {
  const { settings } = site;
  const { cookies, all, now } = settings;
  const { resource } = site.apiOf(response) ?? settings;
  const url = response.url || resource;
  const api = site.apiAt(url);
  if (!api) return undefined;
  const { resource: target, rules } = api;
  const place = all.indexOf(api);
  const signedIn = await cookies.signedIn(request.headers);
  const session = await site.sessionOf(signedIn, api).catch(() => undefined);
  const age = signedIn ? now() / 1000 - signedIn.at : Infinity;
  // The sign-in was for one API; the others have no token then, or a refreshed one.
  const isNew = age < JUST_SIGNED_IN_SECONDS && (signedIn?.api ?? 0) === place;
  const need = needOf(response, {
    session,
    token: bearerOf(session, rules),
    source: isNew ? "sign_in" : "refresh",
  }, reaches(target, url));
  const due = need && { ...need, api: place };
  const stepUps = due && await withStepUp(due, signedIn?.stepUps, age);
  const returnTo = returnToOf(request, settings, path);
  return stepUps && { need, session, parameters, stepUps, returnTo, api };
}
