/**
 * Eight processes with a session in Deno KV refresh once, and a killed one blocks none
 * for long.
 */

import { assertEquals } from "@std/assert";
import { denoKvStore } from "../../lib/stores/mod.ts";
import { SESSION } from "../support/resource.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { inDirectory } from "../support/in_directory.ts";
import {
  assertCompares,
  assertOneReplaces,
} from "../support/comparing_store.ts";
import { holdLong, refreshOnce, surviveCrash } from "./_processes.ts";
import { KEY } from "./_stores.ts";
import { canSuspend, countAll, keepChanges } from "./_suspended.ts";

async function withKv(task: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    await task(kv);
  } finally {
    kv.close();
  }
}

Deno.test("denoKvStore() makes one refresh in eight processes, ten times", () =>
  inDirectory((directory) =>
    refreshOnce({ name: "kv", location: `${directory}/kv` })
  ));

Deno.test("denoKvStore() keeps its lock, and frees that of a killed process within the documented time", () =>
  inDirectory(async (directory) => {
    await Promise.all([
      holdLong({ name: "kv", location: `${directory}/1` }),
      surviveCrash({ name: "kv", location: `${directory}/2` }),
    ]);
  }));

Deno.test("denoKvStore() saves, loads and deletes, and leaves no lock behind", () =>
  withKv(async (kv) => {
    const store = denoKvStore(kv, ["one"]);
    assertEquals(await store.load(), undefined);
    await store.lock?.(() => store.save(SESSION));
    assertEquals(await denoKvStore(kv, ["one"]).load(), SESSION);
    assertEquals(await denoKvStore(kv, ["two"]).load(), undefined);
    const keys = await Array.fromAsync(kv.list({ prefix: [] }));
    assertEquals(keys.map(({ key }) => key), [["one"]]);
    await store.save(undefined);
    assertEquals(await store.load(), undefined);
  }));

Deno.test("denoKvStore() keeps a session for its lifetime from the last save", () =>
  inDirectory(async (directory) => {
    const names = ["short", "saved again", "without"];
    const open = async () => {
      const kv = await Deno.openKv(`${directory}/kv`);
      const [short, again, without] = names.map((name) => {
        const lifetimeSeconds = name === "without" ? undefined : 0.001;
        return denoKvStore(kv, [name], { lifetimeSeconds });
      });
      const longer = denoKvStore(kv, ["saved again"], { lifetimeSeconds: 100 });
      return { kv, short, again, without, longer };
    };
    const first = await open();
    await first.short?.save(SESSION);
    await first.again?.save(SESSION);
    await first.longer.save(SESSION);
    await first.without?.save(SESSION);
    first.kv.close();
    // Deno KV looks for what has expired when it is opened, then once a minute.
    const { kv, short, longer, without } = await open();
    await until(LIMIT_MS, async () => await short?.load() === undefined);
    assertEquals(await longer.load(), SESSION);
    assertEquals(await without?.load(), SESSION);
    kv.close();
  }));

Deno.test("denoKvStore() does not release the lock of another process", () =>
  withKv(async (kv) => {
    await denoKvStore(kv, ["key"]).lock?.(async () => {
      await kv.set(["oauth-helper:lock", "key"], "another process");
    });
    assertEquals(
      (await kv.get(["oauth-helper:lock", "key"])).value,
      "another process",
    );
  }));

Deno.test("denoKvStore() saves only if it has what was loaded", () =>
  withKv(async (kv) => {
    await assertCompares(denoKvStore(kv, ["key"]));
    await assertOneReplaces(() => denoKvStore(kv, ["key"]));
  }));

Deno.test({
  name:
    "denoKvStore() lets a process that was suspended before it saves undo nothing",
  ignore: !canSuspend,
  fn: () =>
    inDirectory(async (directory) => {
      const location = `${directory}/kv`;
      const kv = await Deno.openKv(location);
      const loseLock = () => kv.delete(["oauth-helper:lock", "sessions", KEY]);
      await keepChanges({ name: "kv", location }, loseLock);
      kv.close();
    }),
});

Deno.test({
  name:
    "denoKvStore() loses no change of processes that are suspended at random",
  ignore: !canSuspend,
  fn: () =>
    inDirectory((directory) =>
      countAll({ name: "kv", location: `${directory}/kv` })
    ),
});
