/**
 * The options and the result of {@linkcode createLoopbackReceiver}.
 *
 * @module
 */

import type {
  IRedirectUriRequest,
  IVisit,
} from "../session/code_flow_options.ts";

/** Options of {@linkcode createLoopbackReceiver}. */
export interface ILoopbackReceiverOptions {
  /**
   * The port, from 1 to 65535; if it is in use by another process, `redirectUri`
   * rejects. Receivers of this process share it. 0 selects any free port, for servers that do not compare the port (RFC 8252, section 7.3).
   *
   * @default {33418, or a free port if that is in use; only 33418 with `bind`, and with a
   * client that you have named or a client metadata document, as many servers compare
   * the port with that of the registration or the document}
   */
  port?: number | undefined;
  /**
   * Host name in the redirect URI. For `localhost`, the receiver also listens on `::1`
   * if the machine has that address, as browsers may use either.
   *
   * @default {"127.0.0.1"; `localhost` where a server refuses that at the registration}
   */
  host?: "127.0.0.1" | "localhost" | undefined;
  /**
   * IP address to listen on in place of 127.0.0.1, such as `0.0.0.0` in a container
   * whose port is published to 127.0.0.1 of the host. The redirect URI stays on loopback.
   *
   * All that can reach the address can then send requests to the receiver: other
   * containers, and with `0.0.0.0` outside of a container every machine of the network.
   * The receiver accepts only a request with the `state` of the sign-in, which is
   * secret; but those who learn it, for example from the list of processes, can have the
   * program act for their account. Publish the port to loopback only, as by
   * `docker run --publish 127.0.0.1:33418:33418`.
   *
   * @default {Loopback}
   */
  bind?: string | undefined;
  /**
   * Path of the redirect URI.
   *
   * @default {"/callback"}
   */
  path?: string | undefined;
  /**
   * Opens the URL in the user's browser, after the URL was printed. Errors that it
   * throws or rejects with are ignored. `false` only prints the URL.
   *
   * @default {The first of these that is there: what `$BROWSER` names, and the command of
   * the platform: `open`, `rundll32`, `wslview` in WSL, or `xdg-open`}
   */
  open?: ((url: string) => unknown) | false | undefined;
  /**
   * Also accepts a response that the user pastes into the terminal (standard input),
   * for a browser on another machine.
   *
   * @default {false}
   */
  paste?: boolean | undefined;
  /**
   * Prints a message for the user: the URL, and once after 30 seconds that the program
   * still waits.
   *
   * @default {console.error, as another program may read the standard output}
   */
  print?: ((message: string) => void) | undefined;
  /**
   * Heading of the page that the user sees at the end, such as the name of the
   * program.
   *
   * @default {"Sign-in"}
   */
  title?: string | undefined;
  /**
   * Returns the last page that the user sees: HTML, or the URL of a page to go to. HTML
   * may have inline styles and images of `data:` URLs, and loads and runs nothing else;
   * it is sent as it is. The browser sends no referrer to a URL, which must be http or
   * https. If the function fails, the user sees the default page.
   *
   * @default {A page with `title`, that says that the window can be closed}
   */
  page?: ((result: ILoopbackResult) => string | URL) | undefined;
  /**
   * How long to wait for the user, in milliseconds. It counts from when the page is
   * shown; receivers of the process that show theirs before are waited for.
   *
   * @default {300_000}
   */
  timeoutMs?: number | undefined;
}

/** The argument of {@linkcode ILoopbackReceiverOptions.page}. */
export interface ILoopbackResult {
  /**
   * Error code of the authorization response, such as `access_denied`; absent if the
   * user has signed in. The program has not redeemed the code yet, which may still fail.
   * A code with characters other than letters, digits, `_`, `-` and `.` is
   * `unknown_error`, so that the member can be put into HTML.
   */
  error?: string | undefined;
}

/**
 * A receiver of authorization responses: the options `redirectUri`, `turn` and `visit` of
 * {@linkcode codeFlow}.
 */
export interface ILoopbackReceiver {
  /**
   * Starts to listen, and returns the redirect URI. In place of a URI that was `refused`,
   * it returns one with `localhost`, unless the option `host` is set. It listens until
   * `signal` aborts; without that, until a visit has ended, or for `timeoutMs` if there is
   * none.
   */
  redirectUri: (
    request?: Partial<Omit<IRedirectUriRequest, "issuer">>,
  ) => Promise<string>;
  /**
   * Waits until all receivers of the process that have begun before have ended, so that
   * one page is shown at a time. Returns a function that ends the turn, and stops to
   * listen. Rejects with the reason of the signal if that aborts during the wait.
   *
   * A visit within the turn opens the browser at once. Without it, `visit` itself waits,
   * and a `request_uri` of the URL may expire in the meantime.
   */
  turn: (
    request?: Pick<IVisit, "signal">,
  ) => Promise<() => Promise<void>>;
  /**
   * Opens the URL in the browser, when it is its turn, and waits for the authorization
   * response. Returns the redirect URI with the query of the response.
   */
  visit: (url: URL, authorization: ILoopbackVisit) => Promise<URL>;
}

/** The second argument of {@linkcode ILoopbackReceiver.visit}. */
export interface ILoopbackVisit extends Pick<IVisit, "signal"> {
  /** The members of the pending authorization that the receiver uses. */
  pending: Pick<IVisit["pending"], "state" | "redirectUri">;
}
