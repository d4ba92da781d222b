import type { RedirectUriRequest, Visit } from "../flows/code_flow_options.ts";

/** Options of {@linkcode createLoopbackReceiver}. */
export interface LoopbackReceiverOptions {
  /**
   * The port, from 1 to 65535. Receivers of this process share it; if another process
   * uses it, `redirectUri` rejects. 0 selects any free port, for servers that do not
   * compare the port (RFC 8252, section 7.3).
   *
   * @default {33418, or a free port if 33418 is in use. Only 33418 with `bind`, with
   * your own client, and with a client metadata document, because many servers compare
   * the port}
   */
  port?: number | undefined;
  /**
   * Host in the redirect URI. For `localhost`, the receiver also listens on `::1` if
   * possible, because browsers may use either.
   *
   * @default {"127.0.0.1", or `localhost` if a server declines to register that}
   */
  host?: "127.0.0.1" | "localhost" | undefined;
  /**
   * IP address to listen on instead of 127.0.0.1, such as `0.0.0.0` in a container. The
   * redirect URI stays on loopback.
   *
   * Other containers, or every machine of the network, can then send requests. The
   * receiver accepts only the `state` of the sign-in. A user who learns it, for example
   * from the list of processes, can make the program act for another account. Publish
   * the port to loopback only, for example with `docker run --publish
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
   * Opens the URL in the user's browser, after the URL was printed. Its errors are
   * ignored. With `false`, the URL is only printed. Set it on a shared machine: other
   * users can read a command's arguments, and complete the sign-in with their own
   * account.
   *
   * @default {The first of these that exists: the command in `$BROWSER`, and the
   * command of the platform: `open`, `rundll32`, `wslview` in WSL, or `xdg-open`}
   */
  open?: ((url: string) => unknown) | false | undefined;
  /**
   * Also accepts a response that the user pastes into the terminal: the URL of the page
   * that did not load, its query, or `code#state`. For a browser on another machine.
   *
   * @default {false}
   */
  paste?: boolean | undefined;
  /**
   * Prints a message for the user: the URL, and after 30 seconds a reminder with the
   * redirect URI, which may not be registered.
   *
   * @default {console.error, because another program may read the standard output}
   */
  print?: ((message: string) => void) | undefined;
  /**
   * Heading of the last page, such as the name of the program.
   *
   * @default {"Sign-in"}
   */
  title?: string | undefined;
  /**
   * Returns the last page: HTML, or the http or https URL of a page to go to. HTML may
   * contain inline styles and images from `data:` URLs; nothing else is loaded or run.
   * A URL receives no referrer. If the function fails, the user sees the default page.
   *
   * @default {A page with `title` that tells the user to close the window}
   */
  page?: ((result: LoopbackResult) => string | URL) | undefined;
  /**
   * How long to wait for the user, in milliseconds, from when the page is shown.
   *
   * @default {300_000}
   */
  timeoutMs?: number | undefined;
}

/** The argument of {@linkcode LoopbackReceiverOptions.page}. */
export interface LoopbackResult {
  /**
   * Error code of the authorization response, such as `access_denied`; absent if the
   * user has signed in. The program has yet to redeem the code, which may fail. Codes
   * with characters other than letters, digits, `_`, `-` and `.` become
   * `unknown_error`, which is safe in HTML.
   */
  error?: string | undefined;
}

/**
 * A receiver of authorization responses: options of {@linkcode codeFlow}. It can be
 * used several times, also concurrently.
 */
export interface LoopbackReceiver {
  /**
   * Starts to listen, and returns the redirect URI. If the server rejected a URI, it
   * returns one with `localhost` (RFC 8252, section 8.3), unless `host` is set. It
   * listens until `signal` aborts, otherwise until a sign-in is over, or for
   * `timeoutMs`. Deno needs `--allow-net=127.0.0.1`, or the address of `bind`, and
   * `[::1]` for `localhost`.
   *
   * @throws {OAuthClientError} `network_error`: it cannot listen on the port.
   */
  redirectUri: (
    request?: Partial<Omit<RedirectUriRequest, "issuer">>,
  ) => Promise<string>;
  /**
   * Waits until earlier receivers of the process are done, so that they show one page
   * at a time. Returns a function that finishes the turn, and stops listening. Rejects
   * with the signal's reason.
   *
   * Within the turn, `visit` opens the browser at once. Otherwise, `visit` waits, and a
   * `request_uri` may expire.
   */
  turn: (
    request?: Pick<Visit, "signal">,
  ) => Promise<() => Promise<void>>;
  /**
   * Opens the URL in the browser at its turn, and waits for the response. Returns the
   * redirect URI with the response's query. Only a `GET` for the redirect URI's path
   * with the right `state` counts; others get a `404`.
   *
   * @throws {OAuthClientError} `timeout`. `url_refused`: the URL is not http or https.
   * `invalid_argument`: `redirectUri` was not called before. An abort rejects with the
   * signal's reason.
   */
  visit: (url: URL, authorization: LoopbackVisit) => Promise<URL>;
}

/** The second argument of {@linkcode LoopbackReceiver.visit}. */
export interface LoopbackVisit extends Pick<Visit, "signal"> {
  /** The members of the pending authorization that the receiver uses. */
  pending: Pick<Visit["pending"], "state" | "redirectUri">;
}
