/** Returns the path of Node, for a program that is started with another PATH. */
export async function findNode(): Promise<string> {
  const { stdout } = await new Deno.Command("node", {
    args: ["-p", "process.execPath"],
  }).output();
  return new TextDecoder().decode(stdout).trim();
}
