/** A lock across processes, which expires unless its holder extends it. */

import { underSignal } from "../http/_clock.ts";

/** A lock is valid this long after its last extension. */
export const LEASE_MS = 10_000;

/**
 * Four times per lease, so that a short delay does not lose the lock. A literal:
 * bundlers keep computed values.
 */
const HEARTBEAT_MS = 2_500;

const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 250;

/** How long a process waits before it calls `onWait`. */
const SILENT_MS = 1_000;

/** How long a result waits for the lock's release. */
const RELEASE_MS = 1_000;

/** The longest time between two checks that counts as waiting. */
const LONGEST_LOOK_MS = 1_000;

/** One attempt to hold a lock, with a unique owner. */
export interface Lease {
  /** Acquires the lock if it is free or has expired. */
  acquire(): Promise<boolean>;
  /** Extends the lock if this lease still holds it. */
  extend(): Promise<unknown>;
  /**
   * Releases the lock if this lease still holds it. Also called after a failed
   * `acquire`.
   */
  release(): Promise<unknown>;
}

/**
 * Returns a function that receives the holder's last sign of life at each check. It
 * returns whether the holder has crashed: the sign did not change for a lease's length.
 * A monotonic clock measures the time, because wall clocks differ and can be set.
 */
export function createCrashCheck(
  now: () => number = () => performance.now(),
): (sign: string) => boolean {
  let seen: string | undefined;
  let lookedAt = 0;
  let unchangedMs = 0;
  return (sign) => {
    const time = now();
    // Some monotonic clocks continue while the machine, and so the holder, is
    // suspended.
    const waitedMs = Math.min(time - lookedAt, LONGEST_LOOK_MS);
    unchangedMs = sign === seen ? unchangedMs + waitedMs : 0;
    seen = sign;
    lookedAt = time;
    return unchangedMs >= LEASE_MS;
  };
}

/** An abort stops the timer, which would keep the process alive. */
async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const passed = () =>
    new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  try {
    await underSignal(signal, passed);
  } finally {
    clearTimeout(timer);
  }
}

function ignore(): void {}

/**
 * Releases the lock after its last operation. A store that hangs must not delay the
 * task's result, because a refreshed token cannot be obtained again. The lock then
 * expires.
 */
async function release(lease: Lease, last: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) =>
    timer = setTimeout(resolve, RELEASE_MS)
  );
  const released = last.catch(ignore).then(() => lease.release()).catch(ignore);
  await Promise.race([released, late]);
  clearTimeout(timer);
}

async function tryAcquire(
  lease: Lease,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  signal?.throwIfAborted();
  const acquiring = lease.acquire();
  try {
    return await underSignal(signal, () => acquiring);
  } catch (error) {
    // The lock may have been acquired anyway: part of the operation failed, or the
    // store's response was lost.
    await release(lease, acquiring);
    throw error;
  }
}

async function acquire(
  lease: Lease,
  signal: AbortSignal | undefined,
): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!await tryAcquire(lease, signal)) {
    // Random, so that processes that started together do not try at the same time.
    await wait(waitMs * (0.5 + Math.random() / 2), signal);
    waitMs = Math.min(waitMs * 1.5, LONGEST_WAIT_MS);
  }
}

/**
 * Calls a function if a wait takes a second, and ignores its errors. Returns a function
 * that stops this.
 */
export function reportWait(onWait: (() => unknown) | undefined): () => void {
  const call = async () => {
    try {
      await onWait?.();
    } catch {
      // It does not affect who holds the lock.
    }
  };
  const timer = onWait && setTimeout(call, SILENT_MS);
  return () => clearTimeout(timer);
}

/**
 * Runs a task while the lease is held. The signal stops the wait for the lease, but not
 * the task.
 *
 * @param onWait Called once if another process holds the lock for a second.
 */
export async function underLease<T>(
  lease: Lease,
  task: () => Promise<T>,
  signal?: AbortSignal,
  onWait?: () => unknown,
): Promise<T> {
  const endWait = reportWait(onWait);
  try {
    await acquire(lease, signal);
  } finally {
    endWait();
  }
  let extending: Promise<unknown> = Promise.resolve();
  const heartbeat = setInterval(() => {
    extending = extending.then(() => lease.extend()).catch(ignore);
  }, HEARTBEAT_MS);
  try {
    signal?.throwIfAborted();
    return await task();
  } finally {
    clearInterval(heartbeat);
    await release(lease, extending);
  }
}
