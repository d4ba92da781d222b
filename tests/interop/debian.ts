/** Packages of Debian: installed by apt-get where that is possible, and kept. */
import { run } from "../../scripts/support/process.ts";

/** Asked by packages whether their services may start. */
const POLICY = "/usr/sbin/policy-rc.d";

/** The result of a program; none where there is no such program. */
async function tried(program: string, args: readonly string[], seconds = 60) {
  try {
    return await run(program, args, { cwd: "/tmp", seconds });
  } catch {
    return undefined;
  }
}

/** Returns the upstream version of a package; undefined if it is not installed. */
export async function versionOfDebian(
  name: string,
): Promise<string | undefined> {
  const format = "-f=${db:Status-Status} ${Version}";
  const { code, stdout = "" } =
    await tried("dpkg-query", ["-W", format, name]) ?? {};
  const version = /^installed (?:\d+:)?([^-+~]+)/.exec(stdout)?.[1];
  return code === 0 ? version : undefined;
}

/** Runs an operation while no package may start a service. */
async function withoutServices<T>(operation: () => Promise<T>): Promise<T> {
  const options = { mode: 0o755, createNew: true };
  try {
    await Deno.writeTextFile(POLICY, "#!/bin/sh\nexit 101\n", options);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    return await operation();
  }
  return await operation().finally(() => Deno.remove(POLICY));
}

/** Installs packages; returns why that cannot be done, or undefined. */
export async function installDebian(
  names: readonly string[],
): Promise<string | undefined> {
  const versions = await Promise.all(names.map(versionOfDebian));
  const absent = names.filter((_, i) => versions[i] === undefined);
  if (absent.length === 0) return undefined;
  const words = `needs ${absent.join(", ")} of Debian`;
  const isRoot = Deno.build.os === "linux" && Deno.uid() === 0;
  if (!isRoot || !await tried("apt-get", ["--version"])) return words;
  const install = () =>
    tried("env", [
      "DEBIAN_FRONTEND=noninteractive",
      ...["apt-get", "install", "-q", "-y", "--no-remove"],
      ...["--no-install-recommends", "-o", "DPkg::Lock::Timeout=60"],
      ...absent,
    ], 300);
  let result = await withoutServices(install);
  if (result?.code !== 0) {
    await tried("apt-get", ["update", "-q"], 120);
    result = await withoutServices(install);
  }
  if (result?.code === 0) return undefined;
  return `${words}: ${result?.stderr.trim().split("\n").at(-1)}`;
}
