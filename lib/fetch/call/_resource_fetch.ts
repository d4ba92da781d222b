/** Which requests contain the token: those that the resource covers. */

import { invalidArgument } from "../../core/_arguments.ts";
import { isCovered } from "./_covered_urls.ts";
import { reportAbout } from "../_session_events.ts";
import {
  fieldsOf,
  isRequest,
  type ResourceFetch,
  ResourceRequest,
  urlOf,
} from "./_resource_request.ts";
import type { IApiContext } from "../_api_context.ts";

/**
 * Reports a request without a token, whose path may contain the token of the session.
 */
async function reportUncovered(
  method: string,
  url: URL,
  { keeper, context }: IApiContext,
): Promise<void> {
  if (!context.onEvent) return;
  // Also a session that this fetch cannot use has a token.
  const session = await keeper.load().catch(() => null);
  const path = session === null ? "" : url.pathname;
  reportAbout(context, session ?? undefined, {
    type: "uncovered_request",
    method,
    url: url.origin + path,
  });
}

/** Returns a `fetch` that makes the calls of the resource, and passes others on. */
export function resourceFetchOf(
  api: IApiContext,
  call: (request: ResourceRequest) => Promise<Response>,
): ResourceFetch {
  const { sending } = api;
  return async (input, init = {}) => {
    const url = urlOf(input);
    if (!url) {
      const { origin } = api.resource;
      throw invalidArgument(
        "The URL of a call",
        `absolute, such as new URL(path, ${JSON.stringify(origin)})`,
      );
    }
    const headers = fieldsOf(input, init);
    const hasOwn = Object.keys(headers)
      .some((name) => /^authorization$/i.test(name));
    if (!hasOwn && isCovered(url, sending)) {
      const own = { ...init, headers };
      return await call(new ResourceRequest(api.context, url, input, own));
    }
    const isNear = sending.covered.some(({ origin }) => origin === url.origin);
    if (isNear && !hasOwn) {
      const method = init.method ?? (isRequest(input) ? input.method : "GET");
      void reportUncovered(method, url, api);
    }
    return await sending.fetch(input, init);
  };
}
