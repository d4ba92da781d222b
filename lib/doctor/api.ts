/**
 * The diagnosis as a function, without the command.
 *
 * @module
 */

export * from "./diagnose.ts";
export * from "./diagnosis.ts";
