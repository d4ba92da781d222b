/** The lock of a file whose holder has died, or is elsewhere. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import process from "node:process";
import { run as runProgram } from "../../scripts/support/process.ts";
import {
  lockDirectoryLease,
  lockHolderOf,
} from "../../lib/native/_lock_directory.ts";
import { fileStore } from "../../lib/native/mod.ts";
import { bundle } from "../support/bundle.ts";
import { hasProgram } from "../support/has_program.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, turn, until, within } from "../support/within.ts";
import { test } from "./_files.ts";

const source = new URL("_lock_program.ts", import.meta.url).pathname;

/** Longer than it takes to look at the lock, and shorter than a lease. */
const WAIT_MS = 3_000;

interface Holder {
  pid: number;
  place?: string;
  started?: string;
}

/** Returns what this process writes into the file of a lock that it holds. */
async function ownHolder(path: string, number = 1): Promise<Holder> {
  const store = fileStore(path);
  return await store.lock!(async () =>
    JSON.parse(await Deno.readTextFile(`${path}.lock/${number}`))
  );
}

/** Returns whether the lock of this file is acquired at once. */
async function isBroken(path: string): Promise<boolean> {
  const signal = AbortSignal.timeout(WAIT_MS);
  const locked = fileStore(path).lock!(() => Promise.resolve(true), signal);
  return await locked.catch((error) => {
    if (error !== signal.reason) throw error;
    return false;
  });
}

async function endedPid(): Promise<number> {
  const child = new Deno.Command("true").spawn();
  await child.status;
  return child.pid;
}

const isLinux = Deno.build.os === "linux";

test(
  "breaks the lock of a process that is known to have died, at once, and no other",
  async (_path, directory) => {
    const own = await ownHolder(`${directory}/own.json`);
    assertEquals(own.pid, Deno.pid);
    assertMatch(own.place ?? "", /^[-\da-f]{36} pid:\[\d+\] (time:\[\d+\])?$/);
    assertMatch(own.started ?? "", /^\d+$/);
    const [boot = "", ...rest] = own.place!.split(" ");
    const pid = await endedPid();
    const elsewhere = {
      "another boot": [crypto.randomUUID(), ...rest].join(" "),
      "another container": own.place!.replace(/pid:\[\d+\]/, "pid:[1]"),
      "another clock": own.place!.replace(/time:.*/, "time:[1]"),
      "a former version": undefined,
    };
    const cases: [string, unknown, isBroken: boolean][] = [
      ["a process that has ended", { ...own, pid }, true],
      ["a former process of the same pid", { ...own, started: "1" }, true],
      ["a living process", own, false],
      ...Object.entries(elsewhere).map(([name, place]) =>
        [name, { ...own, pid, place }, false] as [string, unknown, boolean]
      ),
      ["a pid alone", { pid }, false],
      ["no process", "", false],
      ["no pid", { ...own, pid: "../1" }, false],
      // In JSON, 1e999 is Infinity.
      ["a pid beyond all", JSON.stringify({ ...own, pid: 9 }), false],
    ];
    await Promise.all(cases.map(async ([name, holder, expected], index) => {
      const path = `${directory}/${index}.json`;
      await Deno.mkdir(`${path}.lock`);
      const content = typeof holder === "string"
        ? holder.replace('"pid":9', '"pid":1e999')
        : JSON.stringify(holder);
      await Deno.writeTextFile(`${path}.lock/7`, content);
      assertEquals(await isBroken(path), expected, `${name} of ${boot}`);
      const shown = name === "a pid alone" ? pid : undefined;
      if (/^(another|a pid) /.test(name)) {
        assertEquals(await lockHolderOf(`${path}.lock`), shown, name);
      }
    }));
  },
  !isLinux,
);

// Only root can give a file to another user.
test(
  "does not break the lock of another user, whose processes can be hidden",
  async (path) => {
    const own = await ownHolder(path);
    await Deno.writeTextFile(
      `${path}.lock/2`,
      JSON.stringify({ ...own, pid: await endedPid() }),
    );
    await Deno.chown(`${path}.lock/2`, 1, 1);
    assertEquals(await isBroken(path), false);
    await Deno.chown(`${path}.lock/2`, 0, 0);
    assertEquals(await isBroken(path), true);
  },
  !isLinux || process.getuid?.() !== 0,
);

/** Checks that of eight stores that find a lock with this file, one at a time holds it. */
async function breakTogether(
  directory: string,
  round: number,
  content: string,
  time: number,
): Promise<void> {
  const path = `${directory}/${round}.json`;
  const former = `${path}.lock/${round + 1}`;
  await Deno.mkdir(`${path}.lock`);
  await Deno.writeTextFile(former, content);
  await Deno.utime(former, time, time);
  let [running, runs] = [0, 0];
  const task = async () => {
    assertEquals(++running, 1);
    await turn();
    running--;
    runs++;
  };
  const locks = Array.from({ length: 8 }, () => fileStore(path).lock!(task));
  // On a busy machine, all rounds at once take a while.
  await within(3 * LIMIT_MS, Promise.all(locks));
  assertEquals(runs, 8);
  assertEquals([...Deno.readDirSync(`${path}.lock`)].length, 1);
}

const ROUNDS = Array.from({ length: 20 }, (_, round) => round);

test(
  "lets one process at a time break the lock of a dead one, at once",
  async (_path, directory) => {
    const own = await ownHolder(`${directory}/own.json`);
    const content = JSON.stringify({ ...own, pid: await endedPid() });
    const now = Date.now() / 1_000;
    const after = async (round: number, text: string) => {
      await breakTogether(directory, round, text, now);
      return text;
    };
    const stale = after(20, "");
    assertEquals(await Promise.race([stale, after(21, content)]), content);
    await Promise.all(ROUNDS.map((round) => after(round, content)));
    await stale;
  },
  !isLinux,
);

test(
  "lets one process at a time break a stale lock, after a lease",
  async (_path, directory) => {
    const now = Date.now() / 1_000;
    const start = performance.now();
    await Promise.all(
      // A crashed process, with a clock that was right, slow or fast.
      ROUNDS.map((round) =>
        breakTogether(directory, round, "", now + 3_600 * (round % 3 - 1))
      ),
    );
    assert(performance.now() - start > 9_000);
  },
);

/** Starts a program that keeps the lock; returns what it prints and what ends it. */
async function startHolder(command: string[]) {
  const [program = "", ...args] = command;
  const child = new Deno.Command(program, {
    args: [...args, "hold"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await within(LIMIT_MS, reader.read());
  return {
    printed: value.trim(),
    pid: child.pid,
    async end() {
      await child.stdin.close();
      await reader.cancel();
      await child.status;
    },
  };
}

async function run([program = "", ...args]: string[]): Promise<string> {
  const { stdout, stderr } = await runProgram(program, args, { cwd: "." });
  return stdout.trim() + stderr;
}

test(
  "breaks the lock of a killed process whose parent has not waited for it",
  async (path, directory) => {
    const program = `${directory}/program.mjs`;
    await bundle(source, program);
    // `sleep` replaces the shell, and does not know of its child.
    const script = 'exec 3<&0; "$@" <&3 & exec sleep 60';
    const parent = ["sh", "-c", script, "sh", "node", program, path];
    const { printed, pid: parentPid, end } = await startHolder(parent);
    try {
      const pid = Number(/^locked (\d+)$/.exec(printed)?.[1]);
      Deno.kill(pid, "SIGKILL");
      const hasEnded = async () =>
        (await Deno.readTextFile(`/proc/${pid}/stat`)).includes(") Z ");
      await until(LIMIT_MS, hasEnded);
      assertEquals(await isBroken(path), true);
    } finally {
      Deno.kill(parentPid, "SIGKILL");
      await end();
    }
  },
  !isLinux,
);

/** Makes Node fail to create hard links, as on a file system that has none. */
const WITHOUT_LINKS = `data:text/javascript,
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const error = Object.assign(new Error("no links"), { code: "EPERM" });
  fs.promises.link = () => Promise.reject(error);
  syncBuiltinESMExports();`;

test(
  "locks where the file system has no hard links",
  async (path, directory) => {
    const program = `${directory}/program.mjs`;
    await bundle(source, program);
    const args = ["--import", encodeURI(WITHOUT_LINKS), program, path];
    const holder = await startHolder(["node", ...args]);
    try {
      const [, pid] = /^locked (\d+)$/.exec(holder.printed) ?? [];
      assertEquals(await lockHolderOf(`${path}.lock`), Number(pid));
      assertMatch(await run(["node", ...args, `${WAIT_MS}`]), /^waits \d+$/);
    } finally {
      await holder.end();
    }
    assertMatch(await run(["node", ...args, `${WAIT_MS}`]), /^locked \d+$/);
  },
  !isLinux,
);

test("removes what processes left that were killed as they locked", async (path) => {
  await ownHolder(path);
  const left = `${path}.lock/${crypto.randomUUID()}.tmp`;
  await Deno.writeTextFile(left, "");
  await Deno.writeTextFile(`${path}.lock/mine.tmp`, "");
  await ownHolder(path, 2);
  const names = [...Deno.readDirSync(`${path}.lock`)].map(({ name }) => name);
  assertEquals(names.sort(), ["2", "mine.tmp"]);
});

/** Puts a command into another namespace of pids; its `/proc` is the former one. */
const APART = ["unshare", "--pid", "--fork", "--kill-child"];

const canUnshare = hasProgram("unshare") && hasProgram("nsenter") &&
  (await new Deno.Command("unshare", { args: [...APART.slice(1), "true"] })
    .output()).success;

for (const own of [["--mount-proc"], []]) {
  const proc = own.length > 0 ? "a /proc of its own" : "the /proc of the host";
  test(
    `keeps the lock of a living process in a container with ${proc}`,
    async (_path, directory) => {
      const program = `${directory}/program.mjs`;
      await bundle(source, program);
      const outside = (
        name: string,
      ) => ["node", program, `${directory}/${name}.json`];
      const inside = (name: string) => [...APART, ...own, ...outside(name)];
      const waiting = async (holder: string[], waiter: string[]) => {
        const { printed, end } = await startHolder(holder);
        try {
          assertMatch(printed, /^locked \d+$/);
          assertMatch(await run([...waiter, `${WAIT_MS}`]), /^waits \d+$/);
        } finally {
          await end();
        }
        assertMatch(await run([...waiter, `${WAIT_MS}`]), /^locked \d+$/);
      };
      await Promise.all([
        waiting(inside("1"), outside("1")),
        waiting(outside("2"), inside("2")),
        waiting(inside("3"), inside("3")),
      ]);
      // Two processes of one container.
      const holder = await startHolder(inside("4"));
      const { pid } = holder;
      const children = `/proc/${pid}/task/${pid}/children`;
      const first = (await Deno.readTextFile(children)).trim();
      const beside = ["nsenter", "-t", first, "-p", "-m", ...outside("4")];
      try {
        assertMatch(await run([...beside, `${WAIT_MS}`]), /^waits \d+$/);
      } finally {
        await holder.end();
      }
    },
    !canUnshare,
  );
}

test(
  "asks for no permission of Deno in a terminal",
  async (path, directory) => {
    const program = `${directory}/program.mjs`;
    await bundle(source, program);
    await ownHolder(path);
    for (const read of [`--allow-read=${directory}`, "--allow-read", "-A"]) {
      const command = [
        Deno.execPath(),
        "run",
        "--quiet",
        "--no-config",
        read,
        ...read === "-A" ? [] : [`--allow-write=${directory}`],
        program,
        path,
        "5000",
      ].join(" ");
      // A terminal, in which Deno would ask, and wait for the response.
      const args = ["-qefc", command, "/dev/null"];
      const child = new Deno.Command("script", {
        args,
        stdin: "null",
        env: { NO_COLOR: "1" },
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      const { stdout } = await child.output();
      const text = new TextDecoder().decode(stdout);
      assert(/locked \d+/.test(text) && !text.includes("Allow?"), read + text);
    }
  },
  !isLinux,
);

/** Returns the names in a directory; undefined if there is none. */
function namesIn(directory: string): string[] | undefined {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
  } catch {
    return undefined;
  }
}

test("removes the directory of its lock with the session, and lets one process at a time hold it", async (path) => {
  let running = 0;
  const use = async (round: number) => {
    const store = fileStore(path);
    await store.lock!(async () => {
      assertEquals(++running, 1);
      await turn();
      await store.save(round % 3 === 0 ? SESSION : undefined);
      running--;
    });
  };
  await use(0);
  assertEquals(namesIn(`${path}.lock`)?.length, 1);
  const rounds = Array.from({ length: 60 }, (_, round) => use(round));
  await within(LIMIT_MS, Promise.all(rounds));
  await use(1);
  assertEquals(namesIn(`${path}.lock`), undefined);
});

/** Runs a function once, before the file of a lock is created. */
function beforeCreation(run: () => void): Disposable {
  const value = () => {
    Reflect.deleteProperty(crypto, "randomUUID");
    run();
    return crypto.randomUUID();
  };
  Object.defineProperty(crypto, "randomUUID", { value, configurable: true });
  return {
    [Symbol.dispose]: () => void Reflect.deleteProperty(crypto, "randomUUID"),
  };
}

test("does not take a file of a new directory for that of a former one", async (path) => {
  const directory = `${path}.lock`;
  const other = JSON.stringify(await ownHolder(path));
  const holds = () => {
    Deno.mkdirSync(directory);
    Deno.writeTextFileSync(`${directory}/1`, other);
  };
  for (const isNew of [false, true]) {
    const names = isNew ? ["1"] : undefined;
    const lease = lockDirectoryLease(directory);
    // It has seen that the file 1 is released, and is slow.
    using _slow = beforeCreation(() => {
      Deno.removeSync(directory, { recursive: true });
      if (isNew) holds();
    });
    assertEquals(await lease.acquire(), false, names?.join());
    assertEquals(namesIn(directory), names);
    if (!isNew) await ownHolder(path);
  }
  Deno.removeSync(directory, { recursive: true });
  const suspended = lockDirectoryLease(directory, () => true);
  assertEquals(await suspended.acquire(), true);
  Deno.removeSync(directory, { recursive: true });
  holds();
  await suspended.extend();
  await suspended.release();
  assertEquals(await lockHolderOf(directory), isLinux ? Deno.pid : undefined);
});
