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

/**
 * An address as it may be shown: its scheme, what stands in for credentials if it
 * has any, and what follows the last `@`.
 */
export function withoutCredentials(address: string, standIn = ""): string {
  const url = parseUrl(address);
  return url && !url.username && !url.password
    ? address
    : address.replace(/^(\w+:\/\/)?.*@/s, `$1${standIn}`);
}

/** An address that a user may be sent to, by its scheme; undefined for others. */
export function webUrl(address: string | undefined): string | undefined {
  const { protocol = "" } = parseUrl(address ?? "") ?? {};
  return /^https?:$/.test(protocol) ? address : undefined;
}

/** A value that a server sent for an identifier, as it may be shown. */
export function shownUrl(value: unknown): unknown {
  return typeof value === "string"
    ? withoutCredentials(value, "[redacted]@")
    : value;
}
