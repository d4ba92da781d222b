/**
 * The program `oauth-helper`: signs in, prints tokens for scripts and hosts, and finds
 * out why a client cannot obtain one.
 *
 * ```sh
 * deno run -A jsr:@oauth-helper/client/cli login https://api.example/mcp
 * npx @oauth-helper/client token https://api.example/mcp
 * ```
 *
 * `--help` lists the commands; sessions are kept in files of the user.
 *
 * @module
 */

export * from "./api.ts";

// The npm package has a program of its own, as not all runtimes know this member.
// Not awaited: `require` cannot load a module with `await` at the top.
if (import.meta.main) import("./main.ts");
