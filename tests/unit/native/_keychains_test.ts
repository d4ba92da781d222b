/** The commands of each platform's keychain, with stand-ins for the commands. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { keychainKey } from "../../../lib/native/mod.ts";
import {
  type Command,
  type Ending,
  keyFromHex,
  readKeychain,
} from "../../../lib/native/_keychains.ts";
import {
  assertThrowsCode,
  pinRejected,
  pinThrown,
} from "../../support/fixtures.ts";

const ITEM = { service: "my program", account: "session" };
const KEY = "0a".repeat(32);
const ok = (output = ""): Ending => ({ status: 0, output, errors: "" });
const failed = (status: number, errors = ""): Ending => ({
  ...{ status, output: "", errors },
});

/** Reads the key on a platform whose commands end so, in this order. */
async function read(platform: string, endings: (Ending | Error)[]) {
  const commands: Command[] = [];
  const run = (command: Command) => {
    commands.push(command);
    const ending = endings[commands.length - 1] ??
      new Error(`Unexpected: ${command.args.join(" ")}`);
    return ending instanceof Error
      ? Promise.reject(ending)
      : Promise.resolve(ending);
  };
  const env = { SystemRoot: "D:\\Windows" };
  const key = await readKeychain(ITEM, { run, platform, env })
    .catch((error) => error);
  return { key, commands };
}

const lines = (commands: Command[]) =>
  commands.map(({ program, args }) => [program, ...args].join(" "));

Deno.test("keychainKey() returns the key that is there, on each platform", async () => {
  const rows = [
    ["linux", `${KEY}`],
    ["freebsd", `${KEY}\n`],
    ["darwin", `${KEY}\n`],
    ["win32", KEY],
  ] as const;
  for (const [platform, output] of rows) {
    const { key, commands } = await read(platform, [ok(output)]);
    assertEquals([platform, key, commands.length], [platform, KEY, 1]);
  }
});

Deno.test("keychainKey() shows no control characters of a command", async () => {
  const errors = "no\x1b]0;title\x07 \u202edbus\nsecond line";
  const { key } = await read("linux", [failed(1, errors)]);
  assertMatch(String(key), /no\]0;title dbus/);
});

Deno.test("keychainKey() creates a key once, which no argument contains", async () => {
  const attributes = "service my program account session";
  const item = "-s my program -a session";
  const linux = await read("linux", [failed(1), ok(), ok(), ok(KEY)]);
  assertEquals([linux.key, ...lines(linux.commands)], [
    KEY,
    `secret-tool lookup ${attributes}`,
    `secret-tool search --all ${attributes}`,
    `secret-tool store --label=my program ${attributes}`,
    `secret-tool lookup ${attributes}`,
  ]);
  assertMatch(linux.commands[2]!.input!, /^[0-9a-f]{64}$/);

  const macOs = await read("darwin", [failed(44), ok(), ok(KEY)]);
  assertEquals([macOs.key, ...lines(macOs.commands)], [
    KEY,
    `security find-generic-password ${item} -w`,
    "security -i",
    `security find-generic-password ${item} -w`,
  ]);
  assertMatch(
    macOs.commands[1]!.input!,
    /^add-generic-password -s "my program" -a "session" -w [0-9a-f]{64}\n$/,
  );

  const { commands: [command] } = await read("win32", [ok(KEY)]);
  const { program, args, env } = command!;
  assertEquals(
    program,
    "D:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe",
  );
  assertEquals(args.includes("my program"), false);
  assertEquals(env, {
    OAUTH_HELPER_SERVICE: "my program",
    OAUTH_HELPER_ACCOUNT: "session",
  });
  const encoded = Uint8Array.from(atob(args.at(-1)!), (c) => c.charCodeAt(0));
  const script = new TextDecoder("utf-16le").decode(encoded);
  assert(script.startsWith("$ErrorActionPreference = "));
  assert(script.includes("PasswordVault") && !script.includes("my program"));
});

Deno.test("keychainKey() returns the key of another process that was faster", async () => {
  const other = "0b".repeat(32);
  const linux = await read("linux", [failed(1), ok(), ok(), ok(other)]);
  const duplicate = failed(45, "The specified item already exists");
  const macOs = await read("darwin", [failed(44), duplicate, ok(other)]);
  assertEquals([linux.key, macOs.key], [other, other]);
});

Deno.test("keychainKey() says what to install or to do, and creates nothing where the keychain is locked", async () => {
  const missing = new Error("spawn ENOENT");
  const rows: [string, ...(Ending | Error)[]][] = [
    ["linux", missing],
    ["darwin", missing],
    ["win32", missing],
    ["linux", failed(1, "No D-Bus\n")],
    ["linux", failed(1), ok("[/1]")],
    ["linux", failed(1), ok(), failed(1, "Locked")],
    ["darwin", failed(51, "User interaction is not allowed")],
    ["darwin", failed(36)],
    ["win32", failed(1, "Access denied")],
    ["win32", ok()],
  ];
  for (const [platform, ...endings] of rows) {
    const { key, commands } = await read(platform, endings);
    await pinRejected(() => Promise.reject(key), "unsupported");
    assertEquals(commands.length, endings.length);
  }
});

Deno.test("keychainKey() rejects an item that is no key, without its content", () => {
  assertEquals(keyFromHex(KEY, ITEM), new Uint8Array(32).fill(10));
  for (const text of ["", "s3cret", KEY + "0", KEY.slice(1), `${KEY}\n`]) {
    const error = pinThrown(() => keyFromHex(text, ITEM), "unsupported");
    assertEquals(error.message.includes("s3cret"), false);
  }
});

Deno.test("keychainKey() accepts no name that a command would read otherwise", () => {
  const key = () => keychainKey("my program", "session of ann@app.example");
  assertEquals(typeof key(), "function");
  for (const name of ["", 'a"b', "a\\b", "a\nb", 7 as never]) {
    assertThrowsCode(() => keychainKey(name), "invalid_argument");
    assertThrowsCode(() => keychainKey("a", name), "invalid_argument");
  }
});
