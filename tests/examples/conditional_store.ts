import type { SessionStore } from "@oauth-helper/client";
import { type Lease, lockBy } from "./lease.ts";

/**
 * A database without locks, whose writes can have a condition. A version differs after
 * each write: an attribute of DynamoDB, `resourceVersion` of a secret in Kubernetes, the
 * ETag of an object in S3 or a row in Azure Table Storage.
 */
export interface Table {
  /** Returns a value and its version; reads what was written last. */
  get(key: string): Promise<{ value: string; version: string } | undefined>;
  /**
   * Writes a value if the key has this version, or no value if undefined; returns whether
   * that was so, and rejects for any other reason.
   */
  put(key: string, value: string, version?: string): Promise<boolean>;
}

/** Keeps a session in a database without locks. A deleted one is an empty text. */
export function conditionalStore(table: Table, key: string): SessionStore {
  return {
    async load() {
      const found = await table.get(key);
      return found?.value ? JSON.parse(found.value) : undefined;
    },
    async save(session, former) {
      const value = session ? JSON.stringify(session) : "";
      for (;;) {
        const found = await table.get(key);
        const isOther = former !== undefined &&
          (found?.value || "null") !== JSON.stringify(former);
        if (isOther) return false;
        if (await table.put(key, value, found?.version)) return true;
      }
    },
    lock: lockBy(() => tableLease(table, `lock:${key}`)),
  };
}

/** Returns a lock that expires if its version has not changed for ten seconds. */
function tableLease(table: Table, key: string): Lease {
  const owner = crypto.randomUUID();
  let seen: { version?: string | undefined; at: number } = { at: 0 };
  const set = async (value: string) => {
    const found = await table.get(key);
    const isOwn = found?.value === owner;
    return isOwn && await table.put(key, value, found.version);
  };
  return {
    async acquire() {
      const found = await table.get(key);
      const now = performance.now();
      if (found?.version !== seen.version) {
        seen = { version: found?.version, at: now };
      }
      const isHeld = found?.value && now - seen.at < 10_000;
      return !isHeld && await table.put(key, owner, found?.version);
    },
    extend: () => set(owner),
    release: () => set(""),
  };
}
