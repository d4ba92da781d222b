/**
 * A program that acquires the lock of a file store. Its arguments are the path of the
 * file, `hold` to keep the lock, or for how long to wait for it, and the directory that
 * it changes to before. It prints `locked`, `waits` or the code of the error, and its pid.
 */

import process from "node:process";
import { fileStore } from "../../lib/native/mod.ts";

const [path = "", time = "", directory] = process.argv.slice(2);
const store = fileStore(path);
if (directory) process.chdir(directory);
if (time === "hold") {
  await store.lock?.(() => {
    console.log(`locked ${process.pid}`);
    // The end of the input ends the program, with the test.
    return new Promise((resolve) => process.stdin.on("end", resolve).resume());
  });
} else {
  const signal = AbortSignal.timeout(Number(time));
  const locked = store.lock?.(() => Promise.resolve("locked"), signal);
  const outcome = (error: { code: unknown }) =>
    signal.aborted ? "waits" : error.code;
  console.log(`${await locked?.catch(outcome)} ${process.pid}`);
}
