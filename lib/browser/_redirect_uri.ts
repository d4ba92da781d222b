import { requireArgument, requireHttpUrl } from "../core/_arguments.ts";
import { isWebUrl, quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import { findWindow } from "./_window.ts";

/**
 * Returns a receiver's redirect URI, which must be on the page's origin; a server has
 * none to compare. Fails for unknown options.
 *
 * @param receiver The options' owner.
 * @param others Its other options.
 */
export function redirectUriOf(
  { redirectUri, ...left }: { readonly redirectUri: unknown },
  receiver: string,
  others: string,
): string {
  for (const name in left) {
    if (left[name as never] === undefined) continue;
    const message = `options.${name} is not an option of ${receiver} ` +
      `(use redirectUri, ${others})`;
    throw new OAuthClientError("invalid_argument", message);
  }
  const url = requireHttpUrl("redirectUri", redirectUri);
  const origin = findWindow()?.location.origin;
  requireArgument(
    origin === undefined || url.origin === origin,
    "redirectUri",
    `a URL of the origin of the page, ${origin}`,
  );
  return String(redirectUri);
}

/** A `javascript:` URL would run in the page. */
export function requireWebUrl({ href }: URL): void {
  if (isWebUrl(href)) return;
  const message = `URL ${quoteUrl(href)} is not http or https`;
  throw new OAuthClientError("url_refused", message);
}
