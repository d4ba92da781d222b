import { invalidArgument, requireStrings } from "./_arguments.ts";
import { quote } from "./_quote.ts";

const SCOPE_VALUE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export function requireScopes(name: string, value: unknown): string[] {
  const scopes = requireStrings(name, value);
  const unfit = scopes.find((scope) => !SCOPE_VALUE.test(scope));
  if (unfit === undefined) return scopes;
  throw invalidArgument(
    name,
    "an array of scope values (RFC 6749, section 3.3), but contains " +
      quote(JSON.stringify(unfit.slice(0, 50))),
  );
}

// Many servers reject a URL of more than about 8,000 characters.
const MAX_SCOPES = 100;
const MAX_SCOPE_CHARACTERS = 4_096;

export function areRequestable(scopes: readonly string[]): boolean {
  return scopes.length <= MAX_SCOPES &&
    scopes.join(" ").length <= MAX_SCOPE_CHARACTERS;
}

/** Omits scopes that repeat a sent secret. */
export function scopesWithout(
  secrets: readonly string[],
  scopes: readonly string[],
): string[] {
  return scopes.filter((scope) => !secrets.includes(scope));
}

/**
 * Reads a server's scopes: splits at whitespace and omits duplicates and invalid
 * values.
 */
export function scopesFrom(value: unknown): string[] {
  const scopes = new Set<string>();
  for (const text of Array.isArray(value) ? value : [value]) {
    if (typeof text !== "string") continue;
    for (const scope of text.split(/\s+/)) {
      if (SCOPE_VALUE.test(scope)) scopes.add(scope);
    }
  }
  return [...scopes];
}
