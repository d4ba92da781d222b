/** Checks whether a program is on the path. */
export function hasProgram(name: string): boolean {
  const separator = Deno.build.os === "windows" ? ";" : ":";
  return (Deno.env.get("PATH") ?? "").split(separator).some((directory) => {
    try {
      return Deno.statSync(`${directory}/${name}`).isFile;
    } catch {
      return false;
    }
  });
}
