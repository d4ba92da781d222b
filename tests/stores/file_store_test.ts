import { assertEquals, assertRejects } from "@std/assert";
import { OAuthClientError } from "../../mod.ts";
import { fileStore } from "../../lib/native/mod.ts";
import { startRotatingServer } from "../servers/rotating_server.ts";
import { holdLong, refreshOnce, surviveCrash } from "./_processes.ts";

async function inDirectory(
  task: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await task(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function aSession() {
  await using server = startRotatingServer();
  return server.session();
}

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;

Deno.test("fileStore() makes one refresh in eight processes of Deno and Node, ten times", () =>
  inDirectory((directory) =>
    refreshOnce({
      name: "file",
      location: `${directory}/session.json`,
      inNode: true,
    })
  ));

Deno.test("fileStore() keeps its lock, and frees that of a killed process within the documented time", () =>
  inDirectory(async (directory) => {
    await Promise.all([
      holdLong({ name: "file", location: `${directory}/1.json` }),
      surviveCrash({ name: "file", location: `${directory}/2.json` }),
    ]);
  }));

Deno.test("fileStore() saves, loads and deletes with the modes 0600 and 0700", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/a/b/session.json`;
    const store = fileStore(new URL(`file://${path}`));
    assertEquals(await store.load(), undefined);
    const session = await aSession();
    await store.save(session);
    assertEquals(await fileStore(path).load(), session);
    if (Deno.build.os !== "windows") {
      await Deno.chmod(path, 0o644);
      await store.save(session);
      assertEquals(modeOf(path), 0o600);
      assertEquals(modeOf(`${directory}/a/b`), 0o700);
    }
    assertEquals([...Deno.readDirSync(`${directory}/a/b`)].length, 1);
    await store.save(undefined);
    await store.save(undefined);
    assertEquals(await store.load(), undefined);
  }));

Deno.test("fileStore() rejects a damaged file, and leaves it as it is", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/session.json`;
    const store = fileStore(path);
    const whole = JSON.stringify(await aSession());
    for (const content of ["", whole.slice(0, -9), "{}", "[]", "null", "7"]) {
      await Deno.writeTextFile(path, content);
      const error = await assertRejects(() => store.load(), OAuthClientError);
      assertEquals(error.code, "invalid_session");
      assertEquals(
        error.message,
        `Value in file ${path} is not a session. It was left as it is; ` +
          "delete it to sign in again",
      );
      assertEquals(error.cause, undefined);
      assertEquals(await Deno.readTextFile(path), content);
    }
  }));

Deno.test("fileStore() removes what it wrote when it cannot replace the file", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/session.json`;
    await Deno.mkdir(path);
    await assertRejects(async () => fileStore(path).save(await aSession()));
    assertEquals([...Deno.readDirSync(directory)].length, 1);
  }));

Deno.test("fileStore() lets one process at a time break a stale lock", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/session.json`;
    let running = 0;
    let runs = 0;
    const task = async () => {
      assertEquals(++running, 1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      runs++;
    };
    for (let round = 0; round < 20; round++) {
      await Deno.mkdir(`${path}.lock`, { recursive: true });
      const numbers = [...Deno.readDirSync(`${path}.lock`)]
        .map(({ name }) => Number(name));
      // A crashed process: its time is more than 10 seconds ago, or in the future.
      const crashed = `${path}.lock/${Math.max(0, ...numbers) + 1}`;
      await Deno.writeTextFile(crashed, "");
      const seconds = Date.now() / 1000 + (round % 2 ? 3600 : -10.1);
      await Deno.utime(crashed, seconds, seconds);
      await Promise.all(
        Array.from({ length: 8 }, () => fileStore(path).lock?.(task)),
      );
    }
    assertEquals(runs, 160);
    assertEquals([...Deno.readDirSync(`${path}.lock`)].length, 1);
  }));

Deno.test("fileStore() does not release the lock of another process", () =>
  inDirectory(async (directory) => {
    const path = `${directory}/session.json`;
    const store = fileStore(path);
    await store.lock?.(async () => {
      // Another process has broken the lock, as this one seemed to have crashed.
      await Deno.remove(`${path}.lock/1`);
      await Deno.writeTextFile(`${path}.lock/2`, "");
    });
    const { mtime } = await Deno.stat(`${path}.lock/2`);
    assertEquals(Date.now() - (mtime?.getTime() ?? 0) < 5_000, true);
    assertEquals([...Deno.readDirSync(`${path}.lock`)].length, 1);
  }));

Deno.test("fileStore() releases the lock when the task fails", () =>
  inDirectory(async (directory) => {
    const store = fileStore(`${directory}/session.json`);
    await assertRejects(
      async () => await store.lock?.(() => Promise.reject(new Error("no"))),
      Error,
      "no",
    );
    assertEquals(await store.lock?.(() => Promise.resolve("next")), "next");
  }));
