/** One exchange with a resource: DPoP proofs, their nonces, and redirects. */

import type { IDpop } from "../client/dpop.ts";
import { discard } from "../http/_response.ts";
import type { IRedirectRules } from "./_redirect_rules.ts";
import type { ResourceFetch, ResourceRequest } from "./_repeatable_request.ts";
import { reaches } from "./_covered_urls.ts";

/** How requests are sent. */
export interface ISending {
  readonly resource: URL;
  readonly fetch: ResourceFetch;
  readonly dpop: IDpop | undefined;
  readonly redirects: IRedirectRules;
}

/** Sends a request to one URL; once more if the resource requires a nonce. */
async function sendOnce(
  request: ResourceRequest,
  accessToken: string | undefined,
  { fetch, dpop }: ISending,
): Promise<Response> {
  const { url, method, isSentOnce } = request;
  for (let isLast = isSentOnce;; isLast = true) {
    const fields = !accessToken
      ? {}
      : dpop
      ? await dpop.createHeaders({ method, url, accessToken })
      : { Authorization: `Bearer ${accessToken}` };
    const response = await request.send(fetch, fields);
    const needsNonce = dpop?.noteResponse(url, response) && accessToken;
    if (!needsNonce || isLast) return response;
    discard(response);
  }
}

/**
 * Sends a request and follows its redirects. The token is sent to URLs of the
 * resource only, and not after a redirect has left its origin: another server then
 * selects the next URL.
 */
export async function exchange(
  request: ResourceRequest,
  accessToken: string | undefined,
  sending: ISending,
): Promise<{ response: Response; isOfResource: boolean }> {
  for (;;) {
    const isOfResource = !request.hasLeft &&
      reaches(sending.resource, request.url);
    const token = isOfResource ? accessToken : undefined;
    const response = await sendOnce(request, token, sending);
    if (!await request.follow(response, sending.redirects)) {
      return { response, isOfResource };
    }
  }
}
