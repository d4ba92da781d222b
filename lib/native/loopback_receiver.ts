/**
 * The receiver of authorization responses on a user's machine (RFC 8252, section
 * 7.3).
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from "node:http";
// Not the global function, whose timers have no `unref` in Deno.
import { setTimeout as startTimer } from "node:timers";
import {
  requireArgument,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { describeMs } from "../core/_quote.ts";
import { isWebUrl, parseUrl, quoteUrl } from "../core/_url.ts";
import { DEFAULT_AUTH_FLOW_PORT } from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import { LONGEST_TIMER_MS, underSignal } from "../http/_clock.ts";
import type { IRedirectUriRequest, IVisit } from "../session/code_flow.ts";
import { openBrowser } from "./_browser.ts";
import { type IListener, listen } from "./_listener.ts";
import { PAGE_HEADERS, renderPage } from "./_page.ts";
import { onInputLine, queryInLine } from "./_paste.ts";

const DEFAULT_TIMEOUT_MS = 300_000;

/** After this time, a user who may have overlooked the browser is told once. */
const STILL_WAITING_MS = 30_000;

/** Options of {@linkcode createLoopbackReceiver}. */
export interface ILoopbackReceiverOptions {
  /**
   * The port, from 1 to 65535; if it is in use, `redirectUri` rejects. 0 selects any
   * free port, for servers that do not compare the port (RFC 8252, section 7.3).
   *
   * @default {33418, or a free port if that is in use; only 33418 with a client that you
   * have named or a client metadata document, as many servers compare the port with
   * that of the registration or the document}
   */
  port?: number | undefined;
  /**
   * Host name in the redirect URI. For `localhost`, the receiver also listens on `::1`
   * if the machine has that address, as browsers may use either.
   *
   * @default {"127.0.0.1"}
   */
  host?: "127.0.0.1" | "localhost" | undefined;
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
   * @default {The command of the platform: `open`, `rundll32` or `xdg-open`}
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
   * How long to wait for the user, in milliseconds.
   *
   * @default {300_000}
   */
  timeoutMs?: number | undefined;
}

/**
 * A receiver of authorization responses: the options `redirectUri` and `visit` of
 * {@linkcode codeFlow}.
 */
export interface ILoopbackReceiver {
  /** Starts to listen, and returns the redirect URI. */
  redirectUri: (
    request?: Partial<Pick<IRedirectUriRequest, "isInDocument" | "isNamed">>,
  ) => Promise<string>;
  /**
   * Opens the URL in the browser and waits for the authorization response. Returns
   * the redirect URI with the query of the response.
   */
  visit: (url: URL, authorization: ILoopbackVisit) => Promise<URL>;
}

/** The second argument of {@linkcode ILoopbackReceiver.visit}. */
export interface ILoopbackVisit extends Pick<IVisit, "signal"> {
  /** The members of the pending authorization that the receiver uses. */
  pending: Pick<IVisit["pending"], "state" | "redirectUri">;
}

/**
 * Creates a receiver of authorization responses for a program on the user's machine.
 * It listens on the loopback interface, opens the browser and waits until the user
 * is redirected. In Deno, Node and Bun.
 *
 * Only a `GET` request for the path of the redirect URI with the `state` of the
 * authorization request ends the wait. Any other request gets a `404`. The browser
 * shows a page that says that the window can be closed. With `paste`, a line on the
 * standard input ends the wait too: the URL of the page that the browser could not
 * load, its query, or `code#state`, which some servers show.
 *
 * The receiver listens from the call of `redirectUri` until `visit` has ended, and
 * keeps the process alive only during `visit`. It can be used several times, also at
 * the same time.
 *
 * `redirectUri` rejects with the code `network_error` if it cannot listen on the port.
 * `visit` rejects with the reason of its signal, or with the code `timeout`,
 * `url_refused` if the URL is not http or https, or `invalid_argument` if `redirectUri`
 * was not called before.
 *
 * Deno needs `--allow-net=127.0.0.1`, and `--allow-run` and `--allow-env` for the command
 * that opens the browser; without the latter two, the URL is only printed. For
 * `localhost`, it listens on `::1` only with `--allow-net=127.0.0.1,[::1]`.
 *
 * The command receives the URL with its `state` as an argument. Other users of the same
 * machine can read the argument in the list of processes, sign in themselves and send
 * their code to the receiver; the program would then act for their account. On a
 * machine that several users share, pass `open: false`, so that the user copies the URL
 * into a browser that is already running.
 *
 * @throws {OAuthClientError} `invalid_argument`: an option is not valid.
 * @see RFC 8252, sections 7.3, 8.3 and 8.10.
 *
 * @example Sign in with the browser
 * ```ts
 * import { codeFlow } from "@oauth-helper/client";
 * import { createLoopbackReceiver } from "@oauth-helper/client/native";
 *
 * export const authorize = codeFlow({
 *   ...createLoopbackReceiver({ title: "My program", paste: true }),
 *   clientMetadata: { client_name: "My program" },
 * });
 * ```
 */
export function createLoopbackReceiver(
  options?: ILoopbackReceiverOptions,
): ILoopbackReceiver {
  const {
    port,
    host = "127.0.0.1",
    path = "/callback",
    open = openBrowser,
    paste = false,
    print = (message: string) => console.error(message),
    title = "Sign-in",
    timeoutMs = DEFAULT_TIMEOUT_MS,
  } = requireObject("options", options ?? {});
  requireArgument(
    port === undefined ||
      (Number.isInteger(port) && port >= 0 && port < 65_536),
    "port",
    "an integer from 0 to 65535",
  );
  requireArgument(
    host === "127.0.0.1" || host === "localhost",
    "host",
    '"127.0.0.1" or "localhost"',
  );
  requireArgument(
    parseUrl(path, `http://${host}`)?.pathname === path,
    "path",
    "an absolute path in canonical form, without query and fragment",
  );
  requireArgument(
    open === false || typeof open === "function",
    "open",
    "a function or false",
  );
  requireArgument(typeof print === "function", "print", "a function");
  requireNonEmptyString("title", title);
  requireArgument(timeoutMs > 0, "timeoutMs", "a positive number");

  const waitMs = Math.min(timeoutMs, LONGEST_TIMER_MS);
  /** The functions that end each visit, by `state`. */
  const waiting = new Map<string, (query: string) => void>();
  let listening: Promise<IListener> | undefined;
  /** Redirect URIs that were returned, and whose visit has not ended. */
  let uses = 0;
  let idle: ReturnType<typeof setTimeout> | undefined;

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? "";
    const pathname = target.replace(/\?.*$/s, "");
    const query = target.slice(pathname.length);
    const parameters = new URLSearchParams(query);
    const finish = request.method === "GET" && pathname === path
      ? waiting.get(parameters.get("state") ?? "")
      : undefined;
    const text = !finish
      ? "There is nothing here."
      : parameters.has("error")
      ? "The sign-in has failed. You can close this window."
      : "You can close this window.";
    response.writeHead(finish ? 200 : 404, PAGE_HEADERS);
    response.end(renderPage(title, text));
    // The page has been sent, or the browser has gone.
    if (finish) response.once("close", () => finish(query));
  };

  const close = async () => {
    const closing = listening;
    listening = undefined;
    clearTimeout(idle);
    await (await closing)?.close();
  };

  const redirectUri: ILoopbackReceiver["redirectUri"] = async (request) => {
    const mayChange = port === undefined && !request?.isInDocument &&
      !request?.isNamed;
    const starting = listening ??= listen(
      host,
      handle,
      port ?? DEFAULT_AUTH_FLOW_PORT,
      mayChange,
    );
    uses++;
    try {
      const listener = await starting;
      clearTimeout(idle);
      // Otherwise, a flow that fails before its visit would leave the receiver open.
      idle = startTimer(() => {
        uses = waiting.size;
        if (uses === 0) void close();
      }, waitMs).unref();
      return `http://${host}:${listener.port}${path}`;
    } catch (error) {
      listening = undefined;
      uses = 0;
      throw error;
    }
  };

  /** Prints the URL, and opens it: a command may succeed although nothing appears. */
  const show = async (url: string) => {
    const how = open
      ? "Opening the browser. If no page appears, open this URL:"
      : "Open this URL in a browser:";
    const otherwise = paste
      ? "\nIf the last page does not load, paste its URL here:"
      : "";
    print(`${how}\n${url}${otherwise}`);
    try {
      if (open) await open(url);
    } catch {
      // There is no browser, or no permission to run the command.
    }
  };

  const visit: ILoopbackReceiver["visit"] = async (url, authorization) => {
    const { pending, signal } = authorization;
    const { state } = pending;
    requireArgument(
      listening !== undefined,
      "visit",
      "called after redirectUri, within timeoutMs",
    );
    const listener = await listening;
    const stops: (() => void)[] = [];
    const receive = () =>
      new Promise<string>((resolve, reject) => {
        const expire = () => {
          const message = "The user has not signed in within " +
            describeMs(timeoutMs);
          reject(new OAuthClientError("timeout", message));
        };
        const timer = setTimeout(expire, waitMs);
        const remind = () =>
          print("Still waiting for the sign-in. The URL can be opened again.");
        const reminder = setTimeout(remind, STILL_WAITING_MS);
        stops.push(() => clearTimeout(timer), () => clearTimeout(reminder));
        waiting.set(state, resolve);
        listener.keepAlive(true);
        if (paste) {
          stops.push(onInputLine((line) => {
            const query = queryInLine(line);
            const isResponse =
              new URLSearchParams(query).get("state") === state;
            if (isResponse) resolve(query);
            else if (line.trim() !== "") {
              print(
                "This is not the response to this request. Paste it again:",
              );
            }
          }));
        }
        void show(url.href);
      });
    try {
      if (!isWebUrl(url.href)) {
        const message = `URL ${quoteUrl(url.href)} is not http or https`;
        throw new OAuthClientError("url_refused", message);
      }
      const response = new URL(pending.redirectUri);
      response.search = await underSignal(signal, receive);
      return response;
    } finally {
      for (const stop of stops) stop();
      waiting.delete(state);
      uses--;
      if (waiting.size === 0) listener.keepAlive(false);
      if (uses <= 0) await close();
    }
  };

  return { redirectUri, visit };
}
