/**
 * The receiver of authorization responses on a user's machine (RFC 8252, section
 * 7.3).
 *
 * @module
 */

// Not the global function, whose timers have no `unref` in Deno.
import { setTimeout as startTimer } from "node:timers";
import { requireArgument } from "../core/_arguments.ts";
import { describeMs } from "../core/_quote.ts";
import { isWebUrl, quoteUrl } from "../core/_url.ts";
import { DEFAULT_AUTH_FLOW_PORT } from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import { LONGEST_TIMER_MS, underSignal } from "../http/_clock.ts";
import { onInputLine, queryInLine } from "./_paste.ts";
import { settingsOf } from "./_receiver_settings.ts";
import { type ISharedListener, shareListener } from "./_shared_listener.ts";
import { takeTurn } from "./_turn.ts";
import type {
  ILoopbackReceiver,
  ILoopbackReceiverOptions,
} from "./loopback_receiver_options.ts";

/** After this time, a user who may have overlooked the browser is told once. */
const STILL_WAITING_MS = 30_000;

/**
 * Creates a receiver of authorization responses for a program on the user's machine, in
 * Deno, Node and Bun. It listens on the loopback interface, opens the browser and waits
 * until the user is redirected.
 *
 * Only a `GET` request for the path of the redirect URI with the `state` of the
 * authorization request ends the wait. Any other request gets a `404`. The browser then
 * shows a page that tells the user to close the window. With `paste`, a line on the
 * standard input ends the wait too: the URL of the page that the browser could not
 * load, its query, or `code#state`, which some servers show.
 *
 * The receiver listens from the call of `redirectUri` until the sign-in ends, also if
 * it fails before `visit`, and keeps the process alive only during `visit`. It can be
 * used several times, also concurrently. The receivers of a process show one page at a
 * time: each waits for its turn to open the browser, and `timeoutMs` counts from then.
 * Receivers with the same port share one listener, which finds the visit by `state`. If
 * a server refuses to register the redirect URI, the receiver offers the same URI with
 * `localhost` instead of `127.0.0.1` (RFC 8252, section 8.3).
 *
 * `redirectUri` rejects with the code `network_error` if the receiver cannot listen on
 * the port. `visit` rejects with the reason of its signal, or with the code `timeout`,
 * `url_refused` if the URL is not http or https, or `invalid_argument` if `redirectUri`
 * was not called before.
 *
 * Deno needs `--allow-net=127.0.0.1`, or the address of `bind`. For `localhost`, it
 * listens on `::1` only with `--allow-net=127.0.0.1,[::1]`. The command that opens the
 * browser needs `--allow-run` and `--allow-env`; without them, the URL is only printed.
 *
 * The command receives the URL with its `state` as an argument. Other users of the same
 * machine can read the argument in the list of processes, sign in themselves and send
 * their code to the receiver. The program would then act for their account. On a shared
 * machine, pass `open: false`, so that the user copies the URL into a browser that is
 * already running.
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
  const { port, host, bind, path, open, paste, print, title, page, timeoutMs } =
    settingsOf(options);
  const waitMs = Math.min(timeoutMs, LONGEST_TIMER_MS);
  let listening: Promise<ISharedListener> | undefined;
  /** The sign-ins of flows that have not ended. */
  const signIns = new Set<AbortSignal>();
  /** Redirect URIs that were returned to other callers, and not visited yet. */
  let uses = 0;
  /** How many of these have come to their turn, or wait for it. */
  let begun = 0;
  /** How many turns belong to flows, which have made their request. */
  let turns = 0;
  let idle: ReturnType<typeof setTimeout> | undefined;

  const close = async () => {
    const closing = listening;
    listening = undefined;
    clearTimeout(idle);
    await (await closing)?.release();
  };

  /** A turn that has begun closes it at its end, and waits for that. */
  const closeIfUnused = async () => {
    if (uses === 0 && begun === 0 && signIns.size === 0) await close();
  };

  const end = async () => {
    begun--;
    uses = Math.max(0, uses - 1);
    await closeIfUnused();
  };

  /** Listens until a sign-in has ended. */
  const listenDuring = (signal: AbortSignal) => {
    if (signIns.has(signal)) return;
    signIns.add(signal);
    const end = () => {
      signIns.delete(signal);
      closeIfUnused().catch(() => {});
    };
    signal.addEventListener("abort", end, { once: true });
  };

  const redirectUri: ILoopbackReceiver["redirectUri"] = async (request) => {
    const { isInDocument, isNamed, refused, signal } = request ?? {};
    // Some servers register no IP addresses.
    const offered = host ?? (refused ? "localhost" : "127.0.0.1");
    const mayChange = port === undefined && bind === undefined &&
      !isInDocument && !isNamed;
    // What was refused leads to no visit.
    const isNew = !refused || !listening;
    const starting = listening ??= shareListener(
      { host: offered, bind, port: port ?? DEFAULT_AUTH_FLOW_PORT },
      title,
      mayChange,
    );
    if (signal) listenDuring(signal);
    else if (isNew) uses++;
    let listener: ISharedListener;
    try {
      listener = await starting;
    } catch (error) {
      listening = undefined;
      uses = 0;
      throw error;
    }
    if (!signal) {
      clearTimeout(idle);
      // Otherwise, a caller that fails before its visit would leave the receiver open.
      idle = startTimer(() => {
        uses = begun;
        void closeIfUnused();
      }, waitMs).unref();
    }
    if (offered === "localhost") await listener.alsoForLocalhost();
    return `http://${offered}:${listener.port}${path}`;
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

  const turn: ILoopbackReceiver["turn"] = async ({ signal } = {}) => {
    let endTurn: (() => void) | undefined;
    begun++;
    try {
      await underSignal(
        signal,
        () => new Promise<void>((resolve) => endTurn = takeTurn(resolve)),
      );
    } catch (error) {
      endTurn?.();
      await end();
      throw error;
    }
    turns++;
    return async () => {
      if (!endTurn) return;
      turns--;
      endTurn();
      endTurn = undefined;
      await end();
    };
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
    const isTurn = turns > 0;
    if (!isTurn) begun++;
    const stops: (() => void)[] = [];
    const receive = () =>
      new Promise<string>((resolve, reject) => {
        // A response counts also before the turn: the caller may have shown the URL.
        const visit = { path, title, page, finish: resolve };
        stops.push(listener.expect(state, visit));
        const showPage = () => {
          const expire = () => {
            const message = "The user has not signed in within " +
              describeMs(timeoutMs);
            reject(new OAuthClientError("timeout", message));
          };
          const timer = setTimeout(expire, waitMs);
          const remind = () =>
            print(
              "Still waiting for the sign-in. The URL can be opened again.",
            );
          const reminder = setTimeout(remind, STILL_WAITING_MS);
          stops.push(() => clearTimeout(timer), () => clearTimeout(reminder));
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
        };
        // One that fails to begin must not keep the next ones waiting.
        const ask = () => {
          try {
            showPage();
          } catch (error) {
            reject(error);
          }
        };
        if (isTurn) ask();
        else stops.push(takeTurn(ask));
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
      if (!isTurn) await end();
    }
  };

  return { redirectUri, turn, visit };
}
