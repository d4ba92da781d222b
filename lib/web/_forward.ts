import { adviceFor } from "../core/advice.ts";
import type { ApiContext } from "../fetch/_api_context.ts";
import type { AuthorizedFetch } from "../fetch/authorized_fetch_options.ts";
import { discard } from "../http/_response.ts";
import {
  forwarded,
  outside,
  refusalOf,
  type Route,
  routeOf,
  send,
} from "./forward_request.ts";
import { isForeign } from "./_requests.ts";
import { respond } from "./_respond.ts";
import { refuse, tell } from "./_responses.ts";
import type { Site } from "./_site.ts";
import type {
  ForwardRequestOptions,
  WebRequest,
} from "./web_sign_in_options.ts";

/**
 * Allowed destinations of an API's content. Its script or style sheet would run as the
 * site's.
 */
const SHOWN = /^(audio|document|empty|font|image|track|video)$/;

async function sendFor(
  site: Site,
  request: WebRequest,
  { api, route }: { readonly api: AuthorizedFetch; readonly route: Route },
): Promise<Response> {
  const { response, isStream } = await send(request, api, route);
  if (response.status !== 401 || !isStream) return response;
  try {
    await api.renew(response);
  } catch (error) {
    if (adviceFor(error).action === "retry") throw error;
    // The user must sign in, as after a small body.
    return response;
  }
  discard(response);
  const again = { code: "send_again", login: site.loginUrl };
  return tell(503, again, { "Retry-After": "0" });
}

/** Forwards a page's request; returns undefined for another path. */
export async function forward(
  site: Site,
  request: WebRequest,
  { api, path, url, headers }: ForwardRequestOptions & {
    readonly api: ApiContext;
  },
): Promise<Response | undefined> {
  const { origin, paths } = site.settings;
  const route = routeOf(request, { path, url, headers }, origin);
  if (!route) return undefined;
  const isShown = SHOWN.test(request.headers.get("Sec-Fetch-Dest") ?? "empty");
  // Even another site's link: a `GET` of the API may change something.
  if (!isShown || isForeign(request, origin)) return refuse();
  const refused = refusalOf(request, route);
  if (refused) return refused;
  // One of several APIs may be below another's URL.
  if (site.apiAt(route.target) !== api) return outside();
  return await respond(site, {
    request,
    api,
    use: (api) =>
      sendFor(site, request, { api, route }).catch((error) => {
        if (!request.signal?.aborted) throw error;
        // Nobody is there to read it.
        return new Response(null, { status: 499 });
      }),
    pass: (response) => forwarded(response, request, route),
  }, {
    // The server redirects the user back, like another site.
    returnTo: paths.homePath,
  });
}
