import { optionalFunction, requireObject } from "../core/_arguments.ts";
import { underSignal } from "../http/_clock.ts";
import type { StoredSession } from "../session/session.ts";
import type { SessionStore } from "../session/store.ts";
import { reportWait } from "./_lease.ts";
import { lifetimeMsOf, type StoreOptions } from "./lifetime.ts";
import { isStill, readSession } from "./_stored_session.ts";

/** The part of a Durable Object's storage that {@linkcode durableObjectStore} uses. */
export interface DurableObjectStorage {
  /** Returns a value, or undefined. */
  get(key: string): Promise<unknown>;
  /** Saves a value. */
  put(key: string, value: unknown): Promise<void>;
  /** Deletes a value. */
  delete(key: string): Promise<unknown>;
  /** Sets when the runtime calls the object's method `alarm`, in milliseconds of the epoch. */
  setAlarm(scheduledTime: number): Promise<void>;
  /** Deletes the alarm. */
  deleteAlarm(): Promise<void>;
}

/** The part of a Durable Object's `ctx` that {@linkcode durableObjectStore} uses. */
export interface DurableObjectContext {
  /** The storage of the object. */
  readonly storage: DurableObjectStorage;
}

/** A store with a lock, such as {@linkcode durableObjectStore} creates. */
export interface LockingStore extends SessionStore {
  /** Runs a task while no other task runs, as {@linkcode SessionStore} specifies. */
  lock<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** The store methods of a Durable Object's stub that {@linkcode remoteStore} uses. */
export interface RemoteStore {
  /** Returns the session of the object's store. */
  load(): PromiseLike<unknown>;
  /** Saves a session, and compares `former` if given. */
  save(
    session: StoredSession | undefined,
    former?: StoredSession | null,
  ): PromiseLike<unknown>;
  /** Runs a task under the lock of the object's store. */
  lock(task: () => Promise<void>): PromiseLike<unknown>;
}

const KEY = "session";

type LastTasks = WeakMap<object, Promise<unknown>>;

/** A program may create several stores for one object. */
const locks: LastTasks = /* @__PURE__ */ new WeakMap();
const writes: LastTasks = /* @__PURE__ */ new WeakMap();

/** Runs tasks of one object in order. */
function queueOf(
  lastTasks: LastTasks,
  object: object,
  onWait?: () => unknown,
): LockingStore["lock"] {
  return async (task, signal) => {
    const previous = lastTasks.get(object) ?? Promise.resolve();
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => finish = resolve);
    // If a waiting caller leaves, the next task must still wait for the previous one.
    lastTasks.set(object, previous.then(() => finished));
    const stopReport = reportWait(onWait);
    try {
      await underSignal(signal, () => previous);
      stopReport();
      return await task();
    } finally {
      stopReport();
      finish();
    }
  };
}

/**
 * Creates a store in a Durable Object, for all Workers that call the object.
 *
 * A name identifies one object worldwide, so its lock is a queue in memory without
 * expiry. If the object restarts, waiting calls reject; the runtime stops the calls of
 * a Worker that is gone.
 *
 * For use in a Worker, give the object the methods `load`, `save` and `lock`, and pass
 * its stub to {@linkcode remoteStore}. Inside the object, such as in an agent, pass the
 * store to `createAuthorizedFetch`.
 *
 * The session is the value `session` of the object's storage. With `lifetimeSeconds`,
 * each save sets the object's alarm, which must delete the session: `async alarm() {
 * await this.store.save(undefined); }`. The runtime rejects a save without `alarm`. Do
 * not set another alarm in the object.
 *
 * `load` rejects with the code `invalid_session` if the value is not a session; the
 * value is not changed. Storage errors are passed on unchanged.
 *
 * @param ctx The `ctx` of the Durable Object.
 * @param options The lifetime of a session, and the callback during a wait.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid.
 * @see Cloudflare documentation, "Durable Objects: in-memory state".
 *
 * @example An agent that calls an API for its user
 * ```ts
 * import { createAuthorizedFetch } from "@oauth-helper/client";
 * import {
 *   durableObjectStore,
 *   type DurableObjectContext,
 * } from "@oauth-helper/client/stores";
 *
 * // export class Agent extends DurableObject { … }
 * export class Agent {
 *   readonly #api;
 *   constructor(ctx: DurableObjectContext) {
 *     this.#api = createAuthorizedFetch("https://api.example/mcp", {
 *       store: durableObjectStore(ctx),
 *     });
 *   }
 *   async notes(): Promise<unknown> {
 *     const response = await this.#api("https://api.example/mcp/notes");
 *     return await response.json();
 *   }
 * }
 * ```
 */
export function durableObjectStore(
  ctx: DurableObjectContext,
  options?: StoreOptions,
): LockingStore {
  requireObject("ctx", ctx);
  const storage = requireObject("ctx.storage", ctx.storage);
  const lifetimeMs = lifetimeMsOf(options, "durableObjectStore");
  const onWait = optionalFunction("onWait", options?.onWait);
  const writing = queueOf(writes, ctx);
  return {
    load: async () =>
      readSession(
        await storage.get(KEY),
        `the Durable Object at key "${KEY}"`,
      ),
    save: (session, former) =>
      writing(async () => {
        const isOther = former !== undefined &&
          !isStill(former, await storage.get(KEY));
        if (isOther) return false;
        if (session) await storage.put(KEY, session);
        else await storage.delete(KEY);
        if (lifetimeMs === undefined) return true;
        if (session) await storage.setAlarm(Date.now() + lifetimeMs);
        else await storage.deleteAlarm();
        return true;
      }),
    lock: queueOf(locks, ctx, onWait),
  };
}

/**
 * Creates a store whose session and lock are in a Durable Object, for use in a Worker.
 *
 * The task runs in the Worker while the object holds the lock, so its errors keep their
 * class and code. If the object restarts during a task, the task's result still counts.
 *
 * @param stub The stub of an object with the methods `load`, `save` and `lock` of a
 * {@linkcode durableObjectStore}. They must be methods of the class, because the
 * runtime does not call function properties.
 * @throws {OAuthClientError} `invalid_argument`: `stub` is not an object.
 *
 * @example The session of each user in a Durable Object
 * ```ts
 * import type { SessionStore, StoredSession } from "@oauth-helper/client";
 * import {
 *   durableObjectStore,
 *   type DurableObjectContext,
 *   type RemoteStore,
 *   remoteStore,
 * } from "@oauth-helper/client/stores";
 *
 * // export class SessionObject extends DurableObject { … }
 * export class SessionObject {
 *   readonly #store;
 *   constructor(ctx: DurableObjectContext) {
 *     this.#store = durableObjectStore(ctx, { lifetimeSeconds: 30 * 24 * 3600 });
 *   }
 *   load() {
 *     return this.#store.load();
 *   }
 *   save(session?: StoredSession, former?: StoredSession | null) {
 *     return this.#store.save(session, former);
 *   }
 *   lock(task: () => Promise<void>) {
 *     return this.#store.lock(task);
 *   }
 *   async alarm() {
 *     await this.#store.save(undefined);
 *   }
 * }
 *
 * // The binding of the class, `env.SESSIONS`
 * interface Sessions {
 *   getByName(name: string): RemoteStore;
 * }
 * export function storeOf(sessions: Sessions, user: string): SessionStore {
 *   return remoteStore(sessions.getByName(user));
 * }
 * ```
 */
export function remoteStore(stub: RemoteStore): LockingStore {
  // A stub of Workers is callable, whatever its class.
  if (typeof stub !== "function") requireObject("stub", stub);
  return {
    load: async () => readSession(await stub.load(), "the Durable Object"),
    save: async (session, former) => await stub.save(session, former) !== false,
    async lock<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      let running: Promise<T> | undefined;
      await underSignal(signal, () =>
        new Promise<void>((resolve, reject) => {
          const turn = async () => {
            // The waiting caller has left.
            if (signal?.aborted) return;
            running = task();
            resolve();
            await running.catch(() => {});
          };
          const end = () => resolve();
          stub.lock(turn).then(end, reject);
        }));
      if (!running) {
        throw new Error("The lock of the stub did not run its task");
      }
      return await running;
    },
  };
}
