/** The route that begins a sign-in, and the responses of an API that lead to one. */

import { bearerOf } from "../session/_bearer.ts";
import { isCovered, reaches } from "../fetch/_covered_urls.ts";
import { needOf } from "../fetch/_need.ts";
import { isForeign, isNavigation } from "./_requests.ts";
import { refuse } from "./_responses.ts";
import { FRESH, type Site } from "./_site.ts";
import { withStepUp } from "./_step_ups.ts";
import type { IWanted } from "./_visits.ts";
import { returnToOf } from "./_web_settings.ts";
import type { IWebLoginOptions, IWebRequest } from "./web_sign_in_options.ts";

/** After a sign-in, how long a `401` does not lead to the next: it would be endless. */
const JUST_SIGNED_IN_SECONDS = 10;

/** Begins a sign-in. */
export async function login(
  site: Site,
  request: IWebRequest,
  { returnTo: path, parameters }: IWebLoginOptions = {},
): Promise<Response> {
  const { settings } = site;
  const isForeignForm = request.method !== "GET" &&
    isForeign(request, settings.origin);
  if (!isNavigation(request) || isForeignForm) return refuse();
  const signedIn = await settings.cookies.signedIn(request.headers);
  // A sign-in does not need the session.
  const session = await site.sessionOf(signedIn).catch(() => undefined);
  const returnTo = returnToOf(request, settings, path);
  const wanted = { need: FRESH, session, parameters, returnTo };
  return await site.begin(request, wanted);
}

/** Returns the visit that a response of the API requires. */
export async function wantedFor(
  site: Site,
  { request, response }: { request: IWebRequest; response: Response },
  { returnTo: path, parameters }: IWebLoginOptions = {},
): Promise<IWanted | undefined> {
  const { settings } = site;
  const { cookies, renewal, sending, now } = settings;
  const { resource: target, rules } = renewal;
  const url = response.url || target;
  if (!isCovered(url, sending.covered)) return undefined;
  const signedIn = await cookies.signedIn(request.headers);
  const session = await site.sessionOf(signedIn).catch(() => undefined);
  const age = signedIn ? now() / 1000 - signedIn.at : Infinity;
  const need = needOf(response, {
    session,
    token: bearerOf(session, rules),
    source: age < JUST_SIGNED_IN_SECONDS ? "authorize" : "store",
  }, reaches(target, url));
  const stepUps = need && await withStepUp(need, signedIn?.stepUps, age);
  const returnTo = returnToOf(request, settings, path);
  return stepUps && { need, session, parameters, stepUps, returnTo };
}
