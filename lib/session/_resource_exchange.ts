/** One exchange with a resource: DPoP proofs, their nonces, and redirects. */

import type { IDpop } from "../client/dpop.ts";
import { reporting } from "../http/_request.ts";
import { discard } from "../http/_response.ts";
import type { OnEvent } from "../http/events.ts";
import type { IRedirectRules } from "./_redirect_rules.ts";
import type { ResourceFetch, ResourceRequest } from "./_repeatable_request.ts";
import { isCovered } from "./_covered_urls.ts";

/** How requests are sent. */
export interface ISending {
  readonly fetch: ResourceFetch;
  readonly dpop: IDpop | undefined;
  readonly redirects: IRedirectRules;
  readonly onEvent: OnEvent | undefined;
}

/** Sends a request to one URL; sends it once more if the resource requires a nonce. */
async function sendOnce(
  request: ResourceRequest,
  accessToken: string | undefined,
  { fetch, dpop, onEvent }: ISending,
): Promise<Response> {
  const { url, method, isSentOnce } = request;
  for (let isLast = isSentOnce;; isLast = true) {
    const fields = !accessToken
      ? {}
      : dpop
      ? await dpop.createHeaders({ method, url, accessToken })
      : { Authorization: `Bearer ${accessToken}` };
    const send = () => request.send(fetch, fields);
    const response = !onEvent ? await send() : await reporting(
      { purpose: "resource", method, url: url.href },
      { onEvent, sent: request.secrets },
      send,
    );
    const needsNonce = dpop?.noteResponse(url, response) && accessToken;
    if (!needsNonce || isLast) return response;
    discard(response);
  }
}

/**
 * Sends a request and follows its redirects. The token is sent only to the covered
 * URLs, and no longer after a redirect from them to another origin, as another server
 * then selects the next URL.
 */
export async function exchange(
  request: ResourceRequest,
  accessToken: string | undefined,
  sending: ISending,
): Promise<{ response: Response; isOfApi: boolean }> {
  const { redirects } = sending;
  for (;;) {
    const isOfApi = !request.hasLeft &&
      isCovered(request.url, redirects.covered);
    const token = isOfApi ? accessToken : undefined;
    const response = await sendOnce(request, token, sending);
    if (!await request.follow(response, redirects)) {
      return { response: request.mark(response), isOfApi };
    }
  }
}
