/** What a process knows of a session beside its store. */

import { TokenResponses } from "./_refused_token.ts";
import { RetryLater } from "./_retry_later.ts";
import type { ISession } from "./session.ts";

/** Of how many sessions a process keeps what it knows. */
const MAX_MEMORIES = 1_000;

/** A session that could not be saved, or deleted. */
interface IUnsaved {
  readonly session: ISession | undefined;
  /** The access token of the session that it replaces in the store. */
  readonly replaced: string | undefined;
}

/**
 * What is known of a session whatever store object it is in. What is known of its user's
 * sign-ins is not part of it: it belongs to a fetch.
 */
export class Memory {
  readonly responses: TokenResponses = new TokenResponses();
  /** The requests that servers have put off. */
  readonly later: RetryLater = new RetryLater();
  unsaved: IUnsaved | undefined;
}

/** The memories of many sessions, where each request has a store object of its own. */
export class Memories {
  readonly #memories = new Map<string, Memory>();

  /** Returns that of a session; beyond the limit, the one used least recently is lost. */
  of(id: string): Memory {
    const memories = this.#memories;
    const memory = memories.get(id) ?? new Memory();
    memories.delete(id);
    memories.set(id, memory);
    for (const oldest of memories.keys()) {
      if (memories.size <= MAX_MEMORIES) break;
      memories.delete(oldest);
    }
    return memory;
  }
}
