/** The recipe for a key in the keychain of Linux, with a real Secret Service. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { bundle } from "../support/bundle.ts";
import { hasProgram } from "../support/has_program.ts";
import { SESSION } from "../support/resource.ts";
import { findNode } from "./_node.ts";

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
  async fn() {
    const directory = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${directory}/recipe.ts`, await readRecipe());
      const bundled = `${directory}/recipe.mjs`;
      await bundle(`${directory}/recipe.ts`, bundled);
      const deno = [Deno.execPath(), "run", "--no-config", "--no-prompt"];
      const permissions = [
        `--allow-read=${directory}`,
        `--allow-write=${directory}`,
        "--allow-run=secret-tool",
        "--allow-env",
      ];
      const programs = [
        [...deno, ...permissions, bundled],
        [await findNode(), bundled],
      ];
      const run = async (prefix: string[], args: string[]) => {
        const [command = "", ...rest] = [...prefix, ...args];
        const { stdout, stderr, success } = await new Deno.Command(command, {
          args: rest,
          cwd: directory,
          env: {
            HOME: directory,
            XDG_RUNTIME_DIR: directory,
            XDG_DATA_HOME: directory,
            DBUS_SESSION_BUS_ADDRESS: "",
            DISPLAY: "",
          },
        }).output();
        const decoder = new TextDecoder();
        return {
          success,
          output: decoder.decode(stdout),
          errors: decoder.decode(stderr),
        };
      };
      const inKeyring = ["dbus-run-session", ...IN_KEYRING];
      const token = `${SESSION.token.access_token}\n`;
      for (const saving of programs) {
        const saved = await run(inKeyring, [...saving, "save"]);
        assertEquals(saved.output, token, saved.errors);
        const content = await Deno.readTextFile(`${directory}/session.json`);
        assertMatch(content, /^oauth-helper session A256GCM\n/);
        // Each time a new daemon, which reads the keyring from its file.
        for (const loading of programs) {
          const loaded = await run(inKeyring, loading);
          assertEquals(loaded.output, token, loaded.errors);
        }
        // Without a keyring, no other key is created, and nothing is replaced.
        const { success, errors } = await run([], [...saving, "save"]);
        assertEquals(success, false);
        assertMatch(errors, /No key for session\.json in the keyring/);
        assertEquals(
          await Deno.readTextFile(`${directory}/session.json`),
          content,
        );
      }
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});
