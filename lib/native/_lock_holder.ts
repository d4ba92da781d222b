/** Which process holds a lock, and whether it has died. */

import { lstat, readFile, readlink, stat } from "node:fs/promises";
import process from "node:process";
import { isMembers } from "../core/_members.ts";
import { isMissing } from "./_file_system.ts";

/** A process, as described in the file of its lock. */
export interface LockHolder {
  readonly pid: number;
  /** Where the pid is valid; undefined if that cannot be known. */
  readonly place?: string | undefined;
  /**
   * When the process was started, in clock ticks; differs for another process with the
   * same pid.
   */
  readonly started?: string | undefined;
}

interface Permissions {
  query(descriptor: object): Promise<{ readonly state: string }>;
}

/**
 * Checks whether reading `/proc` prompts the user for no permission in Deno. If files may
 * be read, but not all permissions are granted, reading only fails.
 */
async function canReadProcesses(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const { Deno } = globalThis as { Deno?: { permissions?: Permissions } };
  if (!Deno?.permissions) return true;
  const read = { name: "read", path: "/proc" };
  return (await Deno.permissions.query(read)).state === "granted";
}

/** Returns the entry of a process in `/proc` (proc_pid_stat(5)). */
async function statOf(pid: number | "self") {
  const text = await readFile(`/proc/${pid}/stat`, "latin1");
  // The name of the program, in parentheses, may have spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    pid: parseInt(text),
    state: fields[0],
    threads: Number(fields[17]),
    started: fields[19],
  };
}

/**
 * Returns this process. Its place consists of the boot of the machine, after which pids
 * start again, and the pid and time namespaces: a container has its own, and may have
 * the same host name.
 */
export async function thisProcess(): Promise<LockHolder> {
  const { pid } = process;
  try {
    if (!await canReadProcesses()) return { pid };
    const self = await statOf("self");
    // In a container, it may show the processes of the host, with other pids.
    if (self.pid !== pid) return { pid };
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "latin1");
    const pids = await readlink("/proc/self/ns/pid");
    // Start times are relative to this namespace; Linux before 5.6 has none.
    const time = await readlink("/proc/self/ns/time").catch(() => "");
    const place = [boot.trim(), pids, time].join(" ");
    return { pid, place, started: self.started };
  } catch {
    return { pid }; // There is no such file, or no permission to read it.
  }
}

/** Returns the process in the file of a lock, if any. */
export async function readHolder(
  path: string,
): Promise<LockHolder | undefined> {
  try {
    const holder: unknown = JSON.parse(await readFile(path, "utf8"));
    // The number 1e999 of JSON is Infinity.
    return isMembers(holder) && Number.isSafeInteger(holder.pid)
      ? holder as unknown as LockHolder
      : undefined;
  } catch {
    return undefined; // The holder has just created or removed it.
  }
}

/** Checks whether two processes are known to have pids of different kinds. */
export function areApart(one: LockHolder, other: LockHolder): boolean {
  return one.place !== undefined && other.place !== undefined &&
    one.place !== other.place;
}

/**
 * Checks whether the process in the file of a lock is known to have died. A copy of a
 * virtual machine that runs at the same time cannot be told from it.
 */
export async function hasHolderDied(
  path: string,
  self: LockHolder,
): Promise<boolean> {
  const { place } = self;
  const holder = await readHolder(path);
  if (place === undefined || holder?.place !== place) return false;
  try {
    // The processes of other users can be hidden (`hidepid`), as if they had ended.
    const { uid } = await stat("/proc/self");
    if ((await lstat(path)).uid !== uid) return false;
  } catch {
    return false;
  }
  try {
    const { state, threads, started } = await statOf(holder.pid);
    // A zombie has ended, unless it has running threads: one may write a file.
    const hasEnded = state === "Z" && threads <= 1;
    return hasEnded || started !== holder.started;
  } catch (error) {
    return isMissing(error);
  }
}
