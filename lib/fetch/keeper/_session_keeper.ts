/** State that all fetches with one store object share. */

import { isOAuthClientError, OAuthClientError } from "../../core/errors.ts";
import { underSignal } from "../../http/_clock.ts";
import { Memory } from "./_session_memory.ts";
import { tokenOf } from "../policy/_need.ts";
import { requireWhole } from "../_whole_session.ts";
import type { ISession } from "../../session/session.ts";
import type { ISessionStore } from "../../session/store.ts";

/** How long the lock is waited for where something can be done without it. */
const PATIENCE_MS = 1_000;
/** A refresh takes about this time; a sign-in of another process may take minutes. */
const FIRST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 1_000;
/** After which times a session is saved again: a failover takes some seconds. */
const SAVE_WAITS_MS = [100, 300, 900, 2_700];
/** How often a change is tried: a store that sees a difference each time loses no token. */
const CHANGES = 5;

/** Ends renewals when a session is saved: they start over. */
export const REPLACED: DOMException = /* @__PURE__ */ new DOMException(
  "Another session was saved",
  "AbortError",
);

/** The error of a task that has not started within a second. */
export const LATE: OAuthClientError = /* @__PURE__ */ new OAuthClientError(
  "timeout",
  "The lock is held",
);

/**
 * Runs a task with a signal of its own, which aborts with `LATE` after a second unless
 * the task has said by then that it has started.
 */
export async function patiently<T>(
  signal: AbortSignal | undefined,
  task: (waiting: AbortSignal, begun: () => void) => Promise<T>,
): Promise<T> {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(LATE), PATIENCE_MS);
  const begun = () => clearTimeout(timer);
  try {
    return await underSignal(signal, () => task(waiting.signal, begun));
  } finally {
    begun();
    waiting.abort(signal?.reason);
  }
}

/** Why renewals and sign-ins end when the session is revoked. */
export function revoked(): DOMException {
  return new DOMException("The session was revoked", "AbortError");
}

/** A running task. */
interface IFlight {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  callers: number;
  /** How many of the callers have asked for a sign-in. */
  wishes: number;
}

/**
 * Calls `find` until it returns something, at increasing intervals, or until `end()`.
 */
function watch<T>(find: (() => Promise<T | undefined>) | undefined) {
  let waitMs = FIRST_LOOK_MS;
  let hasEnded = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const found = new Promise<T>((resolve) => {
    const look = async () => {
      // An error of reading is ignored: the next caller that reads gets it.
      const value = await find?.().catch(() => undefined);
      if (hasEnded) return;
      if (value) return resolve(value);
      waitMs = Math.min(waitMs * 1.5, LONGEST_LOOK_MS);
      timer = setTimeout(look, waitMs);
    };
    if (find) timer = setTimeout(look, waitMs);
  });
  const end = () => {
    hasEnded = true;
    clearTimeout(timer);
  };
  return { found, end };
}

/** A store with its lock, the tasks that run, and what is known of its session. */
export class SharedStore {
  /** How many times the revoked session has been deleted. */
  deletions = 0;
  readonly memory: Memory;
  readonly #store: ISessionStore;
  readonly #flights = new Map<string, IFlight>();
  #queue: Promise<unknown> = Promise.resolve();
  #writes: Promise<unknown> = Promise.resolve();
  /** The access token of the last session that the store is known to have had. */
  #storedToken: string | undefined;
  /** The session that was in use then. */
  #used: ISession | undefined;
  /** What `save()` was called with last, and what a refresh has brought since. */
  saved: ISession | undefined;
  obsolete: ISession | undefined;
  #isSavingAgain = false;
  /** The session that was in use when the store was read last. */
  last: ISession | undefined;
  readonly #ids = new WeakMap<object, number>();
  #lastId = 0;

  constructor(store: ISessionStore, memory: Memory = new Memory()) {
    this.#store = store;
    this.memory = memory;
  }

  /** Returns a number for an object, which is the same as long as it is used. */
  idOf(object: object | undefined): number {
    if (!object) return 0;
    const id = this.#ids.get(object) ?? ++this.#lastId;
    this.#ids.set(object, id);
    return id;
  }

  /** Returns the stored session, and the one in use, which may replace it. */
  async #read(): Promise<[stored: ISession | undefined, used: typeof stored]> {
    const stored = await this.#store.load() ?? undefined;
    requireWhole(stored);
    const token = this.#storedToken = tokenOf(stored);
    const { last, memory: { unsaved } } = this;
    let used = stored;
    // Another process may have stored a session in the meantime.
    if (unsaved && unsaved.replaced === token) used = unsaved.session;
    // One object, even if the store parses JSON: the encoding that the server accepts is
    // stored by client, and found once.
    else if (
      stored && last && stored.client !== last.client &&
      JSON.stringify(last.client) === JSON.stringify(stored.client)
    ) used = { ...stored, client: last.client };
    this.last = this.#used = used;
    return [stored, used];
  }

  /** Returns the session in use: the stored one, or one that replaces it. */
  async load(): Promise<ISession | undefined> {
    return (await this.#read())[1];
  }

  /** Runs a task after the other tasks of this object that write to the store. */
  async #write<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#writes.then(task);
    this.#writes = result.catch(() => {});
    return await result;
  }

  /** Stores a session in place of another one, or of any; returns whether it did. */
  async #put(
    session: ISession | undefined,
    former?: ISession | null,
  ): Promise<boolean> {
    const isSaved = await this.#store.save(session, former);
    if (former !== undefined && isSaved === false) return false;
    this.#storedToken = tokenOf(session);
    this.#used = session;
    this.memory.unsaved = undefined;
    return true;
  }

  /** Stores a session, or deletes it, whatever is stored. */
  async save(session: ISession | undefined): Promise<void> {
    await this.#write(() => this.#put(session));
  }

  /**
   * Replaces the session in use by what `next` makes of it, unless that throws; returns
   * the former one. If another process has changed what is stored, it starts over.
   */
  async change(
    next: (
      used: ISession | undefined,
      stored: ISession | undefined,
    ) => ISession | undefined,
  ): Promise<ISession | undefined> {
    return await this.#write(async () => {
      for (let left = CHANGES;; left--) {
        const [stored, used] = await this.#read();
        const session = next(used, stored);
        const former = left > 0 ? stored ?? null : undefined;
        if (await this.#put(session, former)) return used;
      }
    });
  }

  /**
   * Deletes the session, and returns it. A value that is no session is deleted too:
   * otherwise its user could never sign out. Any other error of reading may be over in a
   * moment, and the tokens have to be revoked.
   */
  async remove(): Promise<ISession | undefined> {
    const former = await this.change(() => undefined).catch(async (error) => {
      if (!isOAuthClientError(error, "invalid_session")) throw error;
      await this.save(undefined);
      return undefined;
    });
    this.deletions++;
    return former;
  }

  /**
   * Stores the result of a renewal, under the lock. If that fails, it is tried again for
   * some seconds: this object may be gone with its request, and a second use of the
   * refresh token in the store may make the server revoke all tokens of the grant (RFC
   * 9700, section 4.14.2). What cannot be saved is kept in memory.
   *
   * @param next Returns what replaces the session in use; fails if that must not be
   * replaced.
   * @param failed Is called once if the session could not be saved at once.
   * @param isNew Whether the session is of a new sign-in, and replaces any other.
   */
  async keep(
    next: (used: ISession | undefined) => ISession | undefined,
    failed: (error: unknown) => void,
    isNew = false,
  ): Promise<void> {
    let session: ISession | undefined;
    try {
      await (isNew ? this.save(next(this.#used)) : this.change(next));
      return;
    } catch (error) {
      // Fails here too: the store may have failed before the session was compared.
      session = next(this.#used);
      failed(error);
    }
    const token = tokenOf(session);
    const replaced = this.#storedToken;
    this.memory.unsaved = { session, replaced };
    // A mark, or the end of a session, can also be saved later.
    for (const waitMs of token && token !== replaced ? SAVE_WAITS_MS : []) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await this.#saveUnsaved().catch(() => {});
      if (this.memory.unsaved) continue;
      // Another process may have stored another one, or deleted it.
      if (this.#storedToken !== token) next(this.#used);
      return;
    }
  }

  /** Saves a session that could not be saved, unless another one is stored by now. */
  async #saveUnsaved(): Promise<void> {
    const { unsaved } = this.memory;
    await this.change((_used, stored) => {
      // Another one may have been saved while this one was read.
      if (unsaved && unsaved === this.memory.unsaved) {
        if (unsaved.replaced === tokenOf(stored)) return unsaved.session;
        this.memory.unsaved = undefined;
      }
      throw REPLACED;
    });
  }

  /**
   * Tries again to save what could not be saved, one attempt at a time. No caller waits
   * for it, as another process may hold the lock while its user signs in.
   */
  saveAgain(): void {
    if (!this.memory.unsaved || this.#isSavingAgain) return;
    this.#isSavingAgain = true;
    this.locked(() => Promise.resolve(), undefined)
      .catch(() => {})
      .finally(() => this.#isSavingAgain = false);
  }

  /** Runs a task under the lock of the store, if it has one. */
  async #underLock<T>(
    task: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    const { lock } = this.#store;
    return await (lock ? lock.call(this.#store, task, signal) as T : task());
  }

  /**
   * Runs a task after all others of the same store object, under its lock. The signal
   * ends the waiting, but not a task that has started. A result of `find`, which is
   * called while the task waits, also ends the waiting.
   */
  async locked<T>(
    task: () => Promise<T>,
    signal: AbortSignal | undefined,
    find?: () => Promise<T | undefined>,
  ): Promise<T> {
    const waiting = new AbortController();
    const watching = watch(find);
    let running: Promise<T> | undefined;
    const run = async () => {
      // Saved first: another process could use the refresh token that this session
      // replaces.
      if (this.memory.unsaved) await this.#saveUnsaved().catch(() => {});
      return await task();
    };
    const start = async () => {
      waiting.signal.throwIfAborted();
      watching.end();
      return await (running = run());
    };
    // Neither an abort nor a lock that was lost, or cannot be released, changes the
    // result of a task that has started.
    const orRunning = (error: unknown) => running ?? Promise.reject(error);
    // Tasks also wait for each other if there is a lock, because a store need not grant
    // the lock in the order of the requests.
    const result = this.#queue.then(() =>
      this.#underLock(start, waiting.signal)
    ).catch(orRunning);
    this.#queue = result.catch(() => {});
    try {
      const either = () => Promise.race([result, watching.found]);
      return await underSignal(signal, either).catch(orRunning);
    } finally {
      watching.end();
      if (!running) waiting.abort(signal?.reason);
    }
  }

  /**
   * Runs a short task under the lock; after a second without it, as another process may
   * hold it while its user signs in.
   */
  async soon<T>(
    task: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    try {
      return await patiently(signal, (waiting) => this.locked(task, waiting));
    } catch (error) {
      if (error !== LATE) throw error;
      return await underSignal(signal, task);
    }
  }

  /**
   * Runs a task, or joins the task that is running for the same key. A caller whose
   * signal aborts leaves the task; when the last one has left, the signal of the task
   * aborts, and the next call starts a task of its own. The task learns by its second
   * argument whether any caller has asked for a sign-in, also one that has joined it.
   */
  async share<T>(
    key: string,
    task: (signal: AbortSignal, isWanted: () => boolean) => Promise<T>,
    { signal, isWanted = false }: {
      readonly signal: AbortSignal | undefined;
      readonly isWanted?: boolean | undefined;
    },
  ): Promise<T> {
    signal?.throwIfAborted();
    const flights = this.#flights;
    let flight = flights.get(key);
    if (!flight) {
      const controller = new AbortController();
      const state = { controller, callers: 0, wishes: 0 };
      const result = task(controller.signal, () => state.wishes > 0);
      flight = Object.assign(state, { result });
      flights.set(key, flight);
    }
    const { result, controller } = flight;
    const wish = isWanted ? 1 : 0;
    flight.wishes += wish;
    flight.callers++;
    try {
      return await underSignal(signal, () => result as Promise<T>);
    } finally {
      flight.wishes -= wish;
      if (--flight.callers === 0) {
        if (flights.get(key) === flight) flights.delete(key);
        if (signal?.aborted) controller.abort(signal.reason);
      }
    }
  }

  /** Aborts the signals of all tasks; later calls start tasks of their own. */
  endTasks(reason: unknown): void {
    for (const { controller } of this.#flights.values()) {
      controller.abort(reason);
    }
    this.#flights.clear();
  }
}

const sharedStores = new WeakMap<ISessionStore, SharedStore>();

/** Returns the state that all users of a store object share. */
export function sharedStore(
  store: ISessionStore,
  memory?: Memory,
): SharedStore {
  const shared = sharedStores.get(store) ?? new SharedStore(store, memory);
  sharedStores.set(store, shared);
  return shared;
}
