import { lstat, readFile, readlink, stat } from "node:fs/promises";
import process from "node:process";
import { isMembers } from "../core/_members.ts";
import { isMissing } from "./_file_system.ts";

/** The process that a lock file describes. */
export interface LockHolder {
  readonly pid: number;
  /** Where the pid is valid; undefined if unknown. */
  readonly place?: string | undefined;
  /** Start time in clock ticks; differs for another process with the same pid. */
  readonly started?: string | undefined;
}

interface Permissions {
  query(descriptor: object): Promise<{ readonly state: string }>;
}

/**
 * Checks whether Deno can read `/proc` without a prompt. If files may be read, but not
 * all permissions are granted, reading only fails.
 */
async function canReadProcesses(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const { Deno } = globalThis as { Deno?: { permissions?: Permissions } };
  if (!Deno?.permissions) return true;
  const read = { name: "read", path: "/proc" };
  return (await Deno.permissions.query(read)).state === "granted";
}

async function statOf(pid: number | "self") {
  const text = await readFile(`/proc/${pid}/stat`, "latin1");
  // The program's name, in parentheses, may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return {
    pid: parseInt(text),
    state: fields[0],
    threads: Number(fields[17]),
    started: fields[19],
  };
}

/**
 * Returns this process. Its place combines the boot, after which pids restart, and the
 * pid and time namespaces: containers may share a host name.
 */
export async function thisProcess(): Promise<LockHolder> {
  const { pid } = process;
  try {
    if (!await canReadProcesses()) return { pid };
    const self = await statOf("self");
    // A container may show the host's processes, with other pids.
    if (self.pid !== pid) return { pid };
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "latin1");
    const pids = await readlink("/proc/self/ns/pid");
    // Start times are relative to this namespace; Linux before 5.6 lacks it.
    const time = await readlink("/proc/self/ns/time").catch(() => "");
    const place = [boot.trim(), pids, time].join(" ");
    return { pid, place, started: self.started };
  } catch {
    return { pid }; // The file is missing or unreadable.
  }
}

export async function readHolder(
  path: string,
): Promise<LockHolder | undefined> {
  try {
    const holder: unknown = JSON.parse(await readFile(path, "utf8"));
    // JSON's 1e999 is Infinity.
    return isMembers(holder) && Number.isSafeInteger(holder.pid)
      ? holder as unknown as LockHolder
      : undefined;
  } catch {
    return undefined; // The holder has just created or removed it.
  }
}

/** Checks whether two processes have pids of different kinds. */
export function areApart(one: LockHolder, other: LockHolder): boolean {
  return one.place !== undefined && other.place !== undefined &&
    one.place !== other.place;
}

/**
 * Checks whether the process in a lock's file is known to have died. A virtual
 * machine's running copy looks the same.
 */
export async function hasHolderDied(
  path: string,
  self: LockHolder,
): Promise<boolean> {
  const { place } = self;
  const holder = await readHolder(path);
  if (place === undefined || holder?.place !== place) return false;
  try {
    // Other users' processes can be hidden (`hidepid`).
    const { uid } = await stat("/proc/self");
    if ((await lstat(path)).uid !== uid) return false;
  } catch {
    return false;
  }
  try {
    const { state, threads, started } = await statOf(holder.pid);
    // A zombie's running threads may still write a file.
    const hasEnded = state === "Z" && threads <= 1;
    return hasEnded || started !== holder.started;
  } catch (error) {
    return isMissing(error);
  }
}
