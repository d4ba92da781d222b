import type { ServerMetadata } from "../core/metadata.ts";
import { errorOf, words } from "../http/_error.ts";
import type { GrantContext } from "../token/_grant_context.ts";

/** Browsers, servers and proxies accept no longer URLs. */
const MAX_URL_CHARACTERS = 16_384;

/**
 * Fails if an authorization request is too long for a browser, or for a cookie, which
 * contains the scopes even if the request is pushed.
 */
export function requireLength(
  context: GrantContext,
  { issuer }: ServerMetadata,
  length: number,
): void {
  if (length <= MAX_URL_CHARACTERS) return;
  const message = words`Authorization at ${{ url: issuer }} not requested: \
the URL would have ${length} characters, expected at most \
${MAX_URL_CHARACTERS}${[{
    option: "scopes",
    text: "set scopes, or par if other parameters are long",
  }]}`;
  throw errorOf(context, "url_refused", message);
}
