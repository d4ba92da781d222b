/** A file store that reads its file only after a change. */

import { assert, assertEquals } from "@std/assert";
import type { Session } from "../../mod.ts";
import { fileStore } from "../../lib/native/mod.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { test } from "./_files.ts";

/** Waits until files get another time of status change, which Deno gives in seconds. */
async function nextSecond(directory: string): Promise<void> {
  const file = await Deno.makeTempFile({ dir: directory });
  const changed = async () => {
    await Deno.writeTextFile(file, "");
    return (await Deno.stat(file)).ctime?.getTime();
  };
  const begin = await changed();
  await until(LIMIT_MS, async () => await changed() !== begin);
  await Deno.remove(file);
}

const sessionOf = (access_token: string): Session => ({
  ...SESSION,
  token: { access_token, token_type: "Bearer" },
});

const tokenIn = async (store: ReturnType<typeof fileStore>) =>
  (await store.load())?.token?.access_token;

async function storeAt(path: string) {
  const store = fileStore(path);
  await store.save(sessionOf("t1"));
  return store;
}

/** Writes into a file, and leaves its size and time as they are. */
async function overwrite(path: string, token: string): Promise<void> {
  const { mtime, size } = await Deno.stat(path);
  const content = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, content.replace(/\bt\d\b/, token));
  await Deno.utime(path, mtime!, mtime!);
  assertEquals((await Deno.stat(path)).size, size);
}

/** Ways to replace the session with the token `t1` by one with `t2`. */
const CHANGES: Record<string, (path: string) => Promise<unknown>> = {
  "is saved by another store object": (path) =>
    fileStore(path).save(sessionOf("t2")),
  "is overwritten, with its size and time kept": (path) =>
    overwrite(path, "t2"),
  "is replaced by an older one of the same size and time": async (path) => {
    const { mtime } = await Deno.stat(path);
    await fileStore(`${path}.other`).save(sessionOf("t2"));
    await Deno.utime(`${path}.other`, mtime!, mtime!);
    await Deno.rename(`${path}.other`, path);
  },
};

/** Makes files look as if they had last been changed some seconds ago. */
function lookLater(): Disposable {
  const { now } = Date;
  Date.now = () => now() + 5_000;
  return { [Symbol.dispose]: () => void (Date.now = now) };
}

for (const isLater of [false, true]) {
  const since = isLater ? "long after" : "just after";
  test(
    `loads a session that has changed ${since} the last load`,
    async (_path, directory) => {
      using _clock = isLater ? lookLater() : undefined;
      await Promise.all(
        Object.entries(CHANGES).map(async ([name, change], index) => {
          const path = `${directory}/${index}.json`;
          const store = await storeAt(path);
          for (let load = 0; load < 2; load++) {
            assertEquals(await tokenIn(store), "t1", name);
          }
          if (isLater) await nextSecond(directory);
          await change(path);
          assertEquals(await tokenIn(store), "t2", name);
          await Deno.remove(path);
          assertEquals(await store.load(), undefined, name);
        }),
      );
    },
  );
}

test(
  "reads the file under its lock, whatever its times are",
  async (_path, directory) => {
    using _clock = lookLater();
    const changedAt = (path: string) => Number(Deno.statSync(path).ctime);
    for (let isSeen = true, round = 0; isSeen; round++) {
      const path = `${directory}/${round}.json`;
      const store = await storeAt(path);
      assertEquals(await tokenIn(store), "t1");
      const before = changedAt(path);
      await overwrite(path, "t2");
      isSeen = before !== changedAt(path);
      if (isSeen) continue;
      // As on a network file system that does not report the change.
      assertEquals(await tokenIn(store), "t1");
      assertEquals(await store.lock?.(() => tokenIn(store)), "t2");
    }
  },
);

function countDecryptions(): Disposable & { count: number } {
  const { decrypt } = crypto.subtle;
  const counter = {
    count: 0,
    [Symbol.dispose]: () => void (crypto.subtle.decrypt = decrypt),
  };
  crypto.subtle.decrypt = (...args) => {
    counter.count++;
    return decrypt.apply(crypto.subtle, args);
  };
  return counter;
}

const bytesRead = () =>
  Number(/^rchar: (\d+)/.exec(Deno.readTextFileSync("/proc/self/io"))?.[1]);

for (const key of [undefined, new Uint8Array(32)]) {
  const how = key ? "with" : "without";
  // Where the number of bytes that a process has read can be had.
  const ignore = Deno.build.os !== "linux";
  test(
    `${how} a key does not read a file that has not changed`,
    async (path) => {
      using _clock = lookLater();
      using decryptions = countDecryptions();
      const store = fileStore(path, key && { key });
      // Large: the counter is that of the process, in which other tests read as well.
      const large = sessionOf("t".repeat(2 ** 20));
      await store.save(large);
      await store.load();
      const before = bytesRead();
      for (let load = 0; load < 100; load++) {
        assertEquals(await store.load(), large);
      }
      assert(bytesRead() - before < 50 * (await Deno.stat(path)).size);
      await fileStore(path, key && { key }).save(sessionOf("t2"));
      assertEquals(await tokenIn(store), "t2");
      // Under the lock it is read, and decrypted, each time.
      await store.lock?.(() => store.load());
      assertEquals(decryptions.count, key ? 3 : 0);
    },
    ignore,
  );
}

test("loads a session of its own each time, as callers may change it", async (path) => {
  using _clock = lookLater();
  const store = await storeAt(path);
  const first = await store.load();
  first!.token!.access_token = "changed";
  assertEquals(await tokenIn(store), "t1");
});
