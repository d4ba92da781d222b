/**
 * The options and the result of {@linkcode createLoopbackReceiver}.
 *
 * @module
 */

import type { RedirectUriRequest, Visit } from "../flows/code_flow_options.ts";

/** Options of {@linkcode createLoopbackReceiver}. */
export interface LoopbackReceiverOptions {
  /**
   * The port, from 1 to 65535. Receivers of this process share it; if another process
   * uses it, `redirectUri` rejects. 0 selects any free port, for servers that do not
   * compare the port (RFC 8252, section 7.3).
   *
   * @default {33418, or a free port if 33418 is in use. Only 33418 with `bind`, with a
   * client that you have set, and with a client metadata document, because many servers
   * compare the port with the registration or the document}
   */
  port?: number | undefined;
  /**
   * Host in the redirect URI. For `localhost`, the receiver also listens on `::1` if
   * the machine has that address, because browsers may use either.
   *
   * @default {"127.0.0.1", or `localhost` if a server declines to register that}
   */
  host?: "127.0.0.1" | "localhost" | undefined;
  /**
   * IP address to listen on instead of 127.0.0.1, such as `0.0.0.0` in a container
   * whose port is published to 127.0.0.1 of the host. The redirect URI stays on
   * loopback.
   *
   * Other containers can then send requests to the receiver, and with `0.0.0.0` outside
   * of a container, every machine of the network. The receiver accepts only a request
   * with the `state` of the sign-in, which is secret. But a user who learns it, for
   * example from the list of processes, can make the program act for that user's
   * account. Publish the port to loopback only, for example with `docker run --publish
   * 127.0.0.1:33418:33418`.
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
   * Opens the URL in the user's browser, after the URL was printed. Errors that the
   * function throws or rejects with are ignored. With `false`, the URL is only printed.
   *
   * @default {The first of these that exists: the command in `$BROWSER`, and the
   * command of the platform: `open`, `rundll32`, `wslview` in WSL, or `xdg-open`}
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
   * Prints a message for the user: the URL, and after 30 seconds that the program is
   * still waiting, with the redirect URI, which may not be registered.
   *
   * @default {console.error, because another program may read the standard output}
   */
  print?: ((message: string) => void) | undefined;
  /**
   * Heading of the last page that the user sees, such as the name of the program.
   *
   * @default {"Sign-in"}
   */
  title?: string | undefined;
  /**
   * Returns the last page that the user sees: HTML, or the http or https URL of a page
   * to go to. HTML is sent unchanged. It may contain inline styles and images from
   * `data:` URLs; nothing else is loaded or run. A URL receives no referrer. If the
   * function fails, the user sees the default page.
   *
   * @default {A page with `title` that tells the user to close the window}
   */
  page?: ((result: LoopbackResult) => string | URL) | undefined;
  /**
   * How long to wait for the user, in milliseconds. The time counts from when the page
   * is shown: it does not include the wait for other receivers of the process.
   *
   * @default {300_000}
   */
  timeoutMs?: number | undefined;
}

/** The argument of {@linkcode LoopbackReceiverOptions.page}. */
export interface LoopbackResult {
  /**
   * Error code of the authorization response, such as `access_denied`; absent if the
   * user has signed in. The program has not redeemed the authorization code yet, which
   * may still fail. An error code with characters other than letters, digits, `_`, `-`
   * and `.` is replaced by `unknown_error`, so that you can put the member into HTML.
   */
  error?: string | undefined;
}

/**
 * A receiver of authorization responses: the options `redirectUri`, `turn` and `visit` of
 * {@linkcode codeFlow}.
 */
export interface LoopbackReceiver {
  /**
   * Starts to listen, and returns the redirect URI. If a URI was `refused`, it returns
   * one with `localhost` instead, unless the option `host` is set. It listens until
   * `signal` aborts. Without a signal, it listens until a visit is over, or for
   * `timeoutMs` if there is no visit.
   */
  redirectUri: (
    request?: Partial<Omit<RedirectUriRequest, "issuer">>,
  ) => Promise<string>;
  /**
   * Waits until all receivers of the process that started earlier are done, so that one
   * page is shown at a time. Returns a function that ends the turn, and stops
   * listening. Rejects with the reason of the signal if it aborts during the wait.
   *
   * A visit within the turn opens the browser at once. Without it, `visit` itself waits,
   * and a `request_uri` of the URL may expire in the meantime.
   */
  turn: (
    request?: Pick<Visit, "signal">,
  ) => Promise<() => Promise<void>>;
  /**
   * Opens the URL in the browser, when it is its turn, and waits for the authorization
   * response. Returns the redirect URI with the query of the response.
   */
  visit: (url: URL, authorization: LoopbackVisit) => Promise<URL>;
}

/** The second argument of {@linkcode LoopbackReceiver.visit}. */
export interface LoopbackVisit extends Pick<Visit, "signal"> {
  /** The members of the pending authorization that the receiver uses. */
  pending: Pick<Visit["pending"], "state" | "redirectUri">;
}
