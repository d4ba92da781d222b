/** What is known of the user's sign-ins. */

import { type INeed, tokenOf } from "./_renewal_reason.ts";
import type { ISession } from "./session.ts";

/** Whether a fetch may ask the user; one object for each fetch. */
export interface IAsking {
  /** Which functions may ask: each call, or `authorize()` only. */
  readonly signInOn: "call" | "authorize";
}

/** A sign-in that the user has seen and not finished. */
interface ILeft {
  readonly error: unknown;
  /** The access token that was stored then. */
  readonly token: string | undefined;
  /** What a refresh does not change, unless the session could not be refreshed. */
  readonly kept: string | undefined;
}

/** Returns what a refresh does not change of a session. */
function keptOf({ issuer, resource, client, scopes }: ISession): string {
  return JSON.stringify([issuer, resource, client.client_id, scopes]);
}

/** What is known of the user's sign-ins, for all fetches with one store object. */
export class SignIns {
  /** How many times the session has been revoked. */
  revocations = 0;
  #left: ILeft | undefined;
  #lacked = new WeakMap<IAsking, INeed>();

  /** Returns what the last call of a fetch lacked that needed the user. */
  lackedBy(asking: IAsking): INeed | undefined {
    return this.#lacked.get(asking);
  }

  /** Notes what a call of a fetch lacks, for `authorize()`. */
  lacks(asking: IAsking, need: INeed): void {
    this.#lacked.set(asking, need);
  }

  /**
   * Notes that the user has seen a sign-in and left it, and what was stored then, after a
   * refresh had failed if it was tried.
   */
  left(
    error: unknown,
    session: ISession | undefined,
    hasFailedRefresh = false,
  ): void {
    const mayRefresh = session?.token.refresh_token && !hasFailedRefresh;
    this.#left = {
      error,
      token: tokenOf(session),
      kept: mayRefresh ? keptOf(session) : undefined,
    };
  }

  /** Returns the error of the sign-in that the user has left, unless one came after it. */
  leftWith(stored: ISession | undefined): unknown {
    const token = tokenOf(stored);
    const isOther = stored && token && token !== this.#left?.token &&
      keptOf(stored) !== this.#left?.kept;
    if (isOther) this.#left = undefined;
    return this.#left?.error;
  }

  /** Notes that the user wishes to sign in: calls may ask again. */
  wished(): void {
    this.#left = undefined;
  }

  /** Notes that the user has signed in, for a fetch. */
  ended(asking: IAsking): void {
    this.#left = undefined;
    this.#lacked.delete(asking);
  }

  /** Notes that the session is revoked: no fetch lacks anything of it. */
  revoked(): void {
    this.revocations++;
    this.#left = undefined;
    this.#lacked = new WeakMap();
  }
}
