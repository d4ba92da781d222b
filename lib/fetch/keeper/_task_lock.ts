import { OAuthClientError } from "../../core/errors.ts";
import { underSignal } from "../../http/_clock.ts";

/** How long to wait for the lock if there is an alternative. */
const LOCK_TIMEOUT_MS = 1_000;
/** A refresh takes about this time; another process's sign-in may take minutes. */
const FIRST_LOOK_MS = 20;
const LONGEST_LOOK_MS = 1_000;

/**
 * The error of a task that has not started within a second, and the `cause` of its
 * copies.
 */
export const LOCK_TIMEOUT: OAuthClientError =
  /* @__PURE__ */ new OAuthClientError("timeout", "The lock is held", {
    cause: "lock",
  });

/**
 * Runs a task with a new signal, which aborts with `LOCK_TIMEOUT` after this time
 * unless the task reports its start.
 */
export async function withLockTimeout<T>(
  signal: AbortSignal | undefined,
  task: (waiting: AbortSignal, started: () => void) => Promise<T>,
  timeoutMs: number = LOCK_TIMEOUT_MS,
): Promise<T> {
  const waiting = new AbortController();
  const timer = setTimeout(() => waiting.abort(LOCK_TIMEOUT), timeoutMs);
  const started = () => clearTimeout(timer);
  try {
    return await underSignal(signal, () => task(waiting.signal, started));
  } finally {
    started();
    waiting.abort(signal?.reason);
  }
}

function watch<T>(find: (() => Promise<T | undefined>) | undefined) {
  let waitMs = FIRST_LOOK_MS;
  let hasEnded = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const found = new Promise<T>((resolve) => {
    const look = async () => {
      // The next reader gets the error.
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

interface SharedTask {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  callers: number;
  urgent: number;
}

interface Lockable {
  lock?<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** The tasks that concern one value of a store, such as a session. */
export class TaskLock {
  readonly #lockable: Lockable;
  #shared: Map<string, SharedTask> | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #ids: WeakMap<object, number> | undefined;
  #lastId = 0;

  constructor(lockable: Lockable) {
    this.#lockable = lockable;
  }

  /** Returns an object's number, for keys; 0 for none. */
  idOf(object: object | undefined): number {
    if (!object) return 0;
    const ids = this.#ids ??= new WeakMap();
    const id = ids.get(object) ?? ++this.#lastId;
    ids.set(object, id);
    return id;
  }

  /**
   * Runs a task after this object's others, under the lock across processes. The
   * signal, or a result of `find`, which is called meanwhile, stops the waiting.
   * Neither stops a running task.
   */
  async locked<T>(
    task: () => Promise<T>,
    signal: AbortSignal | undefined,
    find?: () => Promise<T | undefined>,
  ): Promise<T> {
    const waiting = new AbortController();
    const { signal: left } = waiting;
    const watching = watch(find);
    let running: Promise<T> | undefined;
    const start = async () => {
      left.throwIfAborted();
      watching.end();
      return await (running = task());
    };
    // An abort, a lost lock or a failed release does not change a running task's
    // result.
    const orRunning = (error: unknown) => running ?? Promise.reject(error);
    // Tasks wait for each other even with a lock, because it need not keep their order.
    const result = this.#queue.then(async () => {
      left.throwIfAborted();
      const { lock } = this.#lockable;
      return await (lock
        ? lock.call(this.#lockable, start, left) as T
        : start());
    }).catch(orRunning);
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
   * Runs a task, or joins the running task with the same key. A caller whose signal
   * aborts leaves it. After the last one, the task's signal aborts, and the next call
   * starts another task. The second argument tells the task whether any caller is
   * urgent.
   */
  async share<T>(
    key: string,
    task: (signal: AbortSignal, isUrgent: () => boolean) => Promise<T>,
    { signal, isUrgent = false }: {
      readonly signal?: AbortSignal | undefined;
      readonly isUrgent?: boolean | undefined;
    },
  ): Promise<T> {
    signal?.throwIfAborted();
    const all = this.#shared ??= new Map<string, SharedTask>();
    let shared = all.get(key);
    if (!shared) {
      const controller = new AbortController();
      const state = { controller, callers: 0, urgent: 0 };
      const result = task(controller.signal, () => state.urgent > 0);
      shared = Object.assign(state, { result });
      all.set(key, shared);
    }
    const { result, controller } = shared;
    const urgent = isUrgent ? 1 : 0;
    shared.urgent += urgent;
    shared.callers++;
    try {
      return await underSignal(signal, () => result as Promise<T>);
    } finally {
      shared.urgent -= urgent;
      if (--shared.callers === 0) {
        if (all.get(key) === shared) all.delete(key);
        if (signal?.aborted) controller.abort(signal.reason);
      }
    }
  }

  /** Aborts the signals of all shared tasks; later calls start other tasks. */
  abort(reason: unknown): void {
    for (const { controller } of this.#shared?.values() ?? []) {
      controller.abort(reason);
    }
    this.#shared = undefined;
  }
}
