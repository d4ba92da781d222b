import { readClaims } from "../core/_jwt.ts";
import { isSendable } from "../token/_usable_token.ts";
import type { Token } from "../token/token.ts";
import type { StoredSession } from "./session.ts";

export interface TokenRules {
  /** The member of the token response that is sent to the resource. */
  readonly bearer: "access_token" | "id_token";
  /** How many seconds before expiry to renew a token. */
  readonly skewSeconds: number;
  readonly now: () => number;
}

export function bearerOf(
  session: StoredSession | undefined,
  { bearer }: Pick<TokenRules, "bearer">,
): string | undefined {
  const value = session?.token?.[bearer];
  return value && isSendable(value) ? value : undefined;
}

/** In seconds. */
export function timesOf(
  idToken: string | undefined,
): { expiry?: number; lifetime?: number } {
  const { exp, iat } = readClaims(idToken) ?? {};
  if (typeof exp !== "number") return {};
  return {
    expiry: exp,
    ...(typeof iat === "number" && { lifetime: exp - iat }),
  };
}

/** Checks whether the token to send expires soon, or has expired. */
export function expires(
  { token = {} as Token }: StoredSession,
  when: "soon" | "now",
  { bearer, skewSeconds, now }: TokenRules,
): boolean {
  const { expiry, lifetime = Infinity } = bearer === "id_token"
    ? timesOf(token.id_token)
    : { expiry: token.expires_at, lifetime: token.expires_in };
  // A token of unknown lifetime is used until the resource rejects it.
  if (expiry === undefined) return false;
  // Otherwise, each call would renew a short-lived token.
  const skew = Math.max(0, Math.min(skewSeconds, lifetime / 4));
  return now() / 1000 >= expiry - (when === "soon" ? skew : 0);
}
