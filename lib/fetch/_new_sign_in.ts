/** Obtains a new session: a challenge, the discovery, and `flow`. */

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
import { type Context, fork, report, secretsIn } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import type { GrantContext } from "../token/_grant_context.ts";
import { type AuthorizationContext, discover } from "../discovery/discover.ts";
import { isAbandoned, promptFor } from "./policy/_decisions.ts";
import { putOffError } from "./policy/_put_off.ts";
import { bearerOf } from "../session/_bearer.ts";
import { requireDpop } from "../session/_dpop_need.ts";
import { storedClient } from "./_stored_client.ts";
import type { SharedNeed } from "../flows/_sharing.ts";
import type { Registration } from "../flows/_flow_client.ts";
import { isClientRefused } from "../flows/_pending_mark.ts";
import { type Need, tokensOf } from "./policy/_need.ts";
import { REPLACED, usableOf } from "./keeper/_session_keeper.ts";
import { reportSignIn, reportUnsaved, stepUp } from "./_session_events.ts";
import type { ApiContext } from "./_api_context.ts";
import { requireUsable } from "./_usable_session.ts";
import type { Flow, FlowRequest } from "../flows/flow.ts";
import {
  type Session,
  sessionOptionsOf,
  type StoredSession,
} from "../session/session.ts";

/**
 * Requests the resource without a token: many servers name their metadata and scopes
 * only in the challenge. The discovery reports a missing response.
 */
async function obtainChallenge(
  { resource, discovery }: ApiContext,
  context: Context,
): Promise<IResponse["headers"] | undefined> {
  // The caller has set the server.
  const { authorizationServer, serverMetadata } = discovery;
  if (authorizationServer ?? serverMetadata) return undefined;
  const headers = mergeHeaders(
    { Accept: "*/*" },
    discovery.resourceMetadataHeaders,
  );
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
  need: Need,
  api: ApiContext,
): Promise<AuthorizationContext> {
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

export function scopesFor(
  { requiredScopes, challengedScope, refused }: Need,
  { issuer, challenge, scopes = [] }: AuthorizationContext,
  earlier: StoredSession | undefined,
): Pick<FlowRequest, "scopes" | "requiredScopes"> {
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
    // No more scopes than before, because the user agreed to these.
    scopes: needed.length > 0 ? needed : scopesWithout(tokens, scopes),
    requiredScopes: challenged.length > 0 ? needed : undefined,
  };
}

function contextFor(
  { sent = [], refused }: Need,
  stored: StoredSession | undefined,
  context: GrantContext,
): GrantContext {
  return fork(context, [...sent, ...tokensOf(stored, refused)]);
}

/**
 * Fails with `sign_in_required` if a sign-in needs a prompt that is not allowed now.
 * Keeps the need for `signIn()`.
 */
export function requirePrompt(
  need: Need,
  stored: StoredSession | undefined,
  { keeper, resource, discovery, context, promptPolicy, flow }: ApiContext,
): void {
  if (flow?.needsUser === false || need.isUserInitiated) return;
  const { memory } = keeper;
  memory.needUnmet(promptPolicy, need);
  memory.sessionSeen(keeper.lastRead);
  const cause = memory.abandoned?.error;
  const facts = { ...promptPolicy, flow, abandoned: cause };
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
  }}: call signIn()`;
  throw errorOf(safeContext, "sign_in_required", message, {
    signInReason: need.reason,
    resource: resource.href,
    issuer: serverMetadata?.issuer ?? stored?.issuer ??
      (authorizationServer && String(authorizationServer)),
    ...(scopes.length > 0 && { scopes }),
    cause,
  });
}

interface DiscoveredSignIn extends ApiContext {
  readonly found: AuthorizationContext;
}

/**
 * Discovers the user's server. The sign-in's context contains secrets that servers may
 * repeat, and errors must not.
 */
export async function discoverSignIn(
  need: Need,
  api: ApiContext,
  stored: StoredSession | undefined,
  discovery = discoverFor,
): Promise<DiscoveredSignIn> {
  const context = contextFor(need, stored, api.context);
  const signIn = { ...api, context };
  if (need.reason === "step_up") report(context, stepUp(need));
  return { ...signIn, found: await discovery(need, signIn) };
}

export function startedSignIn(
  need: Need,
  { context, apis, rules, found }: DiscoveredSignIn,
  stored: StoredSession | undefined,
  remains: StoredSession | undefined,
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

/**
 * Returns the session to store after a sign-in, with the former session's kept parts.
 */
export function finishedSignIn(
  session: Session,
  former: StoredSession | undefined,
  need: SharedNeed,
  api: ApiContext,
  found?: AuthorizationContext,
): Session {
  const whole = api.apis?.end(session, former, need) ?? session;
  return requireUsable(whole, api, found);
}

interface SignInRenewal extends ApiContext {
  readonly flow: Flow;
  readonly stored: StoredSession | undefined;
  readonly remains: StoredSession | undefined;
  readonly signal: AbortSignal;
}

export async function signInAnew(
  need: Need,
  { stored, remains, signal, ...api }: SignInRenewal,
): Promise<Session> {
  const { keeper, flow, resource, rules, promptPolicy, apis } = api;
  const { memory, lastRead } = keeper;
  const abortable = { ...api, context: { ...api.context, signal } };
  const signIn = await discoverSignIn(need, abortable, stored);
  const { found, context } = signIn;
  await apis?.requireServer(context, found, signIn);
  const { issuer } = found;
  const key = `sign in ${keeper.idOf(flow)} ${resource} ${issuer}`;
  const putOff = putOffError(memory, key, rules.now());
  if (promptFor(need, { flow, putOff }) === "put_off") throw putOff;
  const { known, mark } = remains?.issuer === issuer
    ? await storedClient(remains, need, signIn)
    : {};
  const { shared, request } = startedSignIn(need, signIn, stored, remains);
  const { revocations } = memory;
  let isShown = false;
  const shown = () => {
    // Meanwhile, the user may have left another sign-in, such as in finish().
    requirePrompt(need, stored, signIn);
    isShown = true;
  };
  let next: Session;
  try {
    next = await underSignal(signal, () =>
      flow({
        ...request,
        internal: { mark, shown, shared, memory } satisfies Registration,
        isFresh: need.reason === "fresh",
        session: known,
      }));
    memory.requestEnded(key, undefined, rules.now());
  } catch (error) {
    memory.requestEnded(key, error, rules.now());
    // The next sign-in registers a new client: this one must not prompt the user twice.
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
  // Other APIs' tokens may change until the session is saved, which reads it again.
  const obtained = next;
  const nextAfter = (former: StoredSession | undefined) =>
    next = finishedSignIn(obtained, former, need, signIn, found);
  nextAfter(apis && remains);
  if (flow.needsUser === false) memory.needMet(promptPolicy);
  else memory.signedIn(promptPolicy, bearerOf(next, rules), need);
  const failed = (error: unknown) => reportUnsaved(context, next, error);
  const replace = (used: StoredSession | undefined) =>
    apis ? nextAfter(usableOf(signIn, used)) : next;
  await keeper.keep(replace, failed, !apis);
  reportSignIn(context, next);
  return next;
}
