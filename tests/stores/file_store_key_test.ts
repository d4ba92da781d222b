/** A file store that encrypts. */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { fileStore, type FileStoreKey } from "../../lib/native/mod.ts";
import { SESSION } from "../support/resource.ts";
import { test } from "./_files.ts";
import {
  assertInvalidArgument,
  assertRejectsCode,
  assertThrowsCode,
} from "../support/fixtures.ts";

const keyOf = (byte: number) => new Uint8Array(32).fill(byte);
const key = keyOf(1);

/** Checks that a call fails, and that it leaves the file as it is. */
async function assertRefused(
  path: string,
  call: () => Promise<unknown>,
  rest: string,
): Promise<void> {
  const before = await Deno.readTextFile(path);
  const error = await assertRejectsCode(call, "invalid_session");
  assertEquals(error.message, `File ${path} ${rest}`);
  assertEquals(error.cause, undefined);
  assertEquals(await Deno.readTextFile(path), before);
}

const LEFT = "It was left as it is; ";
const DELETE = "delete it to sign in again";
const DAMAGED = `is damaged. ${LEFT}${DELETE}`;
const WITHOUT_KEY = `is encrypted, and there is no key. ${LEFT}${DELETE} ` +
  "(set `key` to the key that it was saved with)";
const OTHER_KEY = `was encrypted with another key, or ${DAMAGED} ` +
  "(set `key` of fileStore() to that key)";

test("encrypts with a key, or what a function returns, each time differently", async (path) => {
  const contents: string[] = [];
  const keys: FileStoreKey[] = [key, () => key, () => Promise.resolve(key)];
  for (const one of [...keys, ...keys]) {
    const store = fileStore(path, { key: one });
    await store.save(SESSION);
    const content = await Deno.readTextFile(path);
    assert(!content.includes("token"), content);
    contents.push(content);
    assertEquals(await store.load(), SESSION);
    assertEquals(await fileStore(path, { key }).load(), SESSION);
  }
  assertEquals(new Set(contents).size, 6);
  // The IV is first.
  const ivs = contents.map((content) => content.split("\n")[1]?.slice(0, 16));
  assertEquals(new Set(ivs).size, 6);
  await fileStore(path, { key }).save(undefined);
  assertEquals(await fileStore(path, { key }).load(), undefined);
});

test("with a key writes AES-256-GCM, as another implementation reads it", async (path) => {
  await fileStore(path, { key }).save(SESSION);
  const { createDecipheriv } = await import("node:crypto");
  const { Buffer } = await import("node:buffer");
  const [first, second = "", rest] = (await Deno.readTextFile(path))
    .split("\n");
  assertEquals([first, rest], ["oauth-helper session A256GCM", ""]);
  const sealed = Buffer.from(second, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(-16));
  const text = decipher.update(sealed.subarray(12, -16), undefined, "utf8") +
    decipher.final("utf8");
  assertEquals(JSON.parse(text), SESSION);
});

test("tells plain text and a file that cannot be decrypted apart", async (path) => {
  const store = fileStore(path, { key });
  await fileStore(path).save(SESSION);
  await assertRefused(
    path,
    () => store.load(),
    `is not encrypted, and there is a key. ${LEFT}${DELETE} ` +
      "(save once with `key` what is loaded without `key`)",
  );
  // As the message says.
  await store.save(await fileStore(path).load() ?? undefined);
  assertEquals(await store.load(), SESSION);

  const other = fileStore(path, { key: keyOf(2) });
  await assertRefused(path, () => other.load(), OTHER_KEY);

  const whole = await Deno.readTextFile(path);
  const start = whole.indexOf("\n") + 1;
  for (const content of ["", whole.slice(0, 5)]) {
    await Deno.writeTextFile(path, content);
    await assertRefused(path, () => store.load(), DAMAGED);
  }
  const damaged = [
    whole.slice(0, start),
    whole.slice(0, start + 9),
    whole.slice(0, start + 40),
    whole.slice(0, -3),
    whole.slice(0, -9),
    `${whole.slice(0, -2)}*\n`,
    `${whole}AAAA`,
  ];
  // A character of the IV, of the ciphertext and of the tag.
  for (const index of [0, 30, whole.length - start - 8]) {
    const at = start + index;
    const char = whole[at] === "A" ? "B" : "A";
    damaged.push(whole.slice(0, at) + char + whole.slice(at + 1));
  }
  for (const content of damaged) {
    await Deno.writeTextFile(path, content);
    await assertRefused(path, () => store.load(), OTHER_KEY);
  }
  await Deno.writeTextFile(path, whole);
  assertEquals(await store.load(), SESSION);
});

test("without the key neither loads nor replaces an encrypted file", async (path) => {
  await fileStore(path, { key }).save(SESSION);
  const store = fileStore(path);
  await assertRefused(path, () => store.load(), WITHOUT_KEY);
  await assertRefused(path, () => store.save(SESSION), WITHOUT_KEY);
  await store.save(undefined);
  await store.save(SESSION);
  assertEquals(await store.load(), SESSION);
});

test("calls the function for the key once it is needed, and again after a failure", async (path) => {
  const keyOfStore: (unknown | Error)[] = [];
  let calls = 0;
  const store = fileStore(path, {
    key: () => {
      calls++;
      const next = keyOfStore.length > 1 ? keyOfStore.shift() : keyOfStore[0];
      if (next instanceof Error) throw next;
      return next as Uint8Array;
    },
  });
  assertEquals([await store.load(), calls], [undefined, 0]);
  // What a command that is missing fails with, which is not a missing file.
  const failure = Object.assign(new Error("no secret-tool"), {
    code: "ENOENT",
  });
  keyOfStore.push(failure, new Uint8Array(16), undefined, "key", key);
  assertEquals(await assertRejects(() => store.save(SESSION)), failure);
  for (let call = 0; call < 3; call++) {
    await assertInvalidArgument(() => store.save(SESSION), `key for ${path}`);
  }
  assertEquals(await store.load(), undefined);
  for (let call = 0; call < 3; call++) {
    await store.save(SESSION);
    assertEquals(await store.load(), SESSION);
  }
  assertEquals(calls, 5);

  await fileStore(path, { key: keyOf(2) }).save(SESSION);
  keyOfStore.unshift(failure, keyOf(2));
  await assertRefused(path, () => store.load(), OTHER_KEY);
  assertEquals(await assertRejects(() => store.load()), failure);
  assertEquals(await store.load(), SESSION);
});

test("keeps a copy of the key", async (path) => {
  const bytes = keyOf(1);
  const store = fileStore(path, { key: bytes });
  bytes.fill(0);
  await store.save(SESSION);
  assertEquals(await fileStore(path, { key }).load(), SESSION);
});

Deno.test("fileStore() checks the type and the length of the key", () => {
  for (const wrong of [new Uint8Array(31), "0".repeat(32), null, 7, [...key]]) {
    assertThrowsCode(
      () => fileStore("x.json", { key: wrong as unknown as FileStoreKey }),
      "invalid_argument",
    );
  }
});

test("rejects an option that it does not have: a misspelled key would store plain text", (path) => {
  const options = { Key: new Uint8Array(32) };
  const { message } = assertThrowsCode(
    () => fileStore(path, options as object),
    "invalid_argument",
  );
  assertStringIncludes(message, "options.Key is");
  return Promise.resolve();
});
