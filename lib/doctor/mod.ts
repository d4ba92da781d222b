/**
 * The diagnosis of an OAuth server: why a client cannot obtain a token, and what the
 * operator of the server and the client can do.
 *
 * As a program, this module is a command:
 * `deno run -N jsr:@oauth-helper/client/doctor https://host/path`.
 *
 * @module
 */

export * from "./api.ts";

// The npm package has a program of its own, as not all runtimes know this member.
// Not awaited: `require` cannot load a module with `await` at the top.
if (import.meta.main) import("./main.ts");
