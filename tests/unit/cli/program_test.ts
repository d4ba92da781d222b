/**
 * The program has its exit codes, its help, and messages that name the option to
 * change.
 */

import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { replaceGlobals } from "../../support/globals.ts";
import { run } from "./_host.ts";
import { eachRowInTurn } from "../../support/each_row.ts";

const COMMANDS = ["login", "token", "headers", "logout", "status", "doctor"];

Deno.test("runOn() prints the help of the program and of each command, in 80 columns", async () => {
  const texts = new Set<string>();
  for (const command of COMMANDS) {
    const helps = [[command, "--help"], [command, "-h"], ["help", command]];
    for (const args of helps) {
      const { code, output, errors } = await run(args);
      assertEquals([code, errors], [0, ""], args.join(" "));
      // One form: what it does, how it is called, its options, its exit status.
      const form =
        /^[A-Z][^:]*(: [^:]*)?\.\n\nUsage:\n {2}oauth-helper [^]*\n\nOptions:\n {2}-[^]*\n\nExit status: /;
      assertMatch(output, form);
      // The value of a long option does not touch its description.
      for (const line of output.split("\n")) {
        if (!line.startsWith("  -") || /^ {2}--[\w-]+ [A-Z]+$/.test(line)) {
          continue;
        }
        assertEquals(line[25], " ", line);
      }
      texts.add(output);
    }
  }
  assertEquals(texts.size, COMMANDS.length);
  for (const option of ["--help", "-h", "help"]) {
    const { output } = await run([option]);
    for (const command of COMMANDS) {
      assertStringIncludes(output, `oauth-helper ${command}`);
    }
    texts.add(output);
  }
  for (const text of texts) {
    for (const line of text.split("\n")) assert(line.length <= 80, line);
  }
});

Deno.test("runOn() returns 2 for invalid arguments, and says which", async () => {
  const url = "https://api.example/mcp";
  const rows: [args: string[], message: string][] = [
    [[], "A command is required"],
    [["lgin", url], "There is no command 'lgin'. Did you mean login?"],
    [["logut", url], "There is no command 'logut'. Did you mean logout?"],
    [
      ["refresh", url],
      "There is no command 'refresh'\nSee oauth-helper --help.",
    ],
    [["\x1b[2J"], "There is no command '\ufffd[2J'"],
    [[url], "A command is required before the URL"],
    [["login"], "login requires a URL"],
    [["login", url, url], "login takes one URL"],
    [["status", url], "status takes options only"],
    [["token", "api.example"], "'api.example' is not an http or https URL"],
    [["token", "https://user:pw@api.example"], "without credentials"],
    [
      ["token", "--jsn", url],
      "Unknown option '--jsn'. Did you mean --json?\nSee oauth-helper token --help.",
    ],
    [["doctor", "--signin", url], "'--signin'. Did you mean --sign-in?\n"],
    [["token", `--${"x".repeat(9_999)}`, url], "\nSee oauth-helper token"],
    [["token", "--\x1b[2J", url], "Unknown option '--\ufffd[2J'"],
    [["token", "-x", url], "Unknown option '-x'"],
    [["token", "--constructor", url], "Unknown option '--constructor'"],
    [["token", "--quiet=yes", url], "--quiet takes no value"],
    [["token", url, "--account"], "--account requires a value"],
    [["token", "--account", "--quiet", url], "--account requires a value"],
    [["token", "--paste", url], "Unknown option '--paste'"],
    [["token", "--client", url], "Unknown option '--client'"],
    [["token", "--min-ttl", "x", url], "--min-ttl requires a number"],
    [["token", "--min-ttl=", url], "--min-ttl requires a number"],
    [["token", "--min-ttl=-1", url], "--min-ttl requires a number"],
    [["token", "--format=aws", url], "--format requires kubernetes or docker"],
    [["token", "--format=__proto__", url], "--format requires kubernetes"],
    [["token", "--format=kubernetes", "--json", url], "excludes --json"],
    [["token", "--format=docker", url], "--username require each other"],
    [["token", "--format=docker", "--username=", url], "require each other"],
    [["token", "--username=ada", url], "--username require each other"],
    [["login", "--format=docker", url], "Unknown option '--format'"],
    [["login", "--param", "a", url], "--param requires name=value"],
    [
      ["login", "--resource", "true", url],
      "--resource requires an absolute URI",
    ],
    [["login", "--resource", "https://x/#a", url], "without a fragment"],
    [["login", "--account", "", url], "--account requires a name"],
    [["login", "--account=a\nb", url], "--account requires a name"],
    [["login", "--client-secret-file=f", url], "requires --client-id"],
    [["login", "--initial-access-token-file=f", url], "requires --issuer"],
    [
      ["login", "--initial-access-token-file=f", "--client-id=c", url],
      "needs no --initial-access-token-file",
    ],
    [["token", "--issuer", url, url], "--issuer requires --client-id"],
    [["login", "--device", "--paste", url], "--device has no redirect"],
    [["login", "--device", "--require-iss", url], "--device has no redirect"],
    [["login", "--redirect-uri=https://a.example/", url], "--redirect-uri"],
    [["login", "--trusted-issuer=a=b", url], "--trusted-issuer requires"],
  ];
  await eachRowInTurn(rows, async ([args, message]) => {
    const { code, output, errors } = await run(args);
    assertEquals([code, output], [2, ""], args.join(" "));
    assertStringIncludes(errors, message);
    assertStringIncludes(errors, "--help");
    // What was typed may be a password.
    assert(!errors.includes("pw@"));
  });
});

Deno.test("runOn() returns 3 without a session where nobody can be asked, without a request", async () => {
  const fetch = () => Promise.reject(new Error("no request is expected"));
  using _fetch = replaceGlobals({ fetch });
  const rows: [args: string[], isTerminal: boolean][] = [
    [["token"], false],
    [["headers"], false],
    [["login", "--no-input"], false],
    [["token", "--no-input"], true],
  ];
  await eachRowInTurn(rows, async ([args, isTerminal]) => {
    const named = [...args, "--account", "work", "https://api.example/mcp#x"];
    const ran = await run(named, { isTerminal: () => isTerminal });
    assertEquals([ran.code, ran.output], [3, ""]);
    const login = "oauth-helper login https://api.example/mcp --account work";
    assertStringIncludes(ran.errors, login);
  });
});

Deno.test("runOn() prints a command that a shell reads as it is meant", async () => {
  const rows: [url: string, account: string, words: string][] = [
    ["https://a.example/?b=1&c=2", "work", "'https://a.example/?b=1&c=2'"],
    ["https://a.example/?$(id)`id`", "work", "'https://a.example/?$(id)`id`'"],
    ["https://a.example/it's;id", "work", "'https://a.example/it'\\''s;id'"],
    ["https://a.example/", "$(id)", "https://a.example/ --account '$(id)'"],
  ];
  await eachRowInTurn(rows, async ([url, account, words]) => {
    const { errors } = await run(["token", "--account", account, url]);
    assertStringIncludes(errors, `oauth-helper login ${words}`);
  });
});

Deno.test("runOn() lists no sessions where there is no directory", async () => {
  assertEquals((await run(["status"])).output, "No sessions.");
  assertEquals((await run(["status", "--json"])).output, "[]");
});
