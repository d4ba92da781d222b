import { isLoopback, parseHttpUrl } from "../core/_url.ts";

/**
 * Returns `web` if a redirect URI is http on another host than loopback, or if all are
 * https; otherwise `native`. oidc-provider rejects such an http URI for a native
 * client.
 */
export function applicationTypeOf(
  redirectUris: readonly string[] = [],
): string {
  const urls = redirectUris.map(parseHttpUrl);
  return urls.some((url) => url?.protocol === "http:" && !isLoopback(url)) ||
      (urls.length > 0 && urls.every((url) => url?.protocol === "https:"))
    ? "web"
    : "native";
}
