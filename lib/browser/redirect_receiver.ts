import { requireObject } from "../core/_arguments.ts";
import { parseUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import { underSignal } from "../http/_clock.ts";
import type { Visit } from "../flows/code_flow_options.ts";
import type { Session } from "../session/session.ts";
import type { PendingAuthorization } from "../flows/sign_in.ts";
import { keepVisit, type RedirectStorage, takeVisit } from "./kept_visits.ts";
import { redirectUriOf, requireWebUrl } from "./_redirect_uri.ts";
import { listen, requireWindow } from "./_window.ts";

export type { RedirectStorage } from "./kept_visits.ts";

/**
 * If the user stops the server's page from loading, this page stays, without an event.
 */
const LEAVE_MS = 30_000;

/** Options of {@linkcode createRedirectReceiver}. */
export interface RedirectReceiverOptions {
  /**
   * URL of the page that calls {@linkcode RedirectReceiver.resume}, on the same origin
   * as the page that signs the user in. It may be the same page.
   */
  redirectUri: string | URL;
  /**
   * Keeps the PKCE code verifier and the client, with its secret, until the user comes
   * back, for an hour at most.
   *
   * @default {sessionStorage, because the user comes back to the same tab}
   */
  storage?: RedirectStorage | undefined;
}

/** A receiver of authorization responses: options of {@linkcode codeFlow}. */
export interface RedirectReceiver {
  /** The redirect URI. */
  redirectUri: string;
  /** Navigates to the URL. Never resolves, and rejects when the page is left. */
  visit: (
    url: URL,
    authorization: Pick<Visit, "pending" | "signal">,
  ) => Promise<never>;
  /**
   * Finishes the sign-in when the user comes back, and returns to the page that the
   * user left. Call it whenever the page loads, before other code reads the URL. It
   * does nothing if the URL is no response to a sign-in in this storage.
   *
   * The sign-in and the URL's query are removed before the code is redeemed, so a
   * reload does not redeem it again. If the user left a page at `redirectUri`'s path,
   * its query and fragment are restored; otherwise that page is loaded, and the promise
   * does not settle.
   *
   * @param api From {@linkcode createAuthorizedFetch}, with a store that other pages
   * can read, such as `webStorageStore`.
   * @returns The session, or undefined if there was no sign-in to finish.
   * @throws {OAuthClientError} As {@linkcode finishAuthorization}, once: `oauth_error`
   * if the server rejected the request or the user declined. `unsupported`: there is no
   * window.
   */
  resume: (api: ResumingFetch) => Promise<Session | undefined>;
}

/** The part of an authorized fetch that {@linkcode RedirectReceiver.resume} uses. */
export interface ResumingFetch {
  /** Finishes a sign-in, and saves the session. */
  finish(callback: string, pending: PendingAuthorization): Promise<Session>;
}

const pathOf = (url: string) => parseUrl(url)?.pathname;

/**
 * Creates a receiver of authorization responses for a web page. The user leaves the
 * page, signs in and comes back to `redirectUri`, whose page calls
 * {@linkcode RedirectReceiver.resume | resume()}. This needs no click, and works if
 * popups do not, but the page loses its memory.
 *
 * The function `visit` rejects with `redirected` when the user leaves the page. That is
 * no error to show: it releases the store's lock, which a page in the back/forward
 * cache would hold. Other codes are `timeout` if the user did not leave within 30
 * seconds, `url_refused` if the URL is not http or https, and `unsupported` outside of
 * a page. Errors of the storage, such as `QuotaExceededError`, are unchanged.
 *
 * A page's DPoP key is lost when the user leaves: keep the `CryptoKeyPair` in
 * IndexedDB, and pass it to `createDpop`.
 *
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid, or `redirectUri`
 * is on another origin than the page.
 * @see RFC 6749, section 4.1; RFC 10017, section 6.3.
 *
 * @example Leave the page to sign in, and continue when the user is back
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { createRedirectReceiver } from "@oauth-helper/client/browser";
 * import { webStorageStore } from "@oauth-helper/client/stores";
 *
 * export async function start() {
 *   const receiver = createRedirectReceiver({
 *     redirectUri: `${location.origin}/`,
 *   });
 *   const api = createAuthorizedFetch("https://api.example/mcp", {
 *     store: webStorageStore(localStorage, "session"),
 *     flow: codeFlow({
 *       ...receiver,
 *       clientMetadata: { client_name: "My page" },
 *     }),
 *   });
 *   await receiver.resume(api);
 *   return api;
 * }
 * ```
 */
export function createRedirectReceiver(
  options: RedirectReceiverOptions,
): RedirectReceiver {
  const { storage, ...given } = requireObject("options", options);
  const redirectUri = redirectUriOf(
    given,
    "createRedirectReceiver",
    "storage",
  );
  if (storage !== undefined) requireObject("storage", storage);
  let resuming: Promise<Session | undefined> | undefined;

  /** Looked up at each use, because some browsers throw if storage is not allowed. */
  const usedStorage = (): RedirectStorage => storage ?? sessionStorage;

  const visit: RedirectReceiver["visit"] = async (url, authorization) => {
    const { pending, signal } = authorization;
    requireWebUrl(url);
    const page = requireWindow();
    const { location } = page;
    const stops: (() => void)[] = [];
    const leave = () =>
      new Promise<never>((_, reject) => {
        const end = (code: "redirected" | "timeout", message: string) =>
          reject(new OAuthClientError(code, message));
        stops.push(listen(page, "pagehide", () => {
          end("redirected", "The user has left the page to sign in");
        }));
        const expire = () =>
          end("timeout", `The page was not left within ${LEAVE_MS} ms`);
        const timer = setTimeout(expire, LEAVE_MS);
        stops.push(() => clearTimeout(timer));
        const { href: from } = location;
        keepVisit(usedStorage(), { pending, from, at: Date.now() });
        location.assign(url.href);
      });
    try {
      return await underSignal(signal, leave);
    } finally {
      for (const stop of stops) stop();
    }
  };

  async function finish(api: ResumingFetch): Promise<Session | undefined> {
    const { location, history } = requireWindow();
    const { href } = location;
    const visit = takeVisit(usedStorage(), href, Date.now());
    if (!visit) return undefined;
    const { pending, from } = visit;
    const isSamePage = pathOf(from) === pathOf(href);
    // This also removes the code from the history and the referrer.
    history.replaceState(
      history.state,
      "",
      isSamePage ? from : pending.redirectUri,
    );
    const session = await api.finish(href, pending);
    if (isSamePage) return session;
    location.replace(from);
    // Code after this would run in a page that is being left.
    return await new Promise<never>(() => {});
  }

  return {
    redirectUri,
    visit,
    // Frameworks may call it twice at the start; the second call must also return the
    // session.
    resume: (api) =>
      resuming ??= finish(api).finally(() => resuming = undefined),
  };
}
