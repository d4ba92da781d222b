/** Times in seconds since 1970, as text. */

/** Returns a time as RFC 3339 writes it, unless it is out of the range of dates. */
export function rfc3339(seconds: number): string | undefined {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime())
    ? undefined
    : date.toISOString().replace(/\.\d+/, "");
}
