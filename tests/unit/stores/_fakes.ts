/** Engines in memory, with the methods that the stores use. */

import type { SessionStore } from "../../../mod.ts";
import {
  type DenoKv,
  type DenoKvAtomic,
  denoKvStore,
  type DurableObjectContext,
  durableObjectStore,
  type RedisClient,
  redisStore,
  remoteStore,
  type WebLocks,
  type WebStorage,
  webStorageStore,
} from "../../../lib/stores/mod.ts";

/** A Redis server and a client of it. Values do not expire. */
export function fakeRedis(values = new Map<string, string>()): RedisClient {
  return {
    get: (key) => Promise.resolve(values.get(key) ?? null),
    set(key, value, options) {
      if (options?.NX && values.has(key)) return Promise.resolve(null);
      values.set(key, value);
      return Promise.resolve("OK");
    },
    del: (key) => Promise.resolve(Number(values.delete(key))),
    // Each script first compares the value.
    eval(script, { keys: [key = ""], arguments: [former, text] }) {
      const isStill = (values.get(key) ?? "") === former;
      if (isStill && script.includes("set") && text) values.set(key, text);
      else if (isStill && script.includes("del")) values.delete(key);
      return Promise.resolve(Number(isStill));
    },
  };
}

/** A Deno KV database. Entries do not expire. */
export function fakeKv(
  entries = new Map<string, { value: unknown; versionstamp: string }>(),
): DenoKv {
  let version = 0;
  const set = (key: readonly unknown[], value: unknown) => {
    entries.set(JSON.stringify(key), { value, versionstamp: `${++version}` });
    return Promise.resolve();
  };
  const remove = (key: readonly unknown[]) => {
    entries.delete(JSON.stringify(key));
    return Promise.resolve();
  };
  const none = { value: null, versionstamp: null };
  const read = (key: readonly unknown[]) =>
    entries.get(JSON.stringify(key)) ?? none;
  return {
    get: (key) => Promise.resolve(read(key)),
    set,
    delete: remove,
    atomic() {
      let ok = true;
      const changes: (() => unknown)[] = [];
      const operation: DenoKvAtomic = {
        check({ key, versionstamp }) {
          ok &&= read(key).versionstamp === versionstamp;
          return operation;
        },
        set(key, value) {
          changes.push(() => set(key, value));
          return operation;
        },
        delete(key) {
          changes.push(() => remove(key));
          return operation;
        },
        commit() {
          if (ok) { for (const change of changes) change(); }
          return Promise.resolve({ ok });
        },
      };
      return operation;
    },
  };
}

export function fakeObject(
  values = new Map<string, unknown>(),
): DurableObjectContext & { alarm: number | undefined } {
  const object = {
    alarm: undefined as number | undefined,
    storage: {
      get: (key: string) => Promise.resolve(structuredClone(values.get(key))),
      put(key: string, value: unknown) {
        values.set(key, structuredClone(value));
        return Promise.resolve();
      },
      delete: (key: string) => Promise.resolve(values.delete(key)),
      setAlarm(time: number) {
        object.alarm = time;
        return Promise.resolve();
      },
      deleteAlarm() {
        object.alarm = undefined;
        return Promise.resolve();
      },
    },
  };
  return object;
}

/** The storage of an origin. Changes reach the other tabs after a delay. */
export function fakeStorage(delayMs = 0) {
  const tabs: Map<string, string>[] = [];
  /** Returns the storage as a tab sees it. */
  return (): WebStorage => {
    const own = new Map<string, string>(tabs[0]);
    tabs.push(own);
    const change = (apply: (values: Map<string, string>) => void) => {
      apply(own);
      for (const other of tabs) {
        if (other === own) continue;
        if (delayMs === 0) apply(other);
        else setTimeout(() => apply(other), delayMs);
      }
    };
    return {
      getItem: (key) => own.get(key) ?? null,
      setItem: (key, value) => change((values) => values.set(key, value)),
      removeItem: (key) => change((values) => values.delete(key)),
    };
  };
}

/** The locks of an origin, which are the same in all tabs at any time. */
export function fakeLocks(): WebLocks {
  const held = new Map<string, Promise<unknown>>();
  return {
    async request(name, task) {
      while (held.has(name)) await held.get(name)?.catch(() => {});
      const running = task();
      held.set(name, running);
      try {
        return await running;
      } finally {
        held.delete(name);
      }
    },
    query: () =>
      Promise.resolve({ held: [...held.keys()].map((name) => ({ name })) }),
  };
}

/** What comes between a store and its engine when it writes to the lock. */
type Write = <T>(run: () => Promise<T>) => Promise<T>;

export interface Engine {
  open(write?: Write): SessionStore;
  put(value: unknown): unknown;
}

const textOf = (value: unknown) =>
  typeof value === "string" ? value : JSON.stringify(value);

/** Creates the engines whose stores have a lock of their own. */
export const LOCKING_ENGINES: Record<string, () => Engine> = {
  redisStore() {
    const client = fakeRedis();
    return {
      open: (write = (run) => run()) =>
        redisStore({
          ...client,
          set: (...args) => write(() => client.set(...args)),
          eval: (...args) => write(() => client.eval(...args)),
        }, "k"),
      put: (value) => client.set("k", textOf(value)),
    };
  },
  denoKvStore() {
    const kv = fakeKv();
    return {
      open: (write = (run) => run()) =>
        denoKvStore({
          ...kv,
          atomic() {
            const operation = kv.atomic();
            const { commit } = operation;
            operation.commit = () => write(commit);
            return operation;
          },
        }, ["k", 1]),
      put: (value) => kv.set(["k", 1], value),
    };
  },
};

export const ENGINES: Record<string, () => Engine> = {
  ...LOCKING_ENGINES,
  durableObjectStore() {
    const object = fakeObject();
    return {
      open: () => durableObjectStore(object),
      put: (value) => object.storage.put("session", value),
    };
  },
  remoteStore() {
    const object = fakeObject();
    const { save, lock } = durableObjectStore(object);
    const load = () => object.storage.get("session");
    const stub = { load, save, lock };
    return {
      open: () => remoteStore(stub),
      put: (value) => object.storage.put("session", value),
    };
  },
  webStorageStore() {
    const locks = fakeLocks();
    const storage = fakeStorage()();
    return {
      open: () => webStorageStore(storage, "k", { locks }),
      put: (value) => storage.setItem("k", textOf(value)),
    };
  },
};
