/** `keychainKey()` on Linux, with a real Secret Service. */

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

/** The same, in which nobody unlocks the keyring. */
const LOCKED = [
  "--",
  "sh",
  "-c",
  "gnome-keyring-daemon --start --components=secrets >/dev/null && " +
  '"$@"',
  "sh",
];

const PROGRAM = `import process from "node:process";
import { fileStore, keychainKey } from "${module.href}";

const store = fileStore("session.json", { key: keychainKey("my program") });
const session = ${JSON.stringify(SESSION)};
if (process.argv[2] === "save") await store.save(session);
console.log((await store.load())?.token.access_token);
`;

Deno.test({
  name:
    "keychainKey() keeps one key in the Secret Service, which Deno and Node use",
  ignore: isMissing,
  fn: () =>
    inDirectory(async (home) => {
      const program = new URL(`file://${home}/program.ts`);
      await Deno.writeTextFile(program, PROGRAM);
      const programs = Object.values(
        await bundledPrograms(program, home, [
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
        // In a locked keyring, a lookup finds nothing: that must not replace the key.
        const locked = await run(
          ["dbus-run-session", ...LOCKED, ...saving],
          ["save"],
        );
        assertMatch(locked.errors, /the keyring is locked/);
        // Without a keyring, no other key is created, and nothing is replaced.
        const { code, errors } = await run(saving, ["save"]);
        assert(code !== 0);
        assertMatch(
          errors,
          /cannot be read from the keychain: .*unlock the keyring/,
        );
        assertEquals(await Deno.readTextFile(`${home}/session.json`), content);
      }
    }),
});
