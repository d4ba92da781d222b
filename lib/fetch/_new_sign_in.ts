/** How a new session is obtained: a challenge, the discovery, and `authorize`. */

import {
  areRequestable,
  scopesFrom,
  scopesWithout,
} from "../core/_scope_values.ts";
import { isOAuthClientError } from "../core/errors.ts";
import { mergeScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import { mergeHeaders, requestHead } from "../http/_request.ts";
import type { IResponse } from "../http/_response.ts";
import { fork, type IContext, report, secretsIn } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import type { IGrantContext } from "../token/_grant_context.ts";
import { discover, type IAuthorizationContext } from "../discovery/discover.ts";
import { isAbandoned, promptFor } from "./policy/_decisions.ts";
import { putOffError } from "./policy/_put_off.ts";
import { bearerOf } from "../session/_bearer.ts";
import { requireDpop } from "../session/_dpop_need.ts";
import { storedClient } from "./_stored_client.ts";
import type { ISharedNeed } from "../flows/_sharing.ts";
import { withRegistration } from "../flows/_flow_client.ts";
import { isClientRefused } from "../flows/_pending_mark.ts";
import { type INeed, tokensOf } from "./policy/_need.ts";
import { loadSession, REPLACED, usableOf } from "./keeper/_session_keeper.ts";
import { reportSignIn, reportUnsaved, stepUp } from "./_session_events.ts";
import type { IApiContext } from "./_api_context.ts";
import { requireUsable } from "./_usable_session.ts";
import type { Authorize, IAuthorizeRequest } from "../flows/flow.ts";
import { type ISession, sessionOptionsOf } from "../session/session.ts";

/**
 * Requests the resource without a token, for its challenge: many servers name their
 * metadata and scopes only there. If there is no response, the discovery reports that.
 */
async function obtainChallenge(
  { resource, discovery }: IApiContext,
  context: IContext,
): Promise<IResponse["headers"] | undefined> {
  // The caller has set the server.
  const { authorizationServer, serverMetadata } = discovery;
  if (authorizationServer ?? serverMetadata) return undefined;
  const headers = mergeHeaders({ Accept: "*/*" }, discovery.sameOriginHeaders);
  const purpose = "resource";
  try {
    const request = { url: resource.href, purpose, headers } as const;
    return (await requestHead(request, context)).headers;
  } catch (error) {
    if (!isOAuthClientError(error, "network_error")) throw error;
    return undefined;
  }
}

export async function discoverFor(
  need: INeed,
  api: IApiContext,
): Promise<IAuthorizationContext> {
  const { resource, discovery, context } = api;
  const challenge = need.challenge ?? await obtainChallenge(api, context);
  // Without offlineAccess: the flow decides whether to request a refresh token.
  const found = await discover(context, resource, {
    ...discovery,
    challenge,
  });
  requireDpop(context, found, challenge);
  return found;
}

/** Returns the scopes to request: the earlier ones, and those that are required. */
export function scopesFor(
  { requiredScopes, challengedScope, refused }: INeed,
  { issuer, challenge, scopes = [] }: IAuthorizationContext,
  earlier: ISession | undefined,
): Pick<IAuthorizeRequest, "scopes" | "requiredScopes"> {
  // A resource may repeat a token instead of a scope.
  const tokens = secretsIn({ sent: tokensOf(earlier, refused) });
  const former = earlier?.issuer === issuer ? earlier.scopes : [];
  const fromChallenge = scopesFrom(challenge?.params.scope);
  const challenged = mergeScopes(
    requiredScopes,
    challengedScope,
    scopesWithout(tokens, fromChallenge),
  );
  const all = mergeScopes(former, challenged);
  const needed = areRequestable(all)
    ? all
    : mergeScopes(former, requiredScopes);
  return {
    // Not more scopes than before: the user has agreed to these.
    scopes: needed.length > 0 ? needed : scopesWithout(tokens, scopes),
    requiredScopes: challenged.length > 0 ? needed : undefined,
  };
}

/** Returns a context whose errors and events repeat none of the tokens at hand. */
function contextFor(
  { sent = [], refused }: INeed,
  stored: ISession | undefined,
  context: IGrantContext,
): IGrantContext {
  return fork(context, [...sent, ...tokensOf(stored, refused)]);
}

/**
 * Fails with `sign_in_required` if a sign-in needs the user, who must not be prompted now.
 * What is missing is kept for `authorize()`.
 */
export function requirePrompt(
  need: INeed,
  stored: ISession | undefined,
  { keeper, resource, discovery, context, promptPolicy, authorize }:
    IApiContext,
): void {
  if (authorize?.needsUser === false || need.isUserInitiated) return;
  const { memory } = keeper;
  memory.needUnmet(promptPolicy, need);
  memory.sessionSeen(keeper.lastRead);
  const cause = memory.abandoned?.error;
  const facts = { ...promptPolicy, authorize, abandoned: cause };
  if (promptFor(need, facts) !== "click") return;
  const safeContext = contextFor(need, stored, context);
  const required = need.requiredScopes ?? need.challengedScope;
  const scopes = scopesWithout(
    secretsIn(safeContext),
    mergeScopes(stored?.scopes, required),
  );
  const { authorizationServer, serverMetadata } = discovery;
  const message = words`The user has to sign in for ${{
    url: resource,
  }}: call authorize()`;
  throw errorOf(safeContext, "sign_in_required", message, {
    reason: need.reason,
    resource: resource.href,
    issuer: serverMetadata?.issuer ?? stored?.issuer ??
      (authorizationServer && String(authorizationServer)),
    ...(scopes.length > 0 && { scopes }),
    cause,
  });
}

interface IDiscoveredSignIn extends IApiContext {
  readonly found: IAuthorizationContext;
}

/**
 * Discovers where the user signs in. The context of the sign-in has what servers may
 * repeat, and errors must not.
 */
export async function discoverSignIn(
  need: INeed,
  api: IApiContext,
  stored: ISession | undefined,
  discovery = discoverFor,
): Promise<IDiscoveredSignIn> {
  const context = contextFor(need, stored, api.context);
  const signIn = { ...api, context };
  if (need.reason === "step_up") report(context, stepUp(need));
  return { ...signIn, found: await discovery(need, signIn) };
}

/** Starts a sign-in that was discovered: returns what a flow receives. */
export function startedSignIn(
  need: INeed,
  { context, apis, rules, found }: IDiscoveredSignIn,
  stored: ISession | undefined,
  remains: ISession | undefined,
) {
  const { reason, acrValues, maxAge } = need;
  const { issuer } = found;
  const shared = apis?.begin(context, found, remains, need);
  report(context, { type: "sign_in_started", issuer, reason });
  const request = {
    ...sessionOptionsOf(context),
    context: found,
    ...scopesFor(need, found, stored),
    requiresIdToken: rules.bearer === "id_token",
    acrValues,
    maxAge,
  };
  return { shared, request };
}

/** Returns what is stored after a sign-in: with what is kept of the former session. */
export function finishedSignIn(
  session: ISession,
  former: ISession | undefined,
  need: ISharedNeed,
  api: IApiContext,
  found?: IAuthorizationContext,
): ISession {
  const whole = api.apis?.end(session, former, need) ?? session;
  return requireUsable(whole, api, found);
}

interface ISignInRenewal extends IApiContext {
  readonly authorize: Authorize;
  readonly stored: ISession | undefined;
  /** What remains of the stored session after a failed refresh. */
  readonly remains: ISession | undefined;
  readonly signal: AbortSignal;
}

export async function signInAnew(
  need: INeed,
  { stored, remains, signal, ...api }: ISignInRenewal,
): Promise<ISession> {
  const { keeper, authorize, resource, rules, promptPolicy, apis } = api;
  const { memory, lastRead } = keeper;
  const abortable = { ...api, context: { ...api.context, signal } };
  const signIn = await discoverSignIn(need, abortable, stored);
  const { found, context } = signIn;
  await apis?.requireServer(context, found, signIn);
  const { issuer } = found;
  const key = `sign in ${keeper.idOf(authorize)} ${resource} ${issuer}`;
  const putOff = putOffError(memory, key, rules.now());
  if (promptFor(need, { authorize, putOff }) === "put_off") throw putOff;
  const { known, mark } = remains?.issuer === issuer
    ? await storedClient(remains, need, signIn)
    : {};
  const { shared, request } = startedSignIn(need, signIn, stored, remains);
  const { revocations } = memory;
  let isShown = false;
  const shown = () => {
    // The user may have left another sign-in meanwhile, such as in finish().
    requirePrompt(need, stored, signIn);
    isShown = true;
  };
  let next: ISession;
  try {
    next = await underSignal(signal, () =>
      authorize({
        ...request,
        context: withRegistration(found, { mark, shown, shared, memory }),
        isFresh: need.reason === "fresh",
        session: known,
      }));
    memory.requestEnded(key, undefined, rules.now());
  } catch (error) {
    memory.requestEnded(key, error, rules.now());
    // The next sign-in registers a new client: this one must not ask the user twice.
    if (isClientRefused(error) && mark) {
      isShown = false;
      await mark.write();
    }
    memory.signInFailed(error);
    const isOver = memory.revocations !== revocations ||
      signal.reason === REPLACED;
    if (
      !isOver && (isAbandoned(error, isShown) || (isShown && signal.aborted))
    ) {
      memory.signInAbandoned(error, lastRead, need, api);
    }
    throw error;
  } finally {
    await mark?.written();
  }
  // Tokens of the other APIs may have been replaced or revoked while it was pending, and
  // may be again until the session is saved; unless the store cannot be read.
  const obtained = next;
  const nextAfter = (former: ISession | undefined) =>
    next = finishedSignIn(obtained, former, need, signIn, found);
  let isNew = !apis;
  const former = apis && await loadSession(signIn).catch(() => {
    isNew = true;
    return remains;
  });
  nextAfter(former);
  if (authorize.needsUser === false) memory.needMet(promptPolicy);
  else memory.signedIn(promptPolicy, bearerOf(next, rules), need);
  const failed = (error: unknown) => reportUnsaved(context, next, error);
  const replace = (used: ISession | undefined) =>
    isNew ? next : nextAfter(usableOf(signIn, used));
  await keeper.keep(replace, failed, isNew);
  reportSignIn(context, next);
  return next;
}
