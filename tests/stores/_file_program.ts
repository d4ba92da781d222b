/**
 * A program that acquires the lock of a file store. Its arguments are the path of the
 * file, and the directory that it changes to before. It prints `locked`, or the code
 * of the error.
 */

import process from "node:process";
import { fileStore } from "../../lib/native/mod.ts";

const [path = "", directory = "."] = process.argv.slice(2);
const store = fileStore(path);
process.chdir(directory);
const locked = store.lock?.(() => Promise.resolve("locked"));
console.log(await locked?.catch((error) => error.code));
