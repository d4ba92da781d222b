/** The recipe for a key in the keychain of Linux, with a real Secret Service. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { bundledPrograms } from "../support/bundled_programs.ts";
import { hasProgram } from "../support/has_program.ts";
import { inDirectory } from "../support/in_directory.ts";
import { SESSION } from "../support/resource.ts";
import { type Program, start } from "../support/terminal.ts";

const module = new URL("../../lib/native/mod.ts", import.meta.url);

/** Packages of Debian: libsecret-tools, gnome-keyring and dbus. */
const COMMANDS = ["secret-tool", "gnome-keyring-daemon", "dbus-run-session"];

const isMissing = !COMMANDS.every(hasProgram);

/** A session of D-Bus, in which the keyring is unlocked with a password. */
const IN_KEYRING = [
  "--",
  "sh",
  "-c",
  "printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null && " +
  '"$@"',
  "sh",
];

/** Returns the program of the example in the documentation, and a use of it. */
async function readRecipe(): Promise<string> {
  const lines = (await Deno.readTextFile(module)).split("\n")
    .map((line) => line.replace(/^ \* ?/, ""));
  const start = lines.findIndex((line) => line.startsWith("@example Linux:"));
  const end = lines.indexOf("```", start);
  assert(start >= 0 && end > start);
  return lines.slice(start + 2, end)
    .map((line) => line.replace("@oauth-helper/client/native", module.href))
    .join("\n") + `
const session = ${JSON.stringify(SESSION)};
if (process.argv[2] === "save") await store.save(session);
console.log((await store.load())?.token.access_token);
import process from "node:process";
`;
}

Deno.test({
  name: "The recipe for secret-tool keeps one key, which Deno and Node use",
  ignore: isMissing,
  fn: () =>
    inDirectory(async (home) => {
      const recipe = new URL(`file://${home}/recipe.ts`);
      await Deno.writeTextFile(recipe, await readRecipe());
      const programs = Object.values(
        await bundledPrograms(recipe, home, [
          "--no-prompt",
          `--allow-read=${home}`,
          `--allow-write=${home}`,
          "--allow-run=secret-tool",
          "--allow-env",
        ]),
      );
      const run = (program: Program, args: string[]) =>
        start(["env", "-C", home, ...program], args, {
          home,
          env: {
            XDG_RUNTIME_DIR: home,
            XDG_DATA_HOME: home,
            DBUS_SESSION_BUS_ADDRESS: "",
            DISPLAY: "",
          },
        }).end();
      const inKeyring = (program: Program) =>
        ["dbus-run-session", ...IN_KEYRING, ...program] as const;
      const token = `${SESSION.token.access_token}\n`;
      for (const saving of programs) {
        const saved = await run(inKeyring(saving), ["save"]);
        assertEquals(saved.output, token, saved.errors);
        const content = await Deno.readTextFile(`${home}/session.json`);
        assertMatch(content, /^oauth-helper session A256GCM\n/);
        // Each time a new daemon, which reads the keyring from its file.
        for (const loading of programs) {
          const loaded = await run(inKeyring(loading), []);
          assertEquals(loaded.output, token, loaded.errors);
        }
        // Without a keyring, no other key is created, and nothing is replaced.
        const { code, errors } = await run(saving, ["save"]);
        assert(code !== 0);
        assertMatch(errors, /No key for session\.json in the keyring/);
        assertEquals(await Deno.readTextFile(`${home}/session.json`), content);
      }
    }),
});
