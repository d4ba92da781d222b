/** Tasks that callers share, one at a time for each store. */

import { underSignal } from "../http/_clock.ts";
import type { ISessionStore } from "./store.ts";

/** A running task. */
interface IFlight {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  callers: number;
}

const flightsOf = new WeakMap<ISessionStore, Map<string, IFlight>>();
const queueOf = new WeakMap<ISessionStore, Promise<unknown>>();

/**
 * Runs a task after all others of the same store object, and under its lock. The
 * signal ends the waiting, not a task that has started.
 */
export async function underLock<T>(
  store: ISessionStore,
  task: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  let hasStarted = false;
  const start = async () => {
    signal?.throwIfAborted();
    hasStarted = true;
    return await task();
  };
  // Also before a lock, which need not be given in the order of the calls.
  const result = (queueOf.get(store) ?? Promise.resolve())
    .then(() => store.lock ? store.lock(start, signal) : start());
  queueOf.set(store, result.catch(() => {}));
  try {
    return await underSignal(signal, () => result);
  } catch (error) {
    if (hasStarted) return await result;
    throw error;
  }
}

/**
 * Runs a task, or joins the one that is running for the same key. A caller whose
 * signal aborts leaves the task; when the last one has left, the signal of the task
 * aborts, and the next call starts a task of its own.
 */
export async function share<T>(
  store: ISessionStore,
  key: string,
  signal: AbortSignal | undefined,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const flights = flightsOf.get(store) ?? new Map<string, IFlight>();
  flightsOf.set(store, flights);
  const flight = flights.get(key) ?? start(task);
  if (!flights.has(key)) {
    flights.set(key, flight);
    const end = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    flight.result.then(end, end);
  }
  flight.callers++;
  try {
    return await underSignal(signal, () => flight.result as Promise<T>);
  } finally {
    if (--flight.callers === 0 && flights.get(key) === flight) {
      flights.delete(key);
      flight.controller.abort(signal?.reason);
    }
  }
}

/** Aborts the signals of all tasks of a store; later calls start tasks of their own. */
export function endTasks(store: ISessionStore, reason: unknown): void {
  const flights = flightsOf.get(store);
  for (const { controller } of flights?.values() ?? []) {
    controller.abort(reason);
  }
  flights?.clear();
}

function start<T>(task: (signal: AbortSignal) => Promise<T>): IFlight {
  const controller = new AbortController();
  return { result: task(controller.signal), controller, callers: 0 };
}
