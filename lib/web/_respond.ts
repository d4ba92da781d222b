import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type { ApiContext } from "../fetch/_api_context.ts";
import { discard } from "../http/_response.ts";
import { isForeign, isNavigation } from "./_requests.ts";
import { login, wantedFor } from "./_login.ts";
import { passOn, refuse, tell } from "./_responses.ts";
import type { Site } from "./_site.ts";
import { returnToOf } from "./_web_settings.ts";
import type {
  UseApi,
  WebLoginOptions,
  WebRequest,
} from "./web_sign_in_options.ts";

/**
 * A request, the function that uses an API for it, and how to send that API's response.
 */
interface Responding {
  readonly request: WebRequest;
  readonly use: UseApi;
  readonly api?: ApiContext | undefined;
  readonly pass?: ((response: Response) => Response) | undefined;
}

export async function respond(
  site: Site,
  { request, use, api = site.settings.all[0]!, pass = passOn }: Responding,
  { returnTo, parameters }: WebLoginOptions = {},
): Promise<Response> {
  const { settings } = site;
  const { method, headers } = request;
  const isPage = isNavigation(request);
  const isChange = method !== "GET" && method !== "HEAD";
  // Another site may only link to a page.
  if ((isChange || !isPage) && isForeign(request, settings.origin)) {
    return refuse();
  }
  const loginOptions = { returnTo, parameters };
  const signIn = async (api?: ApiContext) =>
    isPage
      ? await login(site, request, { ...loginOptions, api })
      : tell(401, { code: "sign_in_required", login: site.loginUrlOf(api) });
  let isOfSite = false;
  try {
    const signedIn = await settings.cookies.signedIn(headers);
    if (!signedIn) return await signIn();
    const ofUser = site.fetchFor(signedIn, api);
    isOfSite = true;
    const response = await use(ofUser);
    isOfSite = false;
    // A copy of a response keeps its URL and header fields.
    if (!site.apiOf(response) && !response.url) return response;
    const wanted = await wantedFor(site, { request, response }, loginOptions);
    // A link to the sign-in requests no step-up: the page reads the missing scopes.
    const isLink = wanted && (isPage || wanted.need.reason !== "step_up");
    if (!isLink) return pass(response);
    discard(response);
    return isPage
      ? await site.begin(request, wanted)
      : await signIn(wanted.api);
  } catch (error) {
    const isOurs = isOAuthClientError(error);
    // Frameworks also throw redirects, and show their own pages for errors.
    if (isOfSite && !isOurs && !site.apiOf(error)) throw error;
    if (isOurs && adviceFor(error).action === "reauthorize") {
      return await signIn(site.apiOf(error));
    }
    return await site.failed(error, request, {
      step: "respond",
      returnTo: returnToOf(request, settings),
    });
  }
}
