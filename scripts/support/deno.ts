/**
 * What the scripts share: running Deno itself, and knowing whether the JSR
 * packages of `deno.json` can be loaded on this machine.
 */

/** The root of the project. */
export const root = new URL("../..", import.meta.url);

/** Runs `deno` with these arguments in the project's root; the exit code. */
export async function deno(...args: string[]): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), { args, cwd: root }).spawn();
  return (await child.status).code;
}

async function canLoad(specifier: string, signal: AbortSignal) {
  try {
    const { success, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--no-config", specifier],
      signal,
      stderr: "null",
    }).output();
    const graph = JSON.parse(new TextDecoder().decode(stdout));
    return success &&
      graph.modules.every((module: { error?: string }) => !module.error);
  } catch {
    return false;
  }
}

/**
 * The arguments that make the tests' imports resolvable here: none where JSR
 * answers within five seconds, the npm-only import map where it does not. Says
 * in one line which it is.
 */
export async function importMapArgs(): Promise<string[]> {
  const signal = AbortSignal.timeout(5_000);
  const answers = await Promise.all([
    "jsr:@std/assert@^1",
    "jsr:@std/encoding@^1/base64url",
    "jsr:@std/testing@^1/mock",
  ].map((specifier) => canLoad(specifier, signal)));
  const jsr = answers.every(Boolean);
  console.log(
    jsr
      ? "Test packages: from JSR, as deno.json names them."
      : "Test packages: JSR does not answer, so they come from npm (scripts/npm_only/import_map.json).",
  );
  return jsr ? [] : ["--import-map", "scripts/npm_only/import_map.json"];
}
