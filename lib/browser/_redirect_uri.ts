/** Where the authorization response arrives: at a page of the same origin. */

import { requireArgument, requireHttpUrl } from "../core/_arguments.ts";
import { isWebUrl, quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import { findWindow } from "./_window.ts";

/** Returns a redirect URI as a string. On a server, there is no origin to compare. */
export function requireRedirectUri(value: unknown): string {
  const url = requireHttpUrl("redirectUri", value);
  const origin = findWindow()?.location.origin;
  requireArgument(
    origin === undefined || url.origin === origin,
    "redirectUri",
    `a URL of the origin of the page, ${origin}`,
  );
  return String(value);
}

/**
 * Fails if a page must not navigate to the URL: `javascript:` would run in the page.
 */
export function requireWebUrl({ href }: URL): void {
  if (isWebUrl(href)) return;
  const message = `URL ${quoteUrl(href)} is not http or https`;
  throw new OAuthClientError("url_refused", message);
}
