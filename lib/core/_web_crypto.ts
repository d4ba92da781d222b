import { OAuthClientError } from "./errors.ts";

/** Browsers offer Web Crypto in secure contexts only. */
export function subtleCrypto(): typeof crypto.subtle {
  const subtle: typeof crypto.subtle | undefined = globalThis.crypto?.subtle;
  if (subtle) return subtle;
  throw new OAuthClientError(
    "unsupported",
    "The Web Crypto API is missing: open the page over https, or over http " +
      "on localhost",
  );
}
