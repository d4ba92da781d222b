/** A file store where the file system fails, or where the program changes its state. */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { fileStore } from "../../lib/native/mod.ts";
import { outputOf } from "../../scripts/support/process.ts";
import { bundle } from "../support/bundle.ts";
import { bundledPrograms } from "../support/bundled_programs.ts";
import { SESSION } from "../support/resource.ts";
import { test } from "./_files.ts";

const source = new URL("_lock_program.ts", import.meta.url);
const worker = new URL("_worker.ts", import.meta.url).pathname;

/** A shell that runs a command which cannot write to files, as on a full disk. */
const ON_FULL_DISK = ["sh", "-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh"];

/** Runs a command in a directory; returns what it prints before its pid. */
async function run(cwd: string, [program = "", ...args]: string[]) {
  return (await outputOf(program, args, { cwd })).replace(/ \d+\n$/, "");
}

const namesIn = (directory: string) =>
  [...Deno.readDirSync(directory)].map(({ name }) => name);

/** Checks that the lock of a file is free: it is not waited for. */
async function assertFree(path: string): Promise<void> {
  const start = performance.now();
  assertEquals(await fileStore(path).lock?.(() => Promise.resolve(1)), 1);
  const waited = performance.now() - start;
  assert(waited < 5_000, `${waited} ms`);
}

test(
  "leaves no lock behind that it could not acquire",
  async (_path, directory) => {
    const programs = await bundledPrograms(source, directory);
    for (const command of Object.values(programs)) {
      const path = `${directory}/${command.length}.json`;
      const onFullDisk = [...ON_FULL_DISK, ...command, path, "60000"];
      assertEquals(await run(directory, onFullDisk), "EFBIG");
      // Neither the file of the lock, nor the one that would have become it.
      assertEquals(namesIn(`${path}.lock`), []);
      await assertFree(path);
    }
  },
  Deno.build.os === "windows",
);

test("acquires its lock although a former file of it cannot be removed", async (path) => {
  await assertFree(path);
  const former = `${path}.lock/1`;
  const { atime, mtime } = await Deno.stat(former);
  assert(atime && mtime);
  await Deno.remove(former);
  await Deno.mkdir(former);
  await Deno.utime(former, atime, mtime);
  for (let round = 0; round < 2; round++) await assertFree(path);
});

test(
  "keeps to the working directory in which it was created",
  async (_path, directory) => {
    await Deno.mkdir(`${directory}/other`);
    const programs = await bundledPrograms(source, directory);
    for (const command of Object.values(programs)) {
      const toOther = [...command, "session.json", "60000", "other"];
      assertEquals(await run(directory, toOther), "locked");
      assertEquals(namesIn(`${directory}/other`), []);
      await Deno.remove(`${directory}/session.json.lock`, { recursive: true });
    }
  },
);

// Only root can give a file to another user.
test(
  "saves although a crashed process of another user has left its directory",
  async (path, directory) => {
    const program = `${directory}/program.mjs`;
    await bundle(worker, program);
    await fileStore(path).save({ ...SESSION, scopes: ["0"] });
    const left = `${path}.${crypto.randomUUID()}.tmp`;
    await Deno.mkdir(left, { mode: 0o700 });
    await Deno.writeTextFile(`${left}/session`, "");
    for (const own of [directory, path, program]) await Deno.chown(own, 1, 1);
    const child = new Deno.Command("node", {
      args: [program, "file", path, "http://127.0.0.1/"],
      uid: 1,
      gid: 1,
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode("count 2\n"));
    await writer.close();
    const { stdout } = await child.output();
    assertEquals(new TextDecoder().decode(stdout), "ready\ncounted\n");
    assertEquals((await fileStore(path).load())?.scopes, ["2"]);
  },
  Deno.build.os !== "linux" || process.getuid?.() !== 0,
);
