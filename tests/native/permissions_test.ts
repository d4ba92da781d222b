/** The loopback receiver runs in Deno with the permissions that the pages name, without a prompt. */

import { assert, assertEquals } from "@std/assert";
import { eachRowInTurn } from "../support/each_row.ts";
import { inDirectory } from "../support/in_directory.ts";
import { pageAt, sectionOf } from "../support/markdown.ts";
import { LIMIT_MS, until } from "../support/within.ts";

const PROGRAM = new URL("_permitted_program.ts", import.meta.url).pathname;
const URL_SHOWN = "https://as.example/authorize";

const flagsOf = (text: string) =>
  [...text.matchAll(/`(-N|--allow-[^`]*)`/g)].map(([, flag = ""]) => flag);

/** Signs in with some permissions; the browser is opened with a URL, or not at all. */
async function signIn(
  directory: string,
  flags: readonly string[],
  expected: string | undefined,
) {
  const opened = `${directory}/url`;
  const given = () => Deno.readTextFile(opened).catch(() => undefined);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-config",
      ...flags,
      PROGRAM,
    ],
    cwd: directory,
    env: { PATH: `${directory}:${Deno.env.get("PATH")}`, NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(LIMIT_MS),
  }).spawn();
  const errors = new Response(child.stderr).text();
  const [lines, copy] = child.stdout.tee();
  const output = new Response(copy).text();
  let text = "";
  for await (const part of lines.pipeThrough(new TextDecoderStream())) {
    const isFirst = !text.includes("\n");
    text += part;
    const [redirectUri, end] = text.split("\n");
    if (!isFirst || end === undefined) continue;
    if (expected) await until(LIMIT_MS, async () => await given() === expected);
    await (await fetch(`${redirectUri}?code=c&state=s1`)).text();
  }
  const { code } = await child.status;
  assertEquals(
    [code, (await output).split("\n")[1]],
    [0, "?code=c&state=s1"],
    await errors,
  );
  assert(
    (await errors).includes(`open this URL:\n${URL_SHOWN}\n`),
    await errors,
  );
  assertEquals(await given(), expected);
  await Deno.remove(opened).catch(() => {});
}

Deno.test({
  name:
    "createLoopbackReceiver() opens the browser with the permissions that runtimes.md names, and signs in with fewer",
  ignore: Deno.build.os !== "linux",
  fn: () =>
    inDirectory(async (directory) => {
      const section = sectionOf(pageAt("runtimes.md"), "## Deno permissions");
      const [of = "", receiver = ""] = section.split("To open the browser,");
      const [net = ""] = flagsOf(of);
      const [run = "", env = ""] = flagsOf(receiver);
      assertEquals([net, run, env], [
        "-N",
        "--allow-run=xdg-open,open",
        "--allow-env",
      ]);
      const problem = pageAt("sign-in-problems.md");
      assert(problem.includes(`the program needs \`${run}\` and \`${env}\``));
      const command = `${directory}/xdg-open`;
      const script = `#!/bin/sh\nprintf %s "$1" > ${directory}/url\n`;
      await Deno.writeTextFile(command, script, { mode: 0o700 });
      const rows: [flags: string[], given: string | undefined][] = [
        [[net, run, env], URL_SHOWN],
        // As the docstring says.
        [["--allow-net=127.0.0.1", run, env], URL_SHOWN],
        [[net, run], undefined],
        [[net, env], undefined],
        [[net], undefined],
      ];
      await eachRowInTurn(rows, async ([flags, given]) => {
        await signIn(directory, flags, given);
      });
    }),
});
