/**
 * The program `oauth-helper` signs in, prints tokens for scripts and hosts, and finds
 * out why a client cannot obtain a token.
 *
 * ```sh
 * npx @oauth-helper/client login https://api.example/mcp
 * deno run -A jsr:@oauth-helper/client/cli token https://api.example/mcp
 * ```
 *
 * | Command       | What it does                                                     |
 * | ------------- | ---------------------------------------------------------------- |
 * | `login URL`   | signs in with the browser, `--device` or `--paste`               |
 * | `token URL`   | prints an access token, or JSON for a host; refreshes it         |
 * | `headers URL` | prints header fields as JSON, with `--lines` for `curl -H @FILE` |
 * | `logout URL`  | revokes the tokens, and deletes the session                      |
 * | `status`      | lists the sessions, with `--json` as JSON; never a token         |
 * | `doctor URL`  | explains why a client cannot obtain a token                      |
 *
 * `--help` lists the options of each. The exit code is 0 if the command succeeded, 1 if
 * it failed or a file cannot be read or written, 2 for invalid arguments, 3 if a user
 * has to sign in but cannot be prompted, and 130 after Ctrl-C.
 *
 * `login` keeps the session, requests the URL once with the token, and fails if the API
 * rejects it. `logout` fails, and keeps the session, while the server cannot be reached;
 * `--force` deletes it anyway. `--client` also deletes the client that `login`
 * registered, and `--browser` opens the page of the server that signs the user out.
 *
 * `token` and `headers` also sign in if the standard error is a terminal. Otherwise,
 * and with `--no-input`, they end with 3 before a client is registered. Concurrent
 * processes share one sign-in and one refresh.
 *
 * Each URL and `--account` has its own file, with the mode 0600, in
 * `$XDG_STATE_HOME/oauth-helper` or `~/.local/state/oauth-helper`, on macOS in
 * `~/Library/Application Support/oauth-helper`, and on Windows in
 * `%LOCALAPPDATA%\oauth-helper`. For a URL without a file, `token` and `headers` use
 * the session of the longest resource that covers the URL. With `--key-command`, the
 * file is encrypted with the 32 bytes that the command prints as base64.
 *
 * ## Scripts and hosts
 *
 * ```sh
 * curl -H "Authorization: Bearer $(oauth-helper token "$URL")" "$URL"
 * curl -H @<(oauth-helper headers --lines "$URL") "$URL"
 * oauth-helper token --no-input "$URL" || echo "sign in first"
 * # Keys in the keyring of Linux, in the keychain of macOS, and in a password manager
 * oauth-helper login --key-command "secret-tool lookup service oauth-helper" "$URL"
 * oauth-helper login "$URL" \
 *   --key-command "security find-generic-password -s oauth-helper -w"
 * oauth-helper login --key-command "pass show oauth-helper" "$URL"
 * ```
 *
 * For a host of MCP servers that runs a helper for header fields:
 *
 * ```json
 * {
 *   "mcpServers": {
 *     "example": {
 *       "type": "http",
 *       "url": "https://api.example/mcp",
 *       "headersHelper": "oauth-helper headers https://api.example/mcp"
 *     }
 *   }
 * }
 * ```
 *
 * @module
 */

export * from "./api.ts";

// The npm package uses a separate program, because some runtimes lack this member. Not
// awaited: `require` cannot load a module with top-level `await`.
if (import.meta.main) import("./main.ts");
