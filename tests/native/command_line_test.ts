/** The example of a command-line program, as its users run it. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { startTestServers } from "../../lib/testing/mod.ts";
import { startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { bundledPrograms } from "../support/bundled_programs.ts";
import { inDirectory } from "../support/in_directory.ts";
import { type Running, type Start, start } from "../support/terminal.ts";

const example = new URL("../examples/command_line.ts", import.meta.url);
const source = await Deno.readTextFile(example);

/** Much shorter than a lease, and longer than a program takes to start. */
const AT_ONCE_MS = 5_000;

const RUNTIMES = ["deno", "node"] as const;

/** What runs the program: it has the permissions that its documentation names. */
async function createDesk(directory: string) {
  const options = source.match(/--allow-\S+/g) ?? [];
  assertEquals(options.length, 6);
  const programs = await bundledPrograms(example, directory, options);
  const servers = await startFlowServers();
  const { server, protectedResource: { resource } } = servers;
  return {
    requests: server.requests,
    resource,
    async home(name: string): Promise<string> {
      const home = `${directory}/${name}`;
      await Deno.mkdir(`${home}/.config`, { recursive: true });
      return home;
    },
    start(
      runtime: typeof RUNTIMES[number],
      given: Start,
      url = resource,
    ): Running {
      const { home } = given;
      const [command, ...args] = programs[runtime];
      const inHome = args.map((word) => word.replace("$HOME", home));
      // Without the command that opens a browser.
      const env = { PATH: home, NO_COLOR: "1" };
      return start([command, ...inHome, url], [], { ...given, env });
    },
    [Symbol.asyncDispose]: servers[Symbol.asyncDispose],
  };
}

type Desk = Awaited<ReturnType<typeof createDesk>>;

const withDesk = (task: (desk: Desk) => Promise<void>) => () =>
  inDirectory(async (directory) => {
    await using desk = await createDesk(directory);
    await task(desk);
  });

const URL_LINE = /open this URL:\n(\S+)\n/;

/** Signs in, or denies that, where the program prints the URL. */
async function signIn(program: Running, deny = false): Promise<void> {
  const [, url = ""] = await program.find(URL_LINE);
  const callback = await createBrowser({ deny }).authorize(new URL(url));
  await (await fetch(callback)).text();
}

Deno.test("command_line.ts has at most 40 lines", () => {
  const lines = source.trimEnd().split("\n");
  assert(lines.length <= 40, `${lines.length} lines`);
});

Deno.test(
  "command_line.ts signs in at the first run only, and refreshes what it keeps, in Deno and Node",
  withDesk(async (desk) => {
    const { requests, resource } = desk;
    const name = `${encodeURIComponent(resource)}.json`;
    for (const first of RUNTIMES) {
      const home = await desk.home(first);
      const program = desk.start(first, { home });
      await signIn(program);
      const { code, output } = await program.end();
      assertMatch(output, /^200 \{/);
      assertEquals(code, 0);
      const file = `${home}/.config/example/${name}`;
      const expected: string[] = [];
      for (const second of RUNTIMES) {
        requests.length = 0;
        const { code, output } = await desk.start(second, { home }).end();
        assertMatch(output, /^200 \{/);
        assertEquals([code, requests], [0, expected]);
        const session = JSON.parse(await Deno.readTextFile(file));
        session.token.expires_at = 1;
        await Deno.writeTextFile(file, JSON.stringify(session));
        expected.push("POST /token");
      }
    }
  }),
);

Deno.test(
  "command_line.ts ends with one line and the exit code 1 if the user denies the sign-in",
  withDesk(async (desk) => {
    for (const runtime of RUNTIMES) {
      const program = desk.start(runtime, { home: await desk.home(runtime) });
      await signIn(program, true);
      const { code, errors } = await program.end();
      assertMatch(
        errors.replace(URL_LINE, "|"),
        /\|OAuthClientError: .*access_denied.*\n$/,
      );
      assertEquals(code, 1);
    }
  }),
);

Deno.test({
  name:
    "command_line.ts releases the lock at an interrupt, in a terminal, and at SIGTERM",
  ignore: Deno.build.os !== "linux",
  fn: withDesk(async (desk) => {
    for (const runtime of RUNTIMES) {
      const home = await desk.home(runtime);
      for (const isTerminal of [true, false]) {
        const program = desk.start(runtime, { home, isTerminal });
        await program.find(URL_LINE);
        // Ctrl-C in a terminal.
        if (isTerminal) await program.type("\x03");
        else program.kill("SIGTERM");
        const begin = performance.now();
        const { code, output, errors } = await program.end();
        const text = (output + errors).replace(URL_LINE, "|");
        assertMatch(text, /\|(\^C)?Interrupted\n$/);
        assertEquals(code, 1);

        const again = desk.start(runtime, { home });
        await again.find(URL_LINE);
        const ms = performance.now() - begin;
        assert(ms < AT_ONCE_MS, `${runtime}: ${ms} ms`);
        again.kill("SIGTERM");
        await again.end();
      }
    }
  }),
});

Deno.test(
  "command_line.ts says that another process is signing in, and goes on with its session",
  withDesk(async (desk) => {
    const home = await desk.home("shared");
    const first = desk.start("node", { home });
    await first.find(URL_LINE);
    const others = RUNTIMES.map((runtime) => desk.start(runtime, { home }));
    for (const other of others) {
      const [, pid] = await other.find(
        /^Waiting for pid (\d+)\n/,
      );
      assertEquals(Number(pid), first.pid);
    }
    await signIn(first);
    for (const program of [first, ...others]) {
      const { code, output } = await program.end();
      assertMatch(output, /^200 \{/);
      assertEquals(code, 0);
    }
  }),
);

Deno.test(
  "command_line.ts prints why the API refuses a new token, in Deno and Node",
  withDesk(async (desk) => {
    const servers = await startTestServers();
    await using _ = { [Symbol.asyncDispose]: servers.close };
    const challenge =
      'Bearer error="invalid_token", error_description="expired"';
    servers.intercept = ({ endpoint, headers }) =>
      endpoint === "resource" && headers.has("Authorization")
        ? new Response("no", {
          status: 401,
          headers: { "WWW-Authenticate": challenge },
        })
        : undefined;
    for (const runtime of RUNTIMES) {
      const home = await desk.home(runtime);
      const program = desk.start(runtime, { home }, servers.resource);
      await signIn(program);
      const { output, errors } = await program.end();
      assertMatch(output, /^401 no\n/);
      assertMatch(errors, /error_description: ["']expired["']/);
    }
  }),
);
