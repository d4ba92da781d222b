/**
 * Sign-in for web pages. {@linkcode createPopupReceiver} opens the server in a popup.
 * {@linkcode createRedirectReceiver} leaves the page for the server and returns to it.
 * Both create options for {@linkcode codeFlow}. The guide is `docs/web-page.md` in the
 * package.
 *
 * **Popup or redirect?** With a popup, the page keeps its memory. A popup needs a click
 * within about five seconds. If the discovery may take longer, call the receiver's
 * `open()` in the click handler. A redirect needs no click and works on every device,
 * but the page is reloaded.
 *
 * **The redirect URI** is a page of the same origin. For popups, it is a small page
 * that calls {@linkcode finishPopup} and loads no third-party scripts. For redirects,
 * it may be the page itself: `resume()` cleans its URL and returns to the user's place.
 * In a frame of another site, serve these pages without a `Cross-Origin-Opener-Policy`.
 *
 * **The opener.** A server's page in the popup can send the opening page to another
 * URL. Unless that page is in a frame, it prevents this with
 * `Cross-Origin-Opener-Policy: same-origin`. A canceled sign-in then leaves its popup
 * open.
 *
 * **The session.** With `webStorageStore(localStorage, "session")`, all tabs share the
 * session, and one tab at a time signs in or refreshes. Every script of the origin can
 * read it. A DPoP key with a non-extractable `privateKey` makes a stolen token useless
 * on another machine. Keep the `CryptoKeyPair` in IndexedDB, because it must survive a
 * reload, and pass it to `createDpop`.
 *
 * **The client.** The session keeps a registration, so each unfinished sign-in leaves
 * an unused one at the server. For many visitors, set a flow's `clientMetadataUrl` or
 * `client`.
 *
 * **The server** must allow the page's origin (CORS) for its metadata, registration and
 * token endpoint. The resource must expose `WWW-Authenticate`. The module `./doctor`
 * checks both.
 *
 * **Errors.** Show the user `popup_blocked`, `popup_closed`, `timeout`, and
 * `oauth_error`, which means that the server rejected the request or the user declined.
 * After `redirected`, the user has left the page.
 *
 * @example A page with a button, whose popup goes to callback.html
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { createPopupReceiver } from "@oauth-helper/client/browser";
 * import { webStorageStore } from "@oauth-helper/client/stores";
 *
 * export function start(button: EventTarget, show: (text: unknown) => void) {
 *   const url = "https://api.example/mcp";
 *   const redirectUri = `${location.origin}/callback.html`;
 *   const api = createAuthorizedFetch(url, {
 *     store: webStorageStore(localStorage, "session"),
 *     flow: codeFlow({
 *       ...createPopupReceiver({ redirectUri }),
 *       clientMetadata: { client_name: "My page" },
 *     }),
 *   });
 *   const call = async () => show(await (await api(url)).text());
 *   button.addEventListener("click", () => call().catch(show));
 * }
 * ```
 *
 * @example The script of callback.html
 * ```ts
 * import { finishPopup } from "@oauth-helper/client/browser";
 *
 * // Only in a page.
 * if ("document" in globalThis) await finishPopup();
 * ```
 *
 * @example A page that the user leaves to sign in
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { createRedirectReceiver } from "@oauth-helper/client/browser";
 * import { webStorageStore } from "@oauth-helper/client/stores";
 *
 * export async function start(show: (text: unknown) => void) {
 *   const url = "https://api.example/mcp";
 *   const redirectUri = location.origin + location.pathname;
 *   const receiver = createRedirectReceiver({ redirectUri });
 *   const api = createAuthorizedFetch(url, {
 *     store: webStorageStore(localStorage, "session"),
 *     flow: codeFlow({
 *       ...receiver,
 *       clientMetadata: { client_name: "My page" },
 *     }),
 *   });
 *   try {
 *     await receiver.resume(api);
 *     show(await (await api(url)).text());
 *   } catch (error) {
 *     show(error);
 *   }
 * }
 * ```
 *
 * @module
 */

export * from "./finish_popup.ts";
export * from "./popup_receiver.ts";
export * from "./redirect_receiver.ts";
