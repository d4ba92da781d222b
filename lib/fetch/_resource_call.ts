/** A call of the resource, and the renewals that its responses require. */

import { discard } from "../http/_response.ts";
import { report } from "../http/_context.ts";
import { reaches } from "./_covered_urls.ts";
import { answerTo } from "./_decisions.ts";
import { refusesToken } from "./_refused_token.ts";
import { prepare, renew } from "./_renewal.ts";
import { type INeed, isUnmetBy, needOf, tokensOf } from "./_need.ts";
import type { ResourceRequest } from "./_resource_request.ts";
import { tokenRefused } from "./_session_events.ts";
import type { ISettings } from "./_settings.ts";

/** How many renewals follow each other until a token is accepted. */
export const MAX_RENEWALS = 3;

/** Returns the function that makes the calls of a fetch, and what its responses need. */
export function callsOf({ renewal, sending, tokenRequired }: ISettings) {
  const { resource: target, store: { memory }, asking, authorize } = renewal;
  const { responses } = memory;
  /** The need that each 401 and 403 of the API causes. */
  const needFor = new WeakMap<Response, INeed | undefined>();

  /** Sends a request, and again after each renewal that its response requires. */
  async function call(request: ResourceRequest): Promise<Response> {
    const { signal, isSentOnce, context } = request;
    const isRevoked = memory.watchRevocation();
    const isRequired = isSentOnce || tokenRequired;
    let used = await prepare(
      {
        isRequired,
        isRefused: (token) => responses.isRefused(token, request.url),
        isHopeless: () => false,
      },
      renewal,
      signal,
    );
    for (let renewals = 0;; renewals++) {
      context.sent.push(...tokensOf(used.session));
      const { token } = used;
      const { response, isOfApi } = await request.exchange(token, sending);
      const { status } = response;
      const { url } = request;
      const isFresh = used.source !== "store";
      const isRefused = isOfApi && token !== undefined &&
        refusesToken(response);
      const isFinal = isRefused && responses.isFinal(url);
      const isDoubted = isRefused && responses.isDoubted(token, url);
      if (isOfApi && token) responses.note(token, url, response, isFresh);
      if (status !== 401 && status !== 403) return response;
      if (isRefused && isFresh) {
        report(context, tokenRefused(request.method, url, response));
      }
      const isOfResource = reaches(target, url);
      const need = !isOfApi || isFinal
        ? undefined
        : needOf(response, used, isOfResource);
      if (need?.isUnmet) memory.lacks(asking, need);
      const isUnmet = need && isUnmetBy(need, memory.lackedBy(asking));
      needFor.set(response, isUnmet ? undefined : need);
      const answer = answerTo(isUnmet ? undefined : need, used, {
        authorize,
        isRefused,
        isDoubted,
        mayAsk: responses.mayAsk(url),
        isLast: isSentOnce || isRevoked() || renewals === MAX_RENEWALS,
      });
      if (!need || answer === "return") return response;
      const isSilent = answer === "refresh";
      const renewing = isSilent
        ? { ...renewal, authorize: undefined }
        : renewal;
      // Before a sign-in, which may take minutes.
      if (renewing.authorize) discard(response);
      try {
        used = await renew({ ...need, sent: context.sent }, renewing, signal);
      } catch (error) {
        signal?.throwIfAborted();
        if (isSilent) return response;
        discard(response);
        throw error;
      }
      const isSame = (used.token ?? token) === token;
      if (!renewing.authorize && isSame) return response;
      discard(response);
    }
  }

  return { call, needFor };
}
