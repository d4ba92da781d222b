/** Parsing of addresses. */

/**
 * The URL that a text stands for; undefined when it stands for none. In place of
 * `URL.canParse`, which Node 20 gets wrong for texts beyond ASCII once it has
 * compiled it.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** An address as it may be shown: its scheme, and what follows the last `@`. */
export function withoutCredentials(address: string): string {
  return address.replace(/^(\w+:\/\/)?.*@/s, "$1");
}
