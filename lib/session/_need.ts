/** What a resource requires by a response with status 401 or 403. */

import { findChallenges } from "../core/challenge.ts";
import { missingScopes } from "../core/scopes.ts";
import { stepUpParameters } from "../core/step_up.ts";
import type { ISession } from "./session.ts";

/** Where a session came from. */
export type SessionSource = "store" | "refresh" | "authorize";

/** Why another session is needed. */
export interface INeed {
  /** The access token that was refused or expires; undefined if there was none. */
  readonly refused: string | undefined;
  /** Whether a refresh could help. */
  readonly mayRefresh: boolean;
  /** The `WWW-Authenticate` header field of the response. */
  readonly challenge?: string | undefined;
  readonly requiredScopes?: string | undefined;
  readonly acrValues?: string | undefined;
  readonly maxAge?: number | undefined;
}

/** The session that a request was sent with. */
export interface IUsedSession {
  readonly session: ISession | undefined;
  readonly source: SessionSource;
  /** The need that led to it. */
  readonly need?: INeed | undefined;
}

/** Returns the access token of a session, if it has one. */
export function tokenOf(session: ISession | undefined): string | undefined {
  return session?.token.access_token || undefined;
}

/** Returns what a response requires; undefined if another session would not help. */
export function needOf(
  { status, headers }: Response,
  { session, source, need }: IUsedSession,
): INeed | undefined {
  if (status !== 401 && status !== 403) return undefined;
  const challenges = findChallenges(headers);
  const find = (error: string) =>
    challenges.find(({ params }) => params.error === error);
  const refused = tokenOf(session);
  const challenge = headers.get("WWW-Authenticate") ?? undefined;
  const common = { refused, challenge, mayRefresh: false };
  const authentication = find("insufficient_user_authentication");
  if (authentication) {
    const { acr_values: acrValues, max_age } = stepUpParameters(authentication);
    const maxAge = max_age === undefined ? undefined : Number(max_age);
    // The user has just signed in for exactly this.
    const isRepeated = source === "authorize" &&
      need?.acrValues === acrValues && need?.maxAge === maxAge;
    return isRepeated ? undefined : { ...common, acrValues, maxAge };
  }
  if (status === 403) {
    const requiredScopes = find("insufficient_scope")?.params.scope;
    const missing = missingScopes(requiredScopes, session?.scopes);
    return missing.length > 0 ? { ...common, requiredScopes } : undefined;
  }
  // Another token would not help a proof that the resource does not accept.
  const isProofRefused = find("use_dpop_nonce") ?? find("invalid_dpop_proof");
  if (source === "authorize" || (refused && isProofRefused)) return undefined;
  return { ...common, mayRefresh: source !== "refresh" };
}
