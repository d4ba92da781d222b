/** A file store compares what it has, and undoes nothing after a suspension. */

import { fileStore } from "../../lib/native/mod.ts";
import {
  assertCompares,
  assertOneReplaces,
  assertReadsOtherForms,
} from "../support/comparing_store.ts";
import { test } from "./_files.ts";
import { canSuspend, countAll, keepChanges } from "./_suspended.ts";

for (const key of [undefined, new Uint8Array(32)]) {
  const content = key ? "encrypted" : "plain";
  test(`saves only if it has what was loaded, ${content}`, async (path) => {
    const open = () => fileStore(path, { key });
    await assertCompares(open());
    await assertOneReplaces(open);
  });
}

test("compares a session that another program has written", (path) =>
  assertReadsOtherForms(
    fileStore(path),
    (text) => Deno.writeTextFile(path, text, { mode: 0o600 }),
  ));

test(
  "lets a process that was suspended before it saves undo nothing",
  (path) =>
    keepChanges(
      { name: "file", location: path },
      () => Deno.remove(`${path}.lock`, { recursive: true }),
    ),
  !canSuspend,
);

test(
  "loses no change of processes that are suspended at random",
  (path) => countAll({ name: "file", location: path }),
  !canSuspend,
);
