/** From when until when a receiver listens. */

// Not the global function, whose timers have no `unref` in Deno.
import { setTimeout as startTimer } from "node:timers";
import type { SharedListener } from "./_shared_listener.ts";

/**
 * The listener of a receiver: it is there until all sign-ins, visits and turns that
 * need it have ended.
 */
export class Listening {
  readonly #waitMs: number;
  #listener: Promise<SharedListener> | undefined;
  /** The sign-ins of flows that have not ended. */
  readonly #signIns = new Set<AbortSignal>();
  /** Redirect URIs that were returned to other callers, and not visited yet. */
  #uses = 0;
  /** How many of these have come to their turn, or wait for it. */
  #begun = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  /** Redirect URIs of callers without a signal are given up after this time. */
  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /** The listener; undefined if nobody needs one. */
  get listener(): Promise<SharedListener> | undefined {
    return this.#listener;
  }

  /** Returns the listener, which `start` starts if there is none. */
  async use(
    start: () => Promise<SharedListener>,
    signal: AbortSignal | undefined,
    isRefused: boolean,
  ): Promise<SharedListener> {
    // What was rejected leads to no visit.
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
      // Otherwise, a caller that fails before its visit would leave the receiver open.
      this.#idle = startTimer(() => {
        this.#uses = this.#begun;
        void this.#closeIfUnused();
      }, this.#waitMs).unref();
    }
    return listener;
  }

  /** Notes that a visit starts, or waits for its turn. */
  begin(): void {
    this.#begun++;
  }

  /** Notes the end of a visit, and waits until the port is free if it was the last. */
  async end(): Promise<void> {
    this.#begun--;
    this.#uses = Math.max(0, this.#uses - 1);
    await this.#closeIfUnused();
  }

  /** Listens until a sign-in has ended. */
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
