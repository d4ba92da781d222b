/** What a store does that compares what it has with what was loaded, before it saves. */

import { assertEquals } from "@std/assert";
import type { Session, SessionStore } from "../../mod.ts";
import { eachRowInTurn } from "./each_row.ts";
import { SESSION } from "./resource.ts";

const sessionOf = (access_token: string): Session => ({
  ...SESSION,
  token: { access_token, token_type: "Bearer" },
});
const [A, B, C] = ["a", "b", "c"].map(sessionOf);

/** What is stored, what is given as `former`, and whether the store then saves. */
const ROWS: [
  stored: Session | undefined,
  former: Session | null | undefined,
  isSaved: boolean,
][] = [
  [undefined, undefined, true],
  [undefined, null, true],
  [undefined, A, false],
  [A, undefined, true],
  [A, null, false],
  [A, A, true],
  [A, B, false],
];

/** Checks that a store saves, and deletes, only if it has what is given as `former`. */
export async function assertCompares(store: SessionStore): Promise<void> {
  await eachRowInTurn(ROWS, async ([stored, former, isSaved]) => {
    for (const next of [C, undefined]) {
      await store.save(stored);
      const result = await store.save(next, structuredClone(former));
      assertEquals(result !== false, isSaved);
      assertEquals(await store.load() ?? undefined, isSaved ? next : stored);
    }
  });
}

/** Checks that of several processes that replace one session at once, one succeeds. */
export async function assertOneReplaces(
  open: () => SessionStore,
): Promise<void> {
  await open().save(A);
  const stores = Array.from({ length: 8 }, open);
  const loaded = await Promise.all(stores.map((store) => store.load()));
  const saves = stores.map((store, index) =>
    store.save(sessionOf(`${index}`), loaded[index])
  );
  const results = (await Promise.all(saves)).map((one) => one !== false);
  assertEquals(results.filter((one) => one).length, 1);
  const index = results.indexOf(true);
  assertEquals((await open().load())?.token?.access_token, `${index}`);
}

/** Checks that a session counts as the same although another program has written it. */
export async function assertReadsOtherForms(
  store: SessionStore,
  put: (text: string) => unknown,
): Promise<void> {
  await put(JSON.stringify(A, undefined, "\t"));
  const former = await store.load();
  assertEquals(await store.save(B, former), true);
  assertEquals(await store.save(C, former), false);
  assertEquals(await store.load(), B);
}
