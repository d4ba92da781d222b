import {
  areRequestable,
  scopesFrom,
  scopesWithout,
} from "../../core/_scope_values.ts";
import { findChallenges } from "../../core/challenge.ts";
import { mergeScopes, missingScopes } from "../../core/scopes.ts";
import type { SignInReason } from "../../core/errors.ts";
import type { IAuthenticationChallenge } from "../../core/types.ts";
import { stepUpParameters } from "../../core/_step_up.ts";
import { secretsIn, type Sent } from "../../http/_context.ts";
import { rejectsToken } from "./_rejections.ts";
import { internalOf } from "../../session/_internal.ts";
import { allTokensOf, type StoredSession } from "../../session/session.ts";

export type SessionSource = "store" | "refresh" | "sign_in";

export interface Need {
  /** The reason in events and errors, if the user must sign in. */
  readonly reason: SignInReason;
  /** The access token that was rejected or expires. */
  readonly refused: string | undefined;
  readonly mayRefresh: boolean;
  /** Whether the caller requested a sign-in by `signIn()`. */
  readonly isUserInitiated?: boolean | undefined;
  /** The header fields of the resource's response, with its challenges. */
  readonly challenge?: Headers | undefined;
  /** The scope of another URL's challenge; no other member counts. */
  readonly challengedScope?: string | undefined;
  /** The request's values, which the response may repeat, and errors must not. */
  readonly sent?: readonly Sent[] | undefined;
  readonly requiredScopes?: string | undefined;
  readonly acrValues?: string | undefined;
  readonly maxAge?: number | undefined;
  /** Whether the user has just signed in for exactly this. */
  readonly isUnmet?: boolean | undefined;
}

export interface Attempt {
  readonly session: StoredSession | undefined;
  /** Its token; undefined if it is missing, or must not be sent. */
  readonly token: string | undefined;
  readonly source: SessionSource;
  readonly need?: Need | undefined;
}

/** An empty access token counts as none. */
export function tokenOf(
  session: StoredSession | undefined,
): string | undefined {
  return session?.token?.access_token || undefined;
}

/** Returns tokens that servers know, and errors must not repeat. */
export function tokensOf(
  session: StoredSession | undefined,
  refused?: string,
): Sent[] {
  const { tokenParameters, idJag } = internalOf(session);
  const { registration_access_token } = session?.client ?? {};
  const body = tokenParameters && String(new URLSearchParams(tokenParameters));
  const tokens = allTokensOf(session).flatMap((token) => [
    token.access_token,
    token.refresh_token,
    token.id_token,
  ]);
  return [
    ...[...tokens, idJag?.assertion, refused, registration_access_token]
      .filter((token) => typeof token === "string"),
    ...(body ? [{ headers: {}, body }] : []),
  ];
}

export function reasonFor(refused: string | undefined): SignInReason {
  return refused === undefined ? "no_session" : "refused";
}

/** Checks whether the last sign-in for this requirement did not meet it. */
export function isUnmetBy(need: Need, lacked: Need | undefined): boolean {
  const requirementOf = (one: Need) =>
    String([one.reason, one.requiredScopes, one.acrValues, one.maxAge]);
  return lacked?.isUnmet === true &&
    requirementOf(need) === requirementOf(lacked);
}

/** Checks whether a session with more scopes would help, and can be requested. */
function mayAddScopes(
  required: string | undefined,
  { session, source, need }: Attempt,
): boolean {
  const { scopes, token } = session ?? {};
  // The user has just signed in, and the server did not grant the required scopes.
  const isDenied = source === "sign_in" &&
    missingScopes(need?.requiredScopes, token?.scope ?? scopes).length > 0;
  return !isDenied && missingScopes(required, scopes).length > 0 &&
    areRequestable(mergeScopes(scopes, required));
}

/**
 * Returns a response's need; undefined if another session would not help. Only the
 * resource URL's challenge may select the server.
 */
export function needOf(
  { status, headers }: Response,
  attempt: Attempt,
  isOfResource: boolean,
): Need | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const { token: refused, source, need } = attempt;
  const challenges = findChallenges(headers);
  const find = (error: string) =>
    challenges.find(({ params }) => params.error === error);
  const scopeOf = (challenge: IAuthenticationChallenge | undefined) => {
    const scope = challenge?.params.scope;
    if (!scope) return scope;
    // A resource may repeat a token instead of a scope.
    const tokens = secretsIn({ sent: tokensOf(attempt.session, refused) });
    return scopesWithout(tokens, scopesFrom(scope)).join(" ");
  };
  const hasJustSignedIn = source === "sign_in";
  const common = {
    reason: reasonFor(refused),
    refused,
    ...(isOfResource
      ? { challenge: headers }
      : { challengedScope: scopeOf(challenges[0]) }),
  };
  const stepUp = { ...common, reason: "step_up", mayRefresh: false } as const;
  const authentication = find("insufficient_user_authentication");
  if (authentication) {
    const { acr_values: acrValues, max_age } = stepUpParameters(authentication);
    const maxAge = max_age ? Number(max_age) : undefined;
    const isUnmet = hasJustSignedIn && need?.acrValues === acrValues &&
      need?.maxAge === maxAge;
    return { ...stepUp, acrValues, maxAge, isUnmet };
  }
  if (!rejectsToken({ status, headers })) {
    const requiredScopes = scopeOf(find("insufficient_scope"));
    return mayAddScopes(requiredScopes, attempt)
      ? { ...stepUp, requiredScopes }
      : undefined;
  }
  // If the resource rejects the proof, another token would not help.
  const isProofRefused = refused &&
    (find("use_dpop_nonce") ?? find("invalid_dpop_proof"));
  return hasJustSignedIn || isProofRefused
    ? undefined
    : { ...common, mayRefresh: source !== "refresh" };
}
