/** Polling for a token while a user signs in on another device. */

import { requireArgument } from "../core/_arguments.ts";
import { putOffSeconds } from "../core/_retry_after.ts";
import { isOutage } from "../core/advice.ts";
import { OAuthClientError } from "../core/errors.ts";
import { pause, underSignal } from "../http/_clock.ts";
import { fork } from "../http/_context.ts";
import { errorOf, type Message } from "../http/_error.ts";
import type { GrantContext } from "./_grant_context.ts";
import type { Requested } from "./_form.ts";
import type { PollOptions } from "./poll_options.ts";
import { type Token, type TokenServer, tokenWith } from "./token.ts";

const DEFAULT_INTERVAL_SECONDS = 5;
const SLOW_DOWN_SECONDS = 5;
const MIN_INTERVAL_SECONDS = 0.1;
const MAX_BACK_OFF_SECONDS = 60;
/** After network failures, the last poll occurs this long before the expiry. */
const LAST_POLL_SECONDS = 2;

export interface Polled extends PollOptions {
  readonly requested: Requested;
  readonly further?: Readonly<Record<string, string>> | undefined;
}

interface Polling extends PollOptions {
  /** When the user's request expires, in seconds since the Unix epoch. */
  readonly expires_at: number;
  /** The server's interval in seconds. */
  readonly interval: number | undefined;
  readonly expiry: Message;
}

export function requireExpiry(name: string, expires_at: unknown): void {
  requireArgument(Number.isFinite(expires_at), name, "a number of seconds");
}

/** In seconds. */
function intervalOf({ interval }: Polling): number {
  return typeof interval === "number" && interval > 0
    ? Math.max(interval, MIN_INTERVAL_SECONDS)
    : DEFAULT_INTERVAL_SECONDS;
}

export async function pollForToken(
  context: GrantContext,
  serverMetadata: TokenServer,
  body: URLSearchParams,
  polling: Polling,
): Promise<Token> {
  const { signal, now } = context;
  const { expires_at, expiry, onPending, delay = pause } = polling;
  const remaining = () => expires_at - now() / 1000;
  const expired = (cause?: OAuthClientError) =>
    errorOf(
      context,
      "expired",
      expiry,
      cause && { cause, error: cause.error },
    );
  let interval = intervalOf(polling);
  let [wait, least] = [interval, interval];
  for (let polls = 1;; polls++) {
    const left = remaining();
    // The back-off must not skip the last poll.
    const pause = Math.max(least, Math.min(wait, left - LAST_POLL_SECONDS));
    if (pause >= left) throw expired();
    await underSignal(signal, () => delay(pause * 1000, signal));
    try {
      return await tokenWith(fork(context), serverMetadata, body);
    } catch (failure) {
      signal?.throwIfAborted();
      if (!(failure instanceof OAuthClientError)) throw failure;
      const { error } = failure;
      const isPending = error === "authorization_pending" ||
        error === "slow_down";
      // Any other temporary failure does not concern the grant.
      const isLost = !isPending && error !== "access_denied" &&
        isOutage(failure);
      if (error === "expired_token") throw expired(failure);
      if (error === "slow_down") {
        // GitHub returns the new interval.
        const { interval: given } = failure.errorResponse ?? {};
        interval = Math.max(interval + SLOW_DOWN_SECONDS, Number(given) || 0);
      }
      if (!isPending && !isLost) throw failure;
      const putOff = putOffSeconds(failure);
      if (putOff && putOff >= remaining()) throw failure;
      // RFC 9110, section 10.2.3. The user has time until the expiry.
      const named = isPending
        ? Math.min(
          failure.retryAfterSeconds ?? 0,
          remaining() - LAST_POLL_SECONDS,
        )
        : 0;
      least = Math.max(interval, putOff || named);
      wait = isLost
        ? Math.max(least, Math.min(wait * 2, MAX_BACK_OFF_SECONDS))
        : least;
      onPending?.({
        polls,
        intervalSeconds: wait,
        remainingSeconds: Math.max(0, Math.floor(remaining())),
        ...(isLost && { error: failure }),
      });
    }
  }
}
