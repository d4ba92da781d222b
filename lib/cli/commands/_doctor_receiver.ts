/** The receiver of the doctor, which also takes a response without `state`. */

import type { LoopbackReceiver } from "../../native/loopback_receiver_options.ts";
import { shareListener } from "../../native/_shared_listener.ts";
import { CLIENT_NAME } from "../_sign_in.ts";

/**
 * Returns a receiver that also accepts a response without `state`, instead of waiting
 * for another one: the diagnosis reports it, and the library does not redeem its code.
 */
export function takingAnyState(
  { redirectUri, turn, visit }: LoopbackReceiver,
): LoopbackReceiver {
  return {
    redirectUri,
    turn,
    async visit(url, { pending, signal }) {
      const { port, pathname: path } = new URL(pending.redirectUri);
      const place = { host: "127.0.0.1", bind: undefined } as const;
      // The signal of the receiver.
      const listener = await shareListener(
        { ...place, port: Number(port || 80) },
        CLIENT_NAME,
        false,
      );
      const ended = new AbortController();
      const signals = [ended.signal, ...(signal ? [signal] : [])];
      let stop: (() => void) | undefined;
      const response = new Promise<URL>((resolve) => {
        const finish = (query: string) =>
          resolve(new URL(pending.redirectUri + query));
        stop = listener.expect("", { path, title: CLIENT_NAME, finish });
      });
      try {
        return await Promise.race([
          response,
          visit(url, { pending, signal: AbortSignal.any(signals) }),
        ]);
      } finally {
        stop?.();
        ended.abort();
        await listener.release();
      }
    },
  };
}
