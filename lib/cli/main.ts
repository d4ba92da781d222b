/**
 * Runs the program with the arguments of the process, in Deno, Node and Bun.
 *
 * @module
 */

import process from "node:process";
import { runProgram } from "./api.ts";

// `process.exit` is not called: after Ctrl-C, a refresh that has started is finished and
// stored.
process.exitCode = await runProgram(process.argv.slice(2));
