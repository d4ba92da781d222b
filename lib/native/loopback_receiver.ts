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
 * Creates a receiver for a program on the user's machine: the browser signs the user
 * in.
 *
 * It listens on loopback, opens the browser and waits until the user is redirected;
 * {@linkcode LoopbackReceiver} describes each step. Pass the result to
 * {@linkcode codeFlow}.
 *
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid.
 * @see RFC 8252, sections 7.3, 8.3 and 8.10.
 * @example Sign in with the browser
 * ```ts
 * import { codeFlow } from "@oauth-helper/client";
 * import { createLoopbackReceiver } from "@oauth-helper/client/native";
 *
 * const clientMetadata = { client_name: "My program" };
 * const flow = codeFlow({ ...createLoopbackReceiver(), clientMetadata });
 * ```
 */
export function createLoopbackReceiver(
  options?: LoopbackReceiverOptions,
): LoopbackReceiver {
  const settings = settingsOf(options);
  const { port, host, bind, path, title, page, timeoutMs } = settings;
  const listening = new Listening(Math.min(timeoutMs, LONGEST_TIMER_MS));
  /** The number of turns of flows, which have made their request. */
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
        // A response may arrive before the turn: the caller may have shown the URL.
        const visit = { path, title, page, finish: resolve };
        stops.push(listener.expect(state, visit));
        // A failed start must not block the next turns.
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
