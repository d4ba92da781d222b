import { sendResponse } from "./_handover.ts";
import { requireWindow } from "./_window.ts";

/**
 * Passes the authorization response in this page's URL to the page that opened the
 * popup, and closes the window. Call it on the page at the `redirectUri` of
 * {@linkcode createPopupReceiver}; that page should load no third-party scripts.
 *
 * The query is removed from the URL first. The window is closed when the response has
 * been received, or after a second. Browsers close only windows that a page has opened,
 * so the page should tell the user to close it.
 *
 * @returns Whether a page received the response; false if the URL contains no response.
 * @throws {OAuthClientError} `unsupported`: there is no window.
 * @see RFC 6749, sections 4.1.2 and 10.12; RFC 9700, section 4.2.4.
 *
 * @example The script of the page at the redirect URI
 * ```ts
 * import { finishPopup } from "@oauth-helper/client/browser";
 *
 * export async function finish(show: (text: string) => void) {
 *   if (!await finishPopup()) show("Close this window and sign in again.");
 * }
 * ```
 */
export async function finishPopup(): Promise<boolean> {
  const page = requireWindow();
  const { href } = page.location;
  const { pathname, searchParams } = new URL(href);
  const state = searchParams.get("state");
  if (!state) return false;
  page.history.replaceState(null, "", pathname);
  const isTaken = await sendResponse(page, state, href);
  page.close();
  return isTaken;
}
