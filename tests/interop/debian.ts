/** Packages of Debian: installed by apt-get where that is possible, and kept. */
import { run } from "../../scripts/support/process.ts";

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

/** Installs packages; returns why that cannot be done, or undefined. */
export async function installDebian(
  names: readonly string[],
): Promise<string | undefined> {
  const versions = await Promise.all(names.map(versionOfDebian));
  const absent = names.filter((_, i) => versions[i] === undefined);
  if (absent.length === 0) return undefined;
  const words = `needs ${absent.join(", ")} of Debian`;
  if (Deno.build.os !== "linux" || Deno.uid() !== 0) return words;
  const args = ["install", "-y", "-q", "--no-install-recommends", ...absent];
  // Services of the packages are not wanted: the runlevel of a rescue has none.
  const install = () =>
    tried("env", [
      "DEBIAN_FRONTEND=noninteractive",
      "RUNLEVEL=1",
      "apt-get",
      ...args,
    ], 300);
  if ((await install())?.code === 0) return undefined;
  await tried("apt-get", ["update", "-q"], 120);
  const last = await install();
  if (last?.code === 0) return undefined;
  const reason = last?.stderr.trim().split("\n").at(-1);
  return reason ? `${words}: ${reason}` : words;
}
