/** Engines in memory, with the methods that the stores use. */

import type { IDenoKv, IDenoKvAtomic } from "../../../lib/stores/mod.ts";
import type { IRedisClient } from "../../../lib/stores/mod.ts";
import type { IWebLocks, IWebStorage } from "../../../lib/stores/mod.ts";

/** A Redis server and a client of it. Values do not expire. */
export function fakeRedis(values = new Map<string, string>()): IRedisClient {
  return {
    get: (key) => Promise.resolve(values.get(key) ?? null),
    set(key, value, options) {
      if (options?.NX && values.has(key)) return Promise.resolve(null);
      values.set(key, value);
      return Promise.resolve("OK");
    },
    del: (key) => Promise.resolve(Number(values.delete(key))),
    eval(script, { keys: [key = ""], arguments: [owner] }) {
      const isOwner = values.get(key) === owner;
      if (isOwner && script.includes("del")) values.delete(key);
      return Promise.resolve(Number(isOwner));
    },
  };
}

/** A Deno KV database. Entries do not expire. */
export function fakeKv(
  entries = new Map<string, { value: unknown; versionstamp: string }>(),
): IDenoKv {
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
      const operation: IDenoKvAtomic = {
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

/** The storage of an origin. Changes reach the other tabs after a delay. */
export function fakeStorage(delayMs = 0) {
  const tabs: Map<string, string>[] = [];
  /** Returns the storage as a tab sees it. */
  return (): IWebStorage => {
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
export function fakeLocks(): IWebLocks {
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
