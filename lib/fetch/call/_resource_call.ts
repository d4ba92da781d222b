/**
 * The calls of a fetch: which carry the token, and which renewals responses require.
 */

import { discard } from "../../http/_response.ts";
import { report } from "../../http/_context.ts";
import { invalidArgument } from "../../core/_arguments.ts";
import { parseUrl } from "../../core/_url.ts";
import { isCovered, reaches } from "../policy/_covered_urls.ts";
import { answerTo } from "../policy/_decisions.ts";
import { prepare, renew } from "../_renewal.ts";
import {
  type Attempt,
  isUnmetBy,
  type Need,
  needOf,
  tokensOf,
} from "../policy/_need.ts";
import {
  type Exchanged,
  fieldsOf,
  isRequest,
  type ResourceFetch,
  ResourceRequest,
} from "./_resource_request.ts";
import {
  mayLeadToSignIn,
  type Rejection,
  rejectionAt,
  rejectsToken,
} from "../policy/_rejections.ts";
import { reportAbout, tokenRefused } from "../_session_events.ts";
import type { ApiContext } from "../_api_context.ts";

/** The most renewals until a token is accepted. */
export const MAX_RENEWALS = 3;

/**
 * Notes a response, and returns its need; undefined if another session would not help.
 */
function responded(
  { response, isOfApi }: Exchanged,
  { url, method, context }: ResourceRequest,
  attempt: Attempt,
  { resource: target, keeper: { memory }, promptPolicy }: ApiContext,
) {
  const { token } = attempt;
  const isNew = attempt.source !== "store";
  let rejection: Rejection | undefined;
  if (isOfApi && token) {
    if (rejectsToken(response)) rejection = rejectionAt(memory, token, url);
    memory.responded(token, response, { url, isNew });
  }
  if (rejection && isNew) report(context, tokenRefused(method, url, response));
  const need = isOfApi && !response.ok && !rejection?.isGivenUp
    ? needOf(response, attempt, reaches(target, url))
    : undefined;
  if (need?.isUnmet) memory.needUnmet(promptPolicy, need);
  const isUnmet = need && isUnmetBy(need, memory.unmetNeeds?.get(promptPolicy));
  return { rejection, need: isUnmet ? undefined : need };
}

export function callsOf(api: ApiContext) {
  const { keeper: { memory }, flow, tokenRequired, sending } = api;
  let needs: WeakMap<Response, Need | undefined> | undefined;

  async function call(request: ResourceRequest): Promise<Response> {
    const { signal, isSentOnce, context } = request;
    const { revocations } = memory;
    const isRequired = isSentOnce || tokenRequired;
    const start = { isRequired, url: request.url };
    let attempt = await prepare(start, api, signal);
    for (let renewals = 0;; renewals++) {
      const { token, session } = attempt;
      context.sent.push(() => tokensOf(session));
      const exchanged = await request.exchange(token, sending);
      const { response } = exchanged;
      const { rejection, need } = responded(exchanged, request, attempt, api);
      if (!response.ok) (needs ??= new WeakMap()).set(response, need);
      if (!need) return response;
      const answer = answerTo(need, attempt, {
        flow,
        rejection,
        mayLeadToSignIn: () => mayLeadToSignIn(memory, request.url),
        isLast: isSentOnce || revocations !== memory.revocations ||
          renewals === MAX_RENEWALS,
      });
      if (answer === "return") return response;
      const isSilent = answer === "refresh";
      const renewing = isSilent ? { ...api, flow: undefined } : api;
      // Before a sign-in, which may take minutes.
      if (renewing.flow) discard(response);
      try {
        attempt = await renew(
          renewing,
          { ...need, sent: context.sent },
          signal,
        );
      } catch (error) {
        signal?.throwIfAborted();
        if (isSilent) return response;
        discard(response);
        throw error;
      }
      const isSame = (attempt.token ?? token) === token;
      if (!renewing.flow && isSame) return response;
      discard(response);
    }
  }

  return { call, needFor: () => needs };
}

/** Reports a request without a token, whose path may contain the session's token. */
async function reportUncovered(
  method: string,
  url: URL,
  { keeper, context }: ApiContext,
): Promise<void> {
  if (!context.onEvent) return;
  // Even a session that this fetch cannot use contains a token.
  const session = await keeper.load().catch(() => null);
  const path = session === null ? "" : url.pathname;
  reportAbout(context, session ?? undefined, {
    type: "uncovered_request",
    method,
    url: url.origin + path,
  });
}

function requireUrl(given: string, page: string | undefined, api: URL): URL {
  const url = parseUrl(given, page);
  if (url) return url;
  throw invalidArgument(
    "The URL of a call",
    `absolute, such as new URL(path, ${JSON.stringify(api.origin)})`,
  );
}

/**
 * Returns a `fetch` that makes the resource's calls and passes on others, and the
 * responses' needs.
 */
export function resourceFetchOf(api: ApiContext) {
  const { sending } = api;
  const { call, needFor } = callsOf(api);
  /** Many programs call only one URL. */
  let last: { given: string; url: URL; isOfApi: boolean } | undefined;

  const resourceFetch: ResourceFetch = async (input, init = {}) => {
    const given = isRequest(input) ? input.url : String(input);
    // Browsers resolve a URL against the page's URL.
    const { location } = globalThis as { location?: { href?: string } };
    const page = location?.href;
    if (page || last?.given !== given) {
      const url = requireUrl(given, page, api.resource);
      last = { given, url, isOfApi: isCovered(url, sending) };
    }
    const { url, isOfApi } = last;
    const headers = fieldsOf(input, init);
    const hasOwn = Object.keys(headers)
      .some((name) => /^authorization$/i.test(name));
    if (!hasOwn && isOfApi) {
      const whole = { ...init, headers };
      return await call(new ResourceRequest(api.context, url, input, whole));
    }
    const isNear = sending.covered.some(({ origin }) => origin === url.origin);
    if (isNear && !hasOwn) {
      const method = init.method ?? (isRequest(input) ? input.method : "GET");
      void reportUncovered(method, url, api);
    }
    return await sending.fetch(input, init);
  };
  return { resourceFetch, needFor };
}
