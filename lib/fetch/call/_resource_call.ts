/** A call of the resource, and the renewals that its responses require. */

import { discard } from "../../http/_response.ts";
import { report } from "../../http/_context.ts";
import { reaches } from "./_covered_urls.ts";
import { answerTo } from "../policy/_decisions.ts";
import { prepare, renew } from "../_renewal.ts";
import {
  type INeed,
  isUnmetBy,
  type IAttempt,
  needOf,
  tokensOf,
} from "../policy/_need.ts";
import type { ResourceRequest } from "./_resource_request.ts";
import {
  type IRejection,
  mayLeadToSignIn,
  rejectionAt,
  rejectsToken,
} from "../policy/_rejections.ts";
import { tokenRefused } from "../_session_events.ts";
import type { IApiContext } from "../_api_context.ts";

/** How many renewals follow each other until a token is accepted. */
export const MAX_RENEWALS = 3;

/**
 * Sends a request with a session; returns its response, and what that requires. The need
 * is undefined if another session would not help.
 */
async function send(
  request: ResourceRequest,
  used: IAttempt,
  { resource: target, keeper: { memory }, promptPolicy, sending }: IApiContext,
) {
  const { token } = used;
  const { context } = request;
  context.sent.push(...tokensOf(used.session));
  const { response, isOfApi } = await request.exchange(token, sending);
  const { url, method } = request;
  const isNew = used.source !== "store";
  let rejection: IRejection | undefined;
  if (isOfApi && token) {
    if (rejectsToken(response)) rejection = rejectionAt(memory, token, url);
    memory.responded(token, response, { url, isNew });
  }
  if (rejection && isNew) report(context, tokenRefused(method, url, response));
  const need = isOfApi && !rejection?.isGivenUp
    ? needOf(response, used, reaches(target, url))
    : undefined;
  if (need?.isUnmet) memory.needUnmet(promptPolicy, need);
  const isUnmet = need && isUnmetBy(need, memory.unmetNeeds.get(promptPolicy));
  return { response, rejection, need: isUnmet ? undefined : need };
}

/** Returns the function that makes the calls of a fetch, and what its responses need. */
export function callsOf(api: IApiContext) {
  const { keeper: { memory }, authorize, tokenRequired } = api;
  /** The need that each response causes, if any. */
  const needFor = new WeakMap<Response, INeed | undefined>();

  /** Sends a request, and again after each renewal that its response requires. */
  async function call(request: ResourceRequest): Promise<Response> {
    const { signal, isSentOnce, context } = request;
    const isRevoked = memory.watchRevocation();
    const isRequired = isSentOnce || tokenRequired;
    const start = { isRequired, memory, url: request.url };
    let used = await prepare(start, api, signal);
    for (let renewals = 0;; renewals++) {
      const { token } = used;
      const { response, rejection, need } = await send(request, used, api);
      needFor.set(response, need);
      const answer = answerTo(need, used, {
        authorize,
        rejection,
        mayLeadToSignIn: mayLeadToSignIn(memory, request.url),
        isLast: isSentOnce || isRevoked() || renewals === MAX_RENEWALS,
      });
      if (!need || answer === "return") return response;
      const isSilent = answer === "refresh";
      const renewing = isSilent
        ? { ...api, authorize: undefined }
        : api;
      // Before a sign-in, which may take minutes.
      if (renewing.authorize) discard(response);
      try {
        used = await renew(renewing, { ...need, sent: context.sent }, signal);
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
