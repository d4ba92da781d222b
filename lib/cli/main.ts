/**
 * Runs the program with the arguments of the process, in Deno, Node and Bun.
 *
 * @module
 */

import process from "node:process";
import { runProgram } from "./api.ts";

// Not awaited: CommonJS has no top-level `await`. `process.exit` is not called either:
// after Ctrl-C, a refresh that has begun is finished and stored.
runProgram(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
