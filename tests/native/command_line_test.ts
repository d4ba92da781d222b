import { assert, assertEquals } from "@std/assert";
import { startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { bundle } from "../support/bundle.ts";
import { findNode } from "./_node.ts";

const example = new URL("../examples/command_line.ts", import.meta.url);

Deno.test("command_line.ts has at most 25 lines", async () => {
  const lines = (await Deno.readTextFile(example)).trimEnd().split("\n");
  assert(lines.length <= 25, `${lines.length} lines`);
});

Deno.test("command_line.ts signs in at the first run only, in Deno and Node", async () => {
  await using servers = await startFlowServers();
  const { resource } = servers.protectedResource;
  const directory = await Deno.makeTempDir();
  const bundled = `${directory}/command_line.mjs`;
  await bundle(example.pathname, bundled);

  /** Runs the program, and signs in where it prints a URL. */
  async function run(program: string, args: string[], home: string) {
    const child = new Deno.Command(program, {
      args: [...args, bundled, resource],
      // Without the command that opens a browser.
      env: { HOME: home, PATH: directory },
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const output = new Response(child.stdout).text();
    let errors = "";
    let signIns = 0;
    for await (
      const chunk of child.stderr.pipeThrough(new TextDecoderStream())
    ) {
      errors += chunk;
      const [, url] = /open this URL:\n(.+)\n/.exec(errors) ?? [];
      if (!url || signIns > 0) continue;
      signIns++;
      const callback = await createBrowser().authorize(new URL(url));
      await (await fetch(callback)).text();
    }
    await child.status;
    return { output: await output, signIns, errors };
  }

  const node = await findNode();
  const deno = ["run", "-A", "--quiet", "--no-config"];
  try {
    const runs = [
      await run(Deno.execPath(), deno, `${directory}/deno`),
      await run(node, [], `${directory}/deno`),
      await run(node, [], `${directory}/node`),
      await run(Deno.execPath(), deno, `${directory}/node`),
    ];
    for (const { output, errors } of runs) {
      assert(output.startsWith("200 "), output + errors);
    }
    assertEquals(runs.map(({ signIns }) => signIns), [1, 0, 1, 0]);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
