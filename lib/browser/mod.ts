/**
 * Sign-in for web pages. {@linkcode createPopupReceiver} opens the server in a popup.
 * {@linkcode createRedirectReceiver} leaves the page for the server and returns to it.
 * Both create options for {@linkcode codeFlow}.
 *
 * **Popup or redirect?** With a popup, the page keeps its memory. A popup needs a
 * click: browsers block a popup that opens more than about five seconds after the
 * click. If the discovery may take that long, call `open()` of the receiver in the
 * click handler. A redirect needs no click and works on every device, but the page is
 * reloaded.
 *
 * **The redirect URI** is a page of the same origin. For popups, it is a separate small
 * page, which calls {@linkcode finishPopup} and loads no third-party scripts. For
 * redirects, it may be the page itself: `resume()` cleans its URL and returns to where
 * the user was. If the page is shown in a frame of another site, serve these pages
 * without a `Cross-Origin-Opener-Policy`; on other pages, the header does no harm.
 *
 * **The opener.** As with every popup, a page of the server in the popup can send the
 * page that opened it to another URL. A page that is not in a frame prevents that with
 * `Cross-Origin-Opener-Policy: same-origin`. A visit that ends early then leaves its
 * popup open.
 *
 * **The session.** With `webStorageStore(localStorage, "session")`, all tabs share the
 * session, and only one of them signs in or refreshes at a time; the others wait and
 * get the session. Every script of the origin can read the session. A DPoP key whose
 * `privateKey` is not extractable makes a stolen token useless on another machine. The
 * key has to survive a reload, so keep the `CryptoKeyPair` in IndexedDB and pass it to
 * `createDpop`.
 *
 * **The client.** A registration is kept with the session, so each user who does not
 * finish a sign-in leaves an unused registration at the server. For a page with many
 * visitors, set the option `clientMetadataUrl` or `client` of the flow.
 *
 * **The server** has to allow the origin of the page (CORS) for its metadata,
 * registration and token endpoint, and the resource has to expose `WWW-Authenticate`.
 * The module `./doctor` checks that.
 *
 * **Errors.** Show the user `popup_blocked`, `popup_closed`, `timeout`, and
 * `oauth_error`, which means that the user or the server rejected. After `redirected`
 * there is nothing to show, because the user has left the page.
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
