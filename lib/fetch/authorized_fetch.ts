import { invalidArgument } from "../core/_arguments.ts";
import { errorOf, words } from "../http/_error.ts";
import { bearerOf } from "../session/_bearer.ts";
import { isTokenRejected } from "./policy/_rejections.ts";
import { isCovered, reaches } from "./policy/_covered_urls.ts";
import { prepare, renew } from "./_renewal.ts";
import { type Attempt, type Need, needOf } from "./policy/_need.ts";
import { MAX_RENEWALS, resourceFetchOf } from "./call/_resource_call.ts";
import { finishSignIn, revokeStored, saveSession } from "./_session_changes.ts";
import type { ApiContext } from "./_api_context.ts";
import { apiContextOf, fetchOptionsOf } from "./_settings.ts";
import { loadSession } from "./keeper/_session_keeper.ts";
import type {
  AuthorizedFetch,
  AuthorizedFetchOptions,
  SignalOptions,
  SignInOptions,
} from "./authorized_fetch_options.ts";
import type { PendingAuthorization } from "../flows/pending_authorization.ts";
import type { Session } from "../session/session.ts";

/**
 * Creates a `fetch` for a resource that requires a token.
 *
 * When the resource responds with `401`, it discovers the authorization server and
 * calls `flow`. It keeps the session in `store`; see {@linkcode AuthorizedFetch}.
 *
 * @throws {OAuthClientError} `invalid_argument`, `url_refused` or `unsupported`, as in
 * {@linkcode AuthorizedFetchOptions}.
 * @see RFC 6750; RFC 9728; RFC 9470; RFC 9449, section 7.
 * @example Sign in with the browser
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { createLoopbackReceiver } from "@oauth-helper/client/native";
 *
 * const clientMetadata = { client_name: "Notes" };
 * const flow = codeFlow({ ...createLoopbackReceiver(), clientMetadata });
 * const api = createAuthorizedFetch("https://api.example/mcp", { flow });
 * ```
 * @category Sessions
 */
export function createAuthorizedFetch(
  resource: string | URL,
  options: AuthorizedFetchOptions,
): AuthorizedFetch {
  return fetchWith(apiContextOf(resource, fetchOptionsOf(options)));
}

/** Fails if the renewed session contains no usable token. */
function requireSession(
  { session, token }: Attempt,
  { resource, keeper: { memory }, flow, context }: ApiContext,
): Session {
  const isUsable = token && !isTokenRejected(memory, token);
  if (session?.token && (isUsable || flow)) return session as Session;
  const message = words`No session for ${{
    url: resource,
  }}${[{
    option: "flow",
    text: "save one, or set flow to sign the user in",
  }]}`;
  throw errorOf(context, "unsupported", message);
}

/** Returns the need of `signIn()`: the last call's, or a new sign-in. */
function needOfUser(
  missing: Need | undefined,
  token: string | undefined,
): Need {
  const click = { refused: token, isUserInitiated: true };
  if (!missing) return { ...click, reason: "fresh", mayRefresh: false };
  const { acrValues, maxAge } = missing;
  const isAuthentication = acrValues !== undefined || maxAge !== undefined;
  // A refresh since then is no other authentication.
  const refused = isAuthentication ? token : missing.refused;
  return { ...missing, ...click, refused };
}

/** Fails after `renew()` returned enough tokens that the resource rejects. */
function requireRenewable(
  { reason }: Need,
  { resource, keeper: { memory }, context }: ApiContext,
): void {
  // A program could otherwise repeat this forever.
  if (memory.refreshes.length < MAX_RENEWALS) return;
  const message = words`The tokens for ${{
    url: resource,
  }} are rejected: call signIn()`;
  const details = { signInReason: reason, resource: resource.href };
  throw errorOf(context, "sign_in_required", message, details);
}

export function fetchWith(api: ApiContext): AuthorizedFetch {
  const { resource: target, keeper: { memory }, rules, promptPolicy } = api;
  const { resourceFetch, needFor } = resourceFetchOf(api);

  /**
   * Returns the session for a click. If it was refreshed, the next click prompts the
   * user.
   */
  function clicked(attempt: Attempt): Session {
    memory.clicked(attempt.source === "refresh" ? attempt.token : undefined);
    return requireSession(attempt, api);
  }

  return Object.assign(resourceFetch, {
    async signIn({ fresh, signal }: SignInOptions = {}) {
      memory.signInRequested();
      const missing = fresh ? undefined : memory.unmetNeeds?.get(promptPolicy);
      if (!fresh && !missing) {
        const start = { isRequired: true, isUserInitiated: true };
        return clicked(await prepare(start, api, signal));
      }
      const stored = await loadSession(api, signal);
      const need = needOfUser(missing, bearerOf(stored, rules));
      const attempt = await renew(api, need, signal);
      memory.needMet(promptPolicy);
      return clicked(attempt);
    },
    async session() {
      const session = await loadSession(api);
      return session?.token && session as Session;
    },
    async renew(response: Response, { signal }: SignalOptions = {}) {
      let need = needFor()?.get(response);
      const { url } = response;
      if (!needFor()?.has(response) && isCovered(url, api.sending)) {
        const session = await loadSession(api, signal);
        const token = bearerOf(session, rules);
        const attempt: Attempt = { session, token, source: "store" };
        need = needOf(response, attempt, reaches(target, url));
      }
      if (!need) {
        throw invalidArgument(
          "response",
          "of the resource: a 401, or a 403 that requires scopes not yet requested",
        );
      }
      requireRenewable(need, api);
      const attempt = await renew(api, need, signal);
      if (attempt.source !== "store") memory.refreshed(attempt.token);
      return requireSession(attempt, api);
    },
    finish: (
      callback: string | URL | URLSearchParams | Request,
      pending: PendingAuthorization,
      { signal }: SignalOptions = {},
    ) => finishSignIn(api, callback, pending, signal),
    async save(session: Session, { signal }: SignalOptions = {}) {
      const { revocations } = memory;
      await saveSession(session, api, { signal, revocations });
    },
    revoke: ({ signal }: SignalOptions = {}) => revokeStored(api, signal),
  });
}
