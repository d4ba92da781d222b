/**
 * Processes that share a file refresh once, and the file is read and written by its
 * user only.
 */

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fileStore } from "../../lib/native/mod.ts";
import { SESSION } from "../support/resource.ts";
import { deferred } from "../support/stub_fetch.ts";
import { skipWaits } from "../support/timers.ts";
import { LIMIT_MS, until, within } from "../support/within.ts";
import { assertRejectsCode } from "../support/fixtures.ts";
import { test } from "./_files.ts";
import { holdLong, refreshOnce, surviveCrash } from "./_processes.ts";

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;

test("makes one refresh in eight processes of Deno and Node, ten times", (path) =>
  refreshOnce({ name: "file", location: path, inNode: true }));

test(
  "keeps its lock, and frees that of a killed process within the documented time",
  async (_path, directory) => {
    await Promise.all([
      holdLong({ name: "file", location: `${directory}/1.json` }),
      surviveCrash(
        { name: "file", location: `${directory}/2.json` },
        Deno.build.os === "linux",
      ),
    ]);
  },
);

test(
  "saves, loads and deletes with the modes 0600 and 0700",
  async (_path, directory) => {
    const path = `${directory}/a/b/session.json`;
    const store = fileStore(new URL(`file://${path}`));
    assertEquals(await store.load(), undefined);
    await store.save(SESSION);
    assertEquals(await fileStore(path).load(), SESSION);
    if (Deno.build.os !== "windows") {
      await Deno.chmod(path, 0o644);
      await store.save(SESSION);
      assertEquals(modeOf(path), 0o600);
      assertEquals(modeOf(`${directory}/a/b`), 0o700);
    }
    assertEquals([...Deno.readDirSync(`${directory}/a/b`)].length, 1);
    await store.save(undefined);
    await store.save(undefined);
    assertEquals(await store.load(), undefined);
  },
);

test(
  "reads no file that other users may write, and replaces it",
  async (path) => {
    const store = fileStore(path);
    await store.save(SESSION);
    const load = () => fileStore(path).load();
    for (const mode of [0o600, 0o400, 0o644, 0o755]) {
      await Deno.chmod(path, mode);
      assertEquals(await load(), SESSION);
    }
    for (const mode of [0o620, 0o602, 0o666, 0o777]) {
      await Deno.chmod(path, mode);
      const locked = () => store.lock!(() => store.load());
      for (const call of [load, locked]) {
        const { message } = await assertRejectsCode(call, "invalid_session");
        assertStringIncludes(message, `File ${path} `);
        assertStringIncludes(message, `mode ${mode.toString(8)}`);
      }
      assertEquals(modeOf(path), mode);
    }
    await store.save(SESSION);
    assertEquals(await store.load(), SESSION);
  },
  Deno.build.os === "windows",
);

test("rejects a damaged file, and leaves it as it is", async (path) => {
  for (const content of ["", JSON.stringify(SESSION).slice(0, -9), "{}"]) {
    await Deno.writeTextFile(path, content);
    const error = await assertRejectsCode(
      () => fileStore(path).load(),
      "invalid_session",
    );
    assertStringIncludes(error.message, path);
    assertEquals(error.cause, undefined);
    assertEquals(await Deno.readTextFile(path), content);
  }
});

test(
  "removes what it wrote when it cannot replace the file",
  async (path, directory) => {
    await Deno.mkdir(path);
    await assertRejects(() => fileStore(path).save(SESSION));
    assertEquals([...Deno.readDirSync(directory)].length, 1);
  },
);

test(
  "removes what killed processes left, when it saves and under the lock",
  async (path, directory) => {
    const store = fileStore(path);
    const id = crypto.randomUUID();
    const kept = [
      "session.json.backup.tmp",
      `session.json.${id}`,
      `other.json.${id}.tmp`,
    ];
    const left = `${directory}/session.json.${id}.tmp`;
    for (const name of kept) {
      await Deno.writeTextFile(`${directory}/${name}`, "{}");
    }
    // A file of a version before 1.0, and a directory.
    await Deno.writeTextFile(left, "{}");
    await store.save(SESSION);
    assertEquals([...Deno.readDirSync(directory)].length, 4);
    await Deno.mkdir(left);
    await Deno.writeTextFile(`${left}/session`, "{}");
    await store.lock?.(() => Promise.resolve());
    assertEquals(
      [...Deno.readDirSync(directory)].map(({ name }) => name).sort(),
      ["session.json", "session.json.lock", ...kept].sort(),
    );
  },
);

test("keeps its lock although a clock differs or was never set", async (path) => {
  const events: string[] = [];
  let second: Promise<number> | undefined;
  /** How often the second has looked at the lock, and waits to look again. */
  let looks = 0;
  using _ = skipWaits((ms) => {
    const isWait = ms >= 10 && ms <= 250;
    if (isWait) looks++;
    return isWait;
  });
  await fileStore(path).lock?.(async () => {
    const now = Date.now() / 1000;
    // Clocks that were never set start in one of these years.
    const starts = [1970, 1980, 2000].map((year) => Date.UTC(year) / 1000);
    for (const seconds of [now - 3600, now + 3600, ...starts]) {
      await Deno.utime(`${path}.lock/1`, seconds, seconds);
      second ??= fileStore(path).lock?.(() =>
        Promise.resolve(events.push("second"))
      );
      const before = looks;
      await until(LIMIT_MS, () => looks > before + 1);
    }
    events.push("first");
  });
  await second;
  assertEquals(events, ["first", "second"]);
});

test(
  "refuses a lock directory that is a symbolic link, and removes nothing there",
  async (path, directory) => {
    const mail = `${directory}/mail`;
    await Deno.mkdir(mail);
    for (const name of ["1", "2"]) {
      await Deno.writeTextFile(`${mail}/${name}`, "mail");
      await Deno.utime(`${mail}/${name}`, 0, 0);
    }
    await Deno.symlink(mail, `${path}.lock`);
    const { message } = await assertRejectsCode(
      () => fileStore(path).lock!(() => Promise.resolve()),
      "invalid_argument",
    );
    assertStringIncludes(message, `${path}.lock`);
    assertEquals([...Deno.readDirSync(mail)].length, 2);
  },
  Deno.build.os === "windows",
);

test("ignores files in the lock directory whose numbers are too long", async (path) => {
  await Deno.mkdir(`${path}.lock`);
  for (const name of ["9007199254740992", "9".repeat(30)]) {
    await Deno.writeTextFile(`${path}.lock/${name}`, "");
    await Deno.utime(`${path}.lock/${name}`, 0, 0);
  }
  const locked = fileStore(path).lock!(() => Promise.resolve("locked"));
  assertEquals(await within(LIMIT_MS, locked), "locked");
});

test("does not release the lock of another process", async (path) => {
  const store = fileStore(path);
  await store.lock?.(async () => {
    // Another process has broken the lock, as this one seemed to have crashed.
    await Deno.remove(`${path}.lock/1`);
    await Deno.writeTextFile(`${path}.lock/2`, "");
  });
  const { mtime } = await Deno.stat(`${path}.lock/2`);
  assertEquals(Date.now() - (mtime?.getTime() ?? 0) < 5_000, true);
  assertEquals([...Deno.readDirSync(`${path}.lock`)].length, 1);
});

test("releases the lock when the task fails", async (path) => {
  const store = fileStore(path);
  await assertRejects(
    async () => await store.lock?.(() => Promise.reject(new Error("no"))),
    Error,
    "no",
  );
  assertEquals(await store.lock?.(() => Promise.resolve("next")), "next");
});

test("calls onWait after a second with the process that holds the lock", async (path) => {
  const store = fileStore(path);
  const [isHeld, released] = [deferred<void>(), deferred<void>()];
  const held = store.lock!(() => {
    isHeld.resolve();
    return released.promise;
  });
  await isHeld.promise;
  const pids: (number | undefined)[] = [];
  const waiting = fileStore(path, {
    onWait(pid) {
      pids.push(pid);
      throw new Error("ignored");
    },
  });
  const task = waiting.lock!(() => Promise.resolve("next"));
  await until(LIMIT_MS, () => pids.length > 0);
  released.resolve();
  await held;
  assertEquals(await within(LIMIT_MS, task), "next");
  assertEquals(await waiting.lock!(() => Promise.resolve("free")), "free");
  assertEquals(pids, [Deno.pid]);
});
