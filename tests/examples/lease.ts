import type { SessionStore } from "@oauth-helper/client";

/** A lock that expires. Each method changes the database in one step. */
export interface Lease {
  /** Acquires the lock if it is free or has expired; returns whether it did. */
  acquire(): Promise<boolean>;
  /** Extends the lock for another ten seconds, if it is still this one. */
  extend(): Promise<unknown>;
  /** Releases the lock, if it is still this one. */
  release(): Promise<unknown>;
}

/**
 * Returns the `lock` of a store: a lock that expires after ten seconds, unless its holder
 * extends it. A process that was suspended for longer has lost the lock; nothing is lost
 * with it if `save` compares.
 */
export function lockBy(
  createLease: () => Lease,
): NonNullable<SessionStore["lock"]> {
  return async (task, signal) => {
    const lease = createLease();
    signal?.throwIfAborted();
    while (!await lease.acquire()) {
      const waitMs = 50 + 50 * Math.random();
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      signal?.throwIfAborted();
    }
    let last: Promise<unknown> = Promise.resolve();
    const ignore = () => {};
    const extend = () => last = last.then(() => lease.extend()).catch(ignore);
    const timer = setInterval(extend, 2_500);
    try {
      signal?.throwIfAborted();
      return await task();
    } finally {
      clearInterval(timer);
      // A lock that cannot be released expires.
      await last.then(() => lease.release()).catch(ignore);
    }
  };
}
