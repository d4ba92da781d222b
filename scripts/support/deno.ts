/**
 * Helpers that several scripts share: running Deno, and finding out whether the
 * JSR packages of `deno.json` can be loaded on this machine.
 */

export const root = new URL("../..", import.meta.url);

/** Runs `deno` with these arguments in the project's root; returns its exit code. */
export async function deno(...args: string[]): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), { args, cwd: root }).spawn();
  return (await child.status).code;
}

/** Runs `deno` like {@linkcode deno}; returns what it printed instead of printing it. */
export async function denoOutput(
  ...args: string[]
): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
  }).output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
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
 * Returns the arguments with which Deno can resolve the imports of the tests:
 * none if JSR responds within five seconds, otherwise the import map for npm.
 * Prints one line that says which, the first time.
 */
export function importMapArgs(): Promise<string[]> {
  return mapArgs ??= findMapArgs();
}

let mapArgs: Promise<string[]> | undefined;

async function findMapArgs(): Promise<string[]> {
  const signal = AbortSignal.timeout(5_000);
  const loaded = await Promise.all([
    "jsr:@std/assert@^1",
    "jsr:@std/testing@^1/mock",
  ].map((specifier) => canLoad(specifier, signal)));
  const jsr = loaded.every(Boolean);
  console.log(
    jsr
      ? "Test packages: from JSR, as in deno.json."
      : "Test packages: JSR does not respond, using npm (scripts/npm_only/import_map.json).",
  );
  return jsr ? [] : ["--import-map", "scripts/npm_only/import_map.json"];
}
