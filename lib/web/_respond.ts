/** A request of the user for which the site needs the API. */

import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";
import type { IAuthorizedFetch } from "../session/authorized_fetch_options.ts";
import type { ResourceFetch } from "../session/_resource_request.ts";
import { isForeign, isNavigation } from "./_requests.ts";
import { passOn, refuse } from "./_responses.ts";
import type { IWebRequest, UseApi } from "./web_sign_in_options.ts";

/** What a response to the user is made of. */
export interface IResponding {
  readonly origin: string;
  /** Returns the API of the user. */
  api(): Promise<IAuthorizedFetch | undefined>;
  /** Has a user sign in who is signed out, or whose session is of no use any longer. */
  login(): Promise<Response>;
  /** Has the user sign in if a response of the API requires that. */
  loginFor(response: Response): Promise<Response | undefined>;
  failed(error: unknown): Promise<Response>;
}

/** Notes what an API has returned and thrown: the rest is of the site itself. */
function watched(api: IAuthorizedFetch, seen: WeakSet<object>) {
  const call: ResourceFetch = async (input, init) => {
    try {
      const response = await api(input, init);
      seen.add(response);
      return response;
    } catch (error) {
      if (error instanceof Object) seen.add(error);
      throw error;
    }
  };
  return Object.assign(call, api);
}

/** Responds to a request of the user with the help of the API. */
export async function respondTo(
  request: IWebRequest,
  use: UseApi,
  { origin, api: open, login, loginFor, failed }: IResponding,
): Promise<Response> {
  const { method } = request;
  const isChange = method !== "GET" && method !== "HEAD";
  // Another site may link to a page, and no more.
  if ((isChange || !isNavigation(request)) && isForeign(request, origin)) {
    return refuse();
  }
  const seen = new WeakSet<object>();
  let isOfSite = false;
  try {
    const api = await open();
    if (!api) return await login();
    isOfSite = true;
    const response = await use(watched(api, seen));
    isOfSite = false;
    // A copy of a response has its URL, and its header fields.
    if (!seen.has(response) && !response.url) return response;
    return await loginFor(response) ?? passOn(response);
  } catch (error) {
    const isOurs = isOAuthClientError(error);
    // Frameworks throw a redirect too, and have pages of their own for errors.
    if (isOfSite && !isOurs && !seen.has(Object(error))) throw error;
    return isOurs && adviceFor(error).action === "reauthorize"
      ? await login()
      : await failed(error);
  }
}
