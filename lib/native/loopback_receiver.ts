/**
 * The receiver of authorization responses on a user's machine (RFC 8252, section
 * 7.3).
 *
 * @module
 */

import { requireArgument } from "../core/_arguments.ts";
import { isWebUrl, quoteUrl } from "../core/_url.ts";
import { DEFAULT_AUTH_FLOW_PORT } from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import { LONGEST_TIMER_MS, underSignal } from "../http/_clock.ts";
import { Listening } from "./_listening.ts";
import { settingsOf } from "./_receiver_settings.ts";
import { shareListener } from "./_shared_listener.ts";
import { showPage } from "./_shown_page.ts";
import { takeTurn } from "./_turn.ts";
import type {
  LoopbackReceiver,
  LoopbackReceiverOptions,
} from "./loopback_receiver_options.ts";

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
 * a server declines to register the redirect URI, the receiver offers the same URI with
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
 * export const flow = codeFlow({
 *   ...createLoopbackReceiver({ title: "My program", paste: true }),
 *   clientMetadata: { client_name: "My program" },
 * });
 * ```
 */
export function createLoopbackReceiver(
  options?: LoopbackReceiverOptions,
): LoopbackReceiver {
  const settings = settingsOf(options);
  const { port, host, bind, path, title, page, timeoutMs } = settings;
  const listening = new Listening(Math.min(timeoutMs, LONGEST_TIMER_MS));
  /** How many turns belong to flows, which have made their request. */
  let turns = 0;

  const redirectUri: LoopbackReceiver["redirectUri"] = async (request) => {
    const { isInDocument, isNamed, refused, signal } = request ?? {};
    // Some servers register no IP addresses.
    const offered = host ?? (refused ? "localhost" : "127.0.0.1");
    const mayChange = port === undefined && bind === undefined &&
      !isInDocument && !isNamed;
    const place = { host: offered, bind, port: port ?? DEFAULT_AUTH_FLOW_PORT };
    const listener = await listening.use(
      () => shareListener(place, title, mayChange),
      signal,
      !!refused,
    );
    if (offered === "localhost") await listener.alsoForLocalhost();
    return `http://${offered}:${listener.port}${path}`;
  };

  const turn: LoopbackReceiver["turn"] = async ({ signal } = {}) => {
    let endTurn: (() => void) | undefined;
    listening.begin();
    try {
      await underSignal(
        signal,
        () => new Promise<void>((resolve) => endTurn = takeTurn(resolve)),
      );
    } catch (error) {
      endTurn?.();
      await listening.end();
      throw error;
    }
    turns++;
    return async () => {
      if (!endTurn) return;
      turns--;
      endTurn();
      endTurn = undefined;
      await listening.end();
    };
  };

  const visit: LoopbackReceiver["visit"] = async (url, authorization) => {
    const { pending, signal } = authorization;
    const { state } = pending;
    requireArgument(
      listening.listener !== undefined,
      "visit",
      "called after redirectUri, within timeoutMs",
    );
    const listener = await listening.listener;
    const isTurn = turns > 0;
    if (!isTurn) listening.begin();
    const stops: (() => void)[] = [];
    const receive = () =>
      new Promise<string>((resolve, reject) => {
        // A response counts also before the turn: the caller may have shown the URL.
        const visit = { path, title, page, finish: resolve };
        stops.push(listener.expect(state, visit));
        // One that fails to start must not keep the next ones waiting.
        const ask = () => {
          try {
            const { redirectUri } = pending;
            const shown = { state, redirectUri, resolve, reject };
            stops.push(showPage(url.href, settings, shown));
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
      if (!isTurn) await listening.end();
    }
  };

  return { redirectUri, turn, visit };
}
