import { OAuthClientError } from "../core/errors.ts";
import { lacksConsent } from "../flows/code_flow.ts";
import { postedForm } from "../token/_posted_form.ts";
import type { SignedIn, Visit } from "./_cookies.ts";
import { isNavigation, requestedUrl } from "./_requests.ts";
import { redirect, refuse } from "./_responses.ts";
import { FRESH, type Site } from "./_site.ts";
import { isSharingRefused, type Wanted } from "./_visits.ts";
import type { WebRequest } from "./web_sign_in_options.ts";

/**
 * Handles a callback without a login cookie: the sign-in has already finished, another
 * tab that started at the same moment overwrote the cookie, or another browser started
 * the sign-in.
 */
async function resume(
  site: Site,
  request: WebRequest,
  { searchParams }: URL,
  signedIn: SignedIn | undefined,
): Promise<Response> {
  const { origin, cookies, paths } = site.settings;
  const state = await cookies.openState(searchParams.get("state"));
  const returnTo = state?.returnTo || paths.homePath;
  if (signedIn) return redirect(origin + returnTo);
  // Its code is not used: it may belong to another user.
  const mayRepeat = state && !state.isRepeated && searchParams.has("code");
  if (mayRepeat) {
    const wanted = { need: FRESH, returnTo, isRepeated: true };
    return await site.begin(request, wanted);
  }
  const message =
    "The callback's state does not match a sign-in that this browser started " +
    "(already finished, older than an hour, started in another browser, or cookies are blocked)";
  const error = new OAuthClientError("expired", message);
  return await site.failed(error, request, { step: "callback", returnTo });
}

function again(
  { pending, acrValues, maxAge, ...visit }: Visit,
): Wanted {
  const { parameters, stepUps, reason, returnTo } = visit;
  const requiredScopes = pending.scopes.join(" ");
  return {
    need: { ...FRESH, requiredScopes, acrValues, maxAge },
    parameters,
    stepUps,
    reason,
    returnTo,
  };
}

export async function callback(
  site: Site,
  request: WebRequest,
): Promise<Response> {
  const { origin, cookies, paths, options } = site.settings;
  const { method, headers } = request;
  const form = await postedForm(request).catch(() => undefined);
  if (form && isNavigation(request)) {
    // Another site's POST carries no `SameSite=Lax` cookie. The GET that follows does,
    // and any site could have caused it as well.
    return redirect(`${origin}${paths.callbackPath}?${form}`);
  }
  if (method !== "GET") return refuse("GET");
  if (!isNavigation(request)) return refuse();
  const url = requestedUrl(request, origin);
  const [signedIn, visit] = await Promise.all([
    cookies.signedIn(headers),
    cookies.visit(headers, url.searchParams.get("state")),
  ]);
  if (!visit) return await resume(site, request, url, signedIn);
  const ended = [cookies.end(visit)];
  const { returnTo = paths.homePath, pending } = visit;
  try {
    const finished = await site.visits.finish(
      url,
      visit,
      signedIn && ((api, save) => site.replace(signedIn, api, save)),
    );
    if (signedIn && signedIn.id !== finished.id) {
      // If that fails, the session stays until its lifetime in the store is over.
      await site.remove(signedIn).catch(() => {});
    }
    const line = await cookies.signIn(finished, visit);
    // Absolute: `//evil.example` is a path of the site, but alone another site.
    return redirect(origin + returnTo, [...ended, line]);
  } catch (error) {
    const failed = { step: "callback", returnTo, lines: ended } as const;
    const isRefused = isSharingRefused(error, visit);
    if (!isRefused && !lacksConsent(error, pending, options)) {
      return await site.failed(error, request, failed);
    }
    const api = site.visits.apiOf(visit);
    const session = await site.sessionOf(signedIn, api).catch(() => undefined);
    const wanted = { ...again(visit), session, api };
    const prompt = { ...visit.parameters, prompt: "consent" };
    return await site.begin(
      request,
      isRefused
        ? { ...wanted, refusal: error }
        : { ...wanted, parameters: prompt },
      failed,
    );
  }
}
