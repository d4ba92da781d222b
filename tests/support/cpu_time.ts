/** Time limits that hold on a busy machine. */

import process from "node:process";

interface Usage {
  readonly user: number;
  readonly system: number;
}

/**
 * Returns the milliseconds of processor time that this thread has used, or the whole
 * process where the runtime counts no threads (Node before 23.9).
 */
export function cpuTimeMs(): number {
  const { threadCpuUsage = process.cpuUsage } = process as {
    threadCpuUsage?: () => Usage;
  };
  const { user, system } = threadCpuUsage.call(process);
  return (user + system) / 1000;
}
