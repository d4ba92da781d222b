/** The example of a command-line program, as its users run it. */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { type IFlowServers, startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { bundle } from "../support/bundle.ts";
import { LIMIT_MS, within } from "../support/within.ts";
import { findNode } from "./_node.ts";

const example = new URL("../examples/command_line.ts", import.meta.url);
const source = await Deno.readTextFile(example);

/** Much shorter than a lease, and longer than a program takes to start. */
const AT_ONCE_MS = 5_000;

/** A program that runs, in a terminal or not. */
interface IRunning {
  readonly child: Deno.ChildProcess;
  /** Waits for a pattern in what it has printed. */
  find(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits for the end; returns the exit code and all that it has printed. */
  end(): Promise<{ code: number; text: string }>;
}

type Runtime = "deno" | "node";

interface IStartOptions {
  home: string;
  isInTerminal?: boolean;
}

/** What runs the program: it has the permissions that its documentation names. */
class Desk implements AsyncDisposable {
  readonly #directory: string;
  readonly #node: string;
  readonly servers: IFlowServers;

  private constructor(directory: string, node: string, servers: IFlowServers) {
    this.#directory = directory;
    this.#node = node;
    this.servers = servers;
  }

  static async create(): Promise<Desk> {
    const directory = await Deno.makeTempDir();
    await bundle(example.pathname, `${directory}/command_line.mjs`);
    const servers = await startFlowServers();
    return new Desk(directory, await findNode(), servers);
  }

  async home(name: string): Promise<string> {
    const home = `${this.#directory}/${name}`;
    await Deno.mkdir(`${home}/.config`, { recursive: true });
    return home;
  }

  start(
    runtime: Runtime,
    { home, isInTerminal = false }: IStartOptions,
  ): IRunning {
    const permissions = [...source.matchAll(/--allow-\S+/g)]
      .map(([option]) => option.replace("$HOME", home));
    assertEquals(permissions.length, 6);
    const command = [
      ...runtime === "node"
        ? [this.#node]
        : [Deno.execPath(), "run", "--quiet", "--no-config", ...permissions],
      `${this.#directory}/command_line.mjs`,
      this.servers.protectedResource.resource,
    ];
    const [program = "", ...args] = isInTerminal
      ? ["/usr/bin/script", "-qefc", `exec ${command.join(" ")}`, "/dev/null"]
      : command;
    const child = new Deno.Command(program, {
      args,
      // Without the command that opens a browser.
      env: { HOME: home, PATH: home, NO_COLOR: "1", SHELL: "/bin/sh" },
      stdin: isInTerminal ? "piped" : "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    let text = "";
    let onText = () => {};
    const read = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
      for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
        // A terminal ends lines with CR and LF.
        text += chunk.replaceAll("\r", "");
        onText();
      }
    };
    const reading = Promise.all([child.stdout, child.stderr].map(read));
    return {
      child,
      async find(pattern) {
        for (;;) {
          const match = pattern.exec(text);
          if (match) return match;
          const { promise, resolve } = Promise.withResolvers<void>();
          onText = resolve;
          const ended = reading.then(() => {
            if (!pattern.exec(text)) throw new Error(`Not in ${text}`);
          });
          await within(LIMIT_MS, Promise.race([promise, ended]));
        }
      },
      async end() {
        await within(LIMIT_MS, reading);
        if (isInTerminal) await child.stdin.close().catch(() => {});
        return { code: (await child.status).code, text };
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.servers[Symbol.asyncDispose]();
    await Deno.remove(this.#directory, { recursive: true });
  }
}

const URL_LINE = /open this URL:\n(\S+)\n/;

/** Signs in, or denies that, where the program prints the URL. */
async function signIn(program: IRunning, deny = false): Promise<void> {
  const [, url = ""] = await program.find(URL_LINE);
  const callback = await createBrowser({ deny }).authorize(new URL(url));
  await (await fetch(callback)).text();
}

const RUNTIMES = ["deno", "node"] as const;

Deno.test("command_line.ts has at most 40 lines", () => {
  const lines = source.trimEnd().split("\n");
  assert(lines.length <= 40, `${lines.length} lines`);
});

Deno.test("command_line.ts signs in at the first run only, and refreshes what it keeps, in Deno and Node", async () => {
  await using desk = await Desk.create();
  const { requests } = desk.servers.server;
  for (const first of RUNTIMES) {
    const home = await desk.home(first);
    const program = desk.start(first, { home });
    await signIn(program);
    const { code, text } = await program.end();
    assertMatch(text, /\n200 \{/);
    assertEquals(code, 0);
    const file = `${home}/.config/example/127.0.0.1.json`;
    const expected: string[] = [];
    for (const second of RUNTIMES) {
      requests.length = 0;
      const { code, text } = await desk.start(second, { home }).end();
      assertMatch(text, /^200 \{/);
      assertEquals([code, requests], [0, expected]);
      const session = JSON.parse(await Deno.readTextFile(file));
      session.token.expires_at = 1;
      await Deno.writeTextFile(file, JSON.stringify(session));
      expected.push("POST /token");
    }
  }
});

Deno.test("command_line.ts ends with one line and the exit code 1 if the user denies the sign-in", async () => {
  await using desk = await Desk.create();
  for (const runtime of RUNTIMES) {
    const program = desk.start(runtime, { home: await desk.home(runtime) });
    await signIn(program, true);
    const { code, text } = await program.end();
    assertMatch(
      text.replace(URL_LINE, "|"),
      /\|OAuthClientError: .*access_denied.*\n$/,
    );
    assertEquals(code, 1);
  }
});

Deno.test({
  name:
    "command_line.ts releases the lock at an interrupt, in a terminal, and at SIGTERM",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using desk = await Desk.create();
    for (const runtime of RUNTIMES) {
      const home = await desk.home(runtime);
      for (const isInTerminal of [true, false]) {
        const program = desk.start(runtime, { home, isInTerminal });
        await program.find(URL_LINE);
        if (isInTerminal) {
          const writer = program.child.stdin.getWriter();
          await writer.write(new Uint8Array([3])); // Ctrl-C
          writer.releaseLock();
        } else {
          program.child.kill("SIGTERM");
        }
        const start = performance.now();
        const { code, text } = await program.end();
        assertMatch(text.replace(URL_LINE, "|"), /\|(\^C)?Interrupted\n$/);
        assertEquals(code, 1);

        const again = desk.start(runtime, { home });
        await again.find(URL_LINE);
        const ms = performance.now() - start;
        assert(ms < AT_ONCE_MS, `${runtime}: ${ms} ms`);
        again.child.kill("SIGTERM");
        await again.end();
      }
    }
  },
});

Deno.test("command_line.ts says that another process is signing in, and goes on with its session", async () => {
  await using desk = await Desk.create();
  const home = await desk.home("shared");
  const first = desk.start("node", { home });
  await first.find(URL_LINE);
  const others = RUNTIMES.map((runtime) => desk.start(runtime, { home }));
  for (const other of others) {
    const [, pid] = await other.find(
      /^Another process \(pid (\d+)\) is signing in\n/,
    );
    assertEquals(Number(pid), first.child.pid);
  }
  await signIn(first);
  for (const program of [first, ...others]) {
    const { code, text } = await program.end();
    assertMatch(text, /\n200 \{/);
    assertEquals(code, 0);
  }
});
