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
import { discover, type IAuthorizationContext } from "../discovery/discover.ts";
import { isLeft, requireAsking } from "./policy/_prompts.ts";
import { bearerOf } from "../session/_bearer.ts";
import { requireDpop } from "../session/_dpop_need.ts";
import { storedClient } from "./_stored_client.ts";
import { withRegistration } from "../flows/_flow_client.ts";
import { isClientRefused } from "../flows/_visit_mark.ts";
import { type INeed, tokensOf } from "./policy/_need.ts";
import { REPLACED } from "./keeper/_session_keeper.ts";
import { reportSignIn, reportUnsaved, stepUp } from "./_session_events.ts";
import type { IRenewal } from "./_fetch_context.ts";
import { loadSession, requireUsable } from "./_usable_session.ts";
import type { Authorize, IAuthorizeRequest } from "../flows/flow.ts";
import { type ISession, sessionOptionsOf } from "../session/session.ts";

/**
 * Requests the resource without a token, for its challenge: many servers name their
 * metadata and scopes only there. If there is no response, the discovery reports that.
 */
async function obtainChallenge(
  { resource, discovery }: IRenewal,
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

/** Discovers the authorization server. */
export async function discoverFor(
  need: INeed,
  renewal: IRenewal,
): Promise<IAuthorizationContext> {
  const { resource, discovery, context } = renewal;
  const challenge = need.challenge ?? await obtainChallenge(renewal, context);
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

/** A renewal that leads to a sign-in. */
interface ISignInRenewal extends IRenewal {
  readonly authorize: Authorize;
  /** The session that was stored. */
  readonly earlier: ISession | undefined;
  /** What is left of it. */
  readonly rest: ISession | undefined;
  readonly signal: AbortSignal;
}

/** Discovers the authorization server, asks for a session, and stores it. */
export async function signInAnew(
  need: INeed,
  { earlier, rest, signal, ...further }: ISignInRenewal,
): Promise<ISession> {
  const { store, authorize, resource, rules, asking, apis } = further;
  const { memory, memory: { later }, last } = store;
  const { reason, acrValues, maxAge } = need;
  const isFresh = reason === "fresh";
  // What the servers may repeat.
  const received = tokensOf(earlier, need.refused);
  const own = { ...further.context, signal };
  const context = fork(own, [...need.sent ?? [], ...received]);
  const renewal = { ...further, context };
  if (reason === "step_up") report(context, stepUp(need));
  const found = await discoverFor(need, renewal);
  await apis?.requireServer(context, found, renewal);
  const { issuer } = found;
  const key = `sign in ${store.lock.idOf(authorize)} ${resource} ${issuer}`;
  const putOff = later.errorFor(key, rules.now());
  if (putOff && !isFresh && !need.isWanted) throw putOff;
  const { known, mark } = rest?.issuer === issuer
    ? await storedClient(rest, need, renewal)
    : {};
  const shared = apis?.begin(context, found, rest, need);
  report(context, { type: "sign_in_started", issuer, reason });
  const isRevoked = memory.watchRevocation();
  let isShown = false;
  const shown = () => {
    // The user may have left another sign-in meanwhile, such as in finish().
    requireAsking(need, earlier, renewal);
    isShown = true;
  };
  let next: ISession;
  try {
    next = await underSignal(signal, () =>
      authorize({
        ...sessionOptionsOf(context),
        context: withRegistration(found, { mark, shown, shared, memory }),
        ...scopesFor(need, found, earlier),
        requiresIdToken: rules.bearer === "id_token",
        isFresh,
        session: known,
        acrValues,
        maxAge,
      }));
    later.note(key, undefined, rules.now());
  } catch (error) {
    later.note(key, error, rules.now());
    // The next sign-in registers a new client: this one must not ask the user twice.
    if (isClientRefused(error) && mark) {
      isShown = false;
      await mark.write();
    }
    memory.failed(error);
    const isOver = isRevoked() || signal.reason === REPLACED;
    if (!isOver && (isLeft(error, isShown) || (isShown && signal.aborted))) {
      memory.left(error, last, need, further);
    }
    throw error;
  } finally {
    await mark?.written();
  }
  // Tokens of the other APIs may have been replaced or revoked during the visit.
  const former = apis && await loadSession(renewal).catch(() => rest);
  next = requireUsable(apis?.end(next, former, need) ?? next, renewal, found);
  if (authorize.needsUser === false) memory.obtained(asking);
  else memory.signedIn(asking, bearerOf(next, rules), need);
  const failed = (error: unknown) => reportUnsaved(context, next, error);
  await store.keep(() => next, failed, true);
  reportSignIn(context, next);
  return next;
}
