import { assertEquals, assertRejects } from "@std/assert";
import { OAuthClientError } from "../../mod.ts";
import { denoKvStore } from "../../lib/stores/mod.ts";
import { startRotatingServer } from "../servers/rotating_server.ts";
import { LIMIT_MS, until } from "../support/within.ts";
import { holdLong, refreshOnce, surviveCrash } from "./_processes.ts";

async function withFile(task: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await task(`${directory}/kv.sqlite3`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function withKv(task: (kv: Deno.Kv) => Promise<void>): Promise<void> {
  const kv = await Deno.openKv(":memory:");
  try {
    await task(kv);
  } finally {
    kv.close();
  }
}

Deno.test("denoKvStore() makes one refresh in eight processes, ten times", () =>
  withFile((location) => refreshOnce({ name: "kv", location })));

Deno.test("denoKvStore() keeps its lock, and frees that of a killed process within the documented time", () =>
  withFile((first) =>
    withFile(async (second) => {
      await Promise.all([
        holdLong({ name: "kv", location: first }),
        surviveCrash({ name: "kv", location: second }),
      ]);
    })
  ));

Deno.test("denoKvStore() saves, loads and deletes, and leaves no lock behind", () =>
  withKv(async (kv) => {
    await using server = await startRotatingServer();
    const store = denoKvStore(kv, ["one"]);
    assertEquals(await store.load(), undefined);
    await store.lock?.(() => store.save(server.session));
    assertEquals(await denoKvStore(kv, ["one"]).load(), server.session);
    assertEquals(await denoKvStore(kv, ["two"]).load(), undefined);
    const keys = await Array.fromAsync(kv.list({ prefix: [] }));
    assertEquals(keys.map(({ key }) => key), [["one"]]);
    await store.save(undefined);
    assertEquals(await store.load(), undefined);
  }));

Deno.test("denoKvStore() keeps a session for its lifetime from the last save", () =>
  withFile(async (path) => {
    await using server = await startRotatingServer();
    const names = ["short", "saved again", "without"];
    const open = async () => {
      const kv = await Deno.openKv(path);
      const [short, again, without] = names.map((name) => {
        const lifetimeSeconds = name === "without" ? undefined : 0.001;
        return denoKvStore(kv, [name], { lifetimeSeconds });
      });
      const longer = denoKvStore(kv, ["saved again"], { lifetimeSeconds: 100 });
      return { kv, short, again, without, longer };
    };
    const first = await open();
    await first.short?.save(server.session);
    await first.again?.save(server.session);
    await first.longer.save(server.session);
    await first.without?.save(server.session);
    first.kv.close();
    // Deno KV looks for what has expired when it is opened, then once a minute.
    const { kv, short, longer, without } = await open();
    await until(LIMIT_MS, async () => await short?.load() === undefined);
    assertEquals(await longer.load(), server.session);
    assertEquals(await without?.load(), server.session);
    kv.close();
  }));

Deno.test("denoKvStore() rejects a damaged value, and leaves it as it is", () =>
  withKv(async (kv) => {
    const store = denoKvStore(kv, ["sessions", 7]);
    for (const value of ["", { token: { access_token: "s3cret" } }, 7, []]) {
      await kv.set(["sessions", 7], value);
      const error = await assertRejects(() => store.load(), OAuthClientError);
      assertEquals(error.code, "invalid_session");
      assertEquals(
        error.message,
        'Value in Deno KV at key ["sessions", "7"] is not a session. ' +
          "It was left as it is; delete it to sign in again",
      );
      assertEquals((await kv.get(["sessions", 7])).value, value);
    }
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
