import {
  requireArgument,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { describeMs } from "../core/_quote.ts";
import { OAuthClientError } from "../core/errors.ts";
import { LONGEST_TIMER_MS, underSignal } from "../http/_clock.ts";
import type { Visit } from "../flows/code_flow_options.ts";
import { createClosedCheck, LOOK_MS } from "./_closed_popup.ts";
import { onResponse } from "./_handover.ts";
import { redirectUriOf, requireWebUrl } from "./_redirect_uri.ts";
import {
  listen,
  type PageWindow,
  type PopupWindow,
  requireWindow,
} from "./_window.ts";

const DEFAULT_FEATURES = "popup,width=500,height=650";
const DEFAULT_TIMEOUT_MS = 300_000;
const BLANK = "about:blank";

/** Options of {@linkcode createPopupReceiver}. */
export interface PopupReceiverOptions {
  /**
   * URL of the page that calls {@linkcode finishPopup}, on the same origin as the page
   * that signs the user in.
   */
  redirectUri: string | URL;
  /**
   * Size and place of the popup: the third parameter of `window.open`. `noopener` does
   * not work.
   *
   * @default {"popup,width=500,height=650"}
   */
  features?: string | undefined;
  /**
   * How long to wait for the user, in milliseconds.
   *
   * @default {300_000}
   */
  timeoutMs?: number | undefined;
}

/** A receiver of authorization responses: options of {@linkcode codeFlow}. */
export interface PopupReceiver {
  /** The redirect URI. */
  redirectUri: string;
  /**
   * Shows the URL in a popup and waits for the authorization response. Returns the
   * redirect URI with the query of the response.
   */
  visit: (url: URL, authorization: PopupVisit) => Promise<URL>;
  /**
   * Opens an empty popup for the next sign-in. Browsers block popups about five seconds
   * after a click: call this in the click handler if the discovery may take longer.
   *
   * @returns An object that closes the popup if the sign-in needs no page, or fails
   * earlier.
   * @throws {OAuthClientError} `popup_blocked`: the browser did not open it.
   */
  open: () => OpenedPopup;
}

/** The second argument of {@linkcode PopupReceiver.visit}. */
export interface PopupVisit extends Pick<Visit, "signal"> {
  /** The member of the pending authorization that the receiver uses. */
  pending: Pick<Visit["pending"], "state">;
}

/** The result of {@linkcode PopupReceiver.open}. */
export interface OpenedPopup {
  /** Closes the popup, if it is still open. */
  close: () => void;
}

function openPopup(page: PageWindow, features: string): PopupWindow {
  const popup = page.open(BLANK, "_blank", features);
  if (popup) return popup;
  const message =
    "The browser has blocked the popup: sign in after a click, and " +
    "call open() of the receiver in its handler if the discovery is slow";
  throw new OAuthClientError("popup_blocked", message);
}

/** The URL of a page of another origin cannot be read. */
function isBlank(popup: PopupWindow): boolean {
  try {
    return popup.location.href === BLANK;
  } catch {
    return false;
  }
}

const closed = (what: string) =>
  new OAuthClientError("popup_closed", `${what} before the sign-in had ended`);

/**
 * Creates a receiver of authorization responses for a web page. The user signs in in a
 * popup, and the page stays open. The page at `redirectUri` calls
 * {@linkcode finishPopup}.
 *
 * The function `visit` rejects with the reason of its signal, or with one of these
 * codes:
 *
 * - `popup_blocked`: browsers open popups only within about five seconds after a click.
 *   Call the fetch's `.signIn()` in a click handler. If the discovery may be slow, call
 *   {@linkcode PopupReceiver.open | open()} first.
 * - `popup_closed`: the user closed the popup, or left or reloaded the page.
 * - `timeout`; `url_refused` if the URL is not http or https; `unsupported` outside of
 *   a page.
 *
 * The popup is closed after the sign-in, unless a server's page separated it
 * (`Cross-Origin-Opener-Policy`). A separated popup counts as closed once this page has
 * had focus again for a second. The receiver can be used several times, also
 * concurrently and by several tabs.
 *
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid, or `redirectUri`
 * is on another origin than the page.
 * @see RFC 6749, section 4.1; RFC 10017, section 6.3; HTML, section 7.1.3.
 *
 * @example Sign in when the user clicks
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { createPopupReceiver } from "@oauth-helper/client/browser";
 * import { webStorageStore } from "@oauth-helper/client/stores";
 *
 * export function start(button: EventTarget) {
 *   const receiver = createPopupReceiver({
 *     redirectUri: `${location.origin}/callback.html`,
 *   });
 *   const api = createAuthorizedFetch("https://api.example/mcp", {
 *     store: webStorageStore(localStorage, "session"),
 *     flow: codeFlow({
 *       ...receiver,
 *       clientMetadata: { client_name: "My page" },
 *     }),
 *   });
 *   button.addEventListener("click", async () => {
 *     const popup = receiver.open();
 *     await api.signIn().finally(popup.close);
 *   });
 *   return api;
 * }
 * ```
 */
export function createPopupReceiver(
  options: PopupReceiverOptions,
): PopupReceiver {
  const {
    features = DEFAULT_FEATURES,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    ...given
  } = requireObject("options", options);
  const redirectUri = redirectUriOf(
    given,
    "createPopupReceiver",
    "features, timeoutMs",
  );
  requireNonEmptyString("features", features);
  requireArgument(timeoutMs > 0, "timeoutMs", "a positive number");

  /** Opened for the next sign-in. */
  let opened: PopupWindow | undefined;

  const open: PopupReceiver["open"] = () => {
    opened?.close();
    const popup = opened = openPopup(requireWindow(), features);
    return {
      close() {
        if (opened === popup) opened = undefined;
        popup.close();
      },
    };
  };

  const visit: PopupReceiver["visit"] = async (url, { pending, signal }) => {
    requireWebUrl(url);
    const page = requireWindow();
    const popup = opened ?? openPopup(page, features);
    opened = undefined;
    const stops: (() => void)[] = [];
    const receive = () =>
      new Promise<string>((resolve, reject) => {
        // A closed page cannot receive the response. A page in the back/forward cache
        // would hold its lock.
        stops.push(
          onResponse(page, pending.state, resolve),
          listen(page, "pagehide", () => reject(closed("The page was left"))),
        );
        const expire = () => {
          const message = "The user has not signed in within " +
            describeMs(timeoutMs);
          reject(new OAuthClientError("timeout", message));
        };
        const timer = setTimeout(expire, Math.min(timeoutMs, LONGEST_TIMER_MS));
        const isClosedByUser = createClosedCheck();
        const look = () => {
          const isClosed = popup.closed;
          const view = {
            now: performance.now(),
            isClosed,
            isBlank: !isClosed && isBlank(popup),
            hasFocus: page.document.hasFocus(),
          };
          if (isClosedByUser(view)) reject(closed("The popup was closed"));
        };
        const looking = setInterval(look, LOOK_MS);
        stops.push(() => {
          clearTimeout(timer);
          clearInterval(looking);
        });
        // It has shown no other page, so only the user can have closed it.
        if (popup.closed) return reject(closed("The popup was closed"));
        popup.location.replace(url.href);
      });
    try {
      return new URL(await underSignal(signal, receive));
    } finally {
      for (const stop of stops) stop();
      popup.close();
    }
  };

  return { redirectUri, visit, open };
}
