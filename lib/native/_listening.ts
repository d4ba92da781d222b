// Timers of the global function lack `unref` in Deno.
import { setTimeout as startTimer } from "node:timers";
import type { SharedListener } from "./_shared_listener.ts";

/** A receiver's listener: it exists while a sign-in, page or turn needs it. */
export class Listening {
  readonly #waitMs: number;
  #listener: Promise<SharedListener> | undefined;
  /** The running sign-ins of flows. */
  readonly #signIns = new Set<AbortSignal>();
  /** Redirect URIs that were returned to other callers, and not used yet. */
  #uses = 0;
  /** How many of these are waiting for their turn, or had it. */
  #begun = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** Redirect URIs of callers without a signal expire after this time. */
  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /** Undefined if nobody needs a listener. */
  get listener(): Promise<SharedListener> | undefined {
    return this.#listener;
  }

  /** Returns the listener, which `start` creates if necessary. */
  async use(
    start: () => Promise<SharedListener>,
    signal: AbortSignal | undefined,
    isRefused: boolean,
  ): Promise<SharedListener> {
    // A rejected URI causes no page.
    const isNew = !isRefused || !this.#listener;
    const starting = this.#listener ??= start();
    if (signal) this.#during(signal);
    else if (isNew) this.#uses++;
    let listener: SharedListener;
    try {
      listener = await starting;
    } catch (error) {
      this.#listener = undefined;
      this.#uses = 0;
      throw error;
    }
    if (!signal) {
      clearTimeout(this.#idle);
      // Otherwise, a caller that fails earlier would leave the receiver open.
      this.#idle = startTimer(() => {
        this.#uses = this.#begun;
        void this.#closeIfUnused();
      }, this.#waitMs).unref();
    }
    return listener;
  }

  /** Notes that a page opens, or waits for its turn. */
  begin(): void {
    this.#begun++;
  }

  /** Notes that a page is done. After the last one, waits until the port is free. */
  async end(): Promise<void> {
    this.#begun--;
    this.#uses = Math.max(0, this.#uses - 1);
    await this.#closeIfUnused();
  }

  /** Listens until a sign-in is over. */
  #during(signal: AbortSignal): void {
    if (this.#signIns.has(signal)) return;
    this.#signIns.add(signal);
    const end = () => {
      this.#signIns.delete(signal);
      this.#closeIfUnused().catch(() => {});
    };
    signal.addEventListener("abort", end, { once: true });
  }

  async #closeIfUnused(): Promise<void> {
    if (this.#uses > 0 || this.#begun > 0 || this.#signIns.size > 0) return;
    const closing = this.#listener;
    this.#listener = undefined;
    clearTimeout(this.#idle);
    await (await closing)?.release();
  }
}
