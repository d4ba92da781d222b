/** What an editor shows for the names of the first programs fits on a screen. */

import { assertEquals } from "@std/assert";

const LIB = new URL("../../lib/", import.meta.url);
const MAX_LINES = 15;

/** The names that README, the quickstart and the pages of the flows start with, by file. */
const NAMES: Readonly<Record<string, string>> = {
  adviceFor: "core/advice.ts",
  AuthorizedFetch: "fetch/authorized_fetch_options.ts",
  clientCredentialsFlow: "flows/client_credentials_flow.ts",
  codeFlow: "flows/code_flow.ts",
  createAuthorizedFetch: "fetch/authorized_fetch.ts",
  createLoopbackReceiver: "native/loopback_receiver.ts",
  createWebSignIn: "web/web_sign_in.ts",
  deviceFlow: "flows/device_flow.ts",
  diagnose: "doctor/diagnose.ts",
  fileStore: "native/file_store.ts",
  isOAuthClientError: "core/errors.ts",
  memoryStore: "session/store.ts",
  OAuthClientError: "core/errors.ts",
  sharedSignIn: "fetch/shared_sign_in.ts",
  startTestServers: "testing/start_test_servers.ts",
};

/** Returns how many lines of the docstrings of a name are not empty: the most. */
function linesOf(name: string, path: string): number {
  const text = Deno.readTextFileSync(new URL(path, LIB));
  const docstrings = text.matchAll(
    /^\/\*\*\n((?: \*.*\n)*?) \*\/\nexport (?:async )?(?:function|class|interface) (\w+)/gm,
  );
  const lengths = [...docstrings].filter((match) => match[2] === name)
    .map(([, lines = ""]) => lines.match(/^ \* ./gm)?.length ?? 0);
  return Math.max(...lengths);
}

Deno.test(`the docstrings of the first programs' names have at most ${MAX_LINES} lines each, with their example`, () => {
  const long: string[] = [];
  for (const [name, path] of Object.entries(NAMES)) {
    const lines = linesOf(name, path);
    if (!(lines > 0 && lines <= MAX_LINES)) long.push(`${name}: ${lines}`);
  }
  assertEquals(long, []);
});
