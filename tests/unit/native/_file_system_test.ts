/** An operation on a file that Windows has locked is tried again for a second. */

import { assertEquals, assertRejects } from "@std/assert";
import { patientOperations } from "../../../lib/native/_file_system.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

/** Creates operations that fail with these codes first, and lists what they do. */
function operationsThat(platform: string, codes: string[]) {
  const calls: unknown[] = [];
  const delays: number[] = [];
  const fail = (...args: unknown[]) => {
    calls.push(args);
    const code = codes.shift();
    return code
      ? Promise.reject(Object.assign(new Error(code), { code }))
      : Promise.resolve();
  };
  const delay = (milliseconds: number) => {
    delays.push(milliseconds);
    return Promise.resolve();
  };
  const files = patientOperations({ platform, delay, rename: fail, rm: fail });
  return { files, calls, delays };
}

Deno.test("patientOperations() tries again on Windows while another program has the file open", async () => {
  const codes = ["EPERM", "EACCES", "EBUSY"];
  const renaming = operationsThat("win32", [...codes]);
  await renaming.files.rename("a.tmp", "a");
  assertEquals(renaming.calls, Array(4).fill(["a.tmp", "a"]));
  assertEquals(renaming.delays, [10, 20, 40]);
  const removing = operationsThat("win32", [...codes]);
  await removing.files.rm("a", { force: true });
  assertEquals(removing.calls, Array(4).fill(["a", { force: true }]));
});

Deno.test("patientOperations() fails with the last error after a second", async () => {
  const { files, delays } = operationsThat("win32", Array(99).fill("EBUSY"));
  await assertRejects(() => files.rename("a.tmp", "a"), Error, "EBUSY");
  assertEquals(delays.reduce((sum, one) => sum + one), 1_000);
});

Deno.test("patientOperations() fails at once with other errors, and elsewhere than on Windows", async () => {
  const rows = [
    ["win32", "ENOSPC"],
    ["win32", "ENOENT"],
    ["linux", "EPERM"],
    ["darwin", "EACCES"],
  ] as const;
  await eachRowInTurn(rows, async ([platform, code]) => {
    const { files, calls, delays } = operationsThat(platform, [code]);
    await assertRejects(() => files.rename("a.tmp", "a"), Error, code);
    assertEquals([calls.length, delays], [1, []]);
  });
});
