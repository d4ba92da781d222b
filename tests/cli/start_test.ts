/** What `token` loads: it runs before each request of a script. */

import { assert, assertEquals } from "@std/assert";

const lib = new URL("../../lib/", import.meta.url);

/** Returns the modules that some modules of lib/ load, before anything is imported later. */
async function loadedBy(...paths: string[]): Promise<string[]> {
  const loaded = new Set<string>();
  for (const path of paths) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--no-config", "--json", new URL(path, lib).pathname],
      stderr: "null",
    }).output();
    const { modules } = JSON.parse(new TextDecoder().decode(stdout));
    const visit = (specifier: string) => {
      if (loaded.has(specifier)) return;
      loaded.add(specifier);
      const module = modules.find((one: { specifier: string }) =>
        one.specifier === specifier
      );
      for (const { code, isDynamic } of module?.dependencies ?? []) {
        if (code && !isDynamic) visit(code.specifier);
      }
    };
    visit(new URL(path, lib).href);
  }
  return [...loaded].map((one) => one.replace(lib.href, ""));
}

Deno.test("token with a valid session loads a few files, and no more of Node than they need", async () => {
  const loaded = await loadedBy("cli/main.ts", "cli/commands/_token.ts");
  assertEquals(
    loaded.filter((one) => one.startsWith("node:")).sort(),
    ["node:fs/promises", "node:path", "node:process", "node:url", "node:util"],
  );
  for (
    const heavy of [
      "fetch/authorized_fetch.ts",
      "native/loopback_receiver.ts",
      "native/_browser.ts",
      "discovery/discover.ts",
      "doctor/diagnose.ts",
      "cli/commands/_help.ts",
    ]
  ) assert(!loaded.includes(heavy), heavy);
  assert(loaded.includes("native/file_store.ts"));
  // Each file takes about a third of a millisecond.
  assert(loaded.length <= 49, `${loaded.length} files`);
});
