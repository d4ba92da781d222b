/** Headless Chromium, by its debugging interface. */

import { hasProgram } from "./has_program.ts";
import { printed } from "./printed.ts";
import { LIMIT_MS, until, within } from "./within.ts";

const PROGRAMS = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/** Between two looks at a page: each costs the browser some time. */
export const PAUSE_MS = 25;

export interface Browser extends AsyncDisposable {
  open(url: string): Promise<string>;
  close(id: string): Promise<void>;
  /** The pages that are open: tabs, popups and frames of other sites. */
  targets(): Promise<Target[]>;
  attach(id: string): Promise<Page>;
}

/** A page as the browser lists it. */
export interface Target {
  readonly id: string;
  readonly type: string;
  readonly url: string;
}

/** A page that is controlled. It ends with the browser, or when it is closed. */
export interface Page {
  readonly id: string;
  /** Runs code in the page; `isClick` allows what browsers allow after a click. */
  run(code: string, isClick?: boolean): Promise<unknown>;
  /** Waits until code returns something that counts as true; returns that. */
  find(code: string): Promise<unknown>;
  send(method: string, params?: object): Promise<Record<string, unknown>>;
}

export function findChromium(): string | undefined {
  return PROGRAMS.find(hasProgram);
}

function spawn(directory: string, args: readonly string[]): Deno.ChildProcess {
  const program = findChromium();
  if (!program) throw new Error(`None of ${PROGRAMS.join(", ")} is installed`);
  return new Deno.Command(program, {
    args: [
      "--headless",
      "--disable-gpu",
      "--no-first-run",
      // Chromium does not run as root with its sandbox.
      ...(Deno.build.os !== "windows" && Deno.uid() === 0
        ? ["--no-sandbox"]
        : []),
      "--remote-debugging-port=0",
      `--user-data-dir=${directory}`,
      ...args,
      "about:blank",
    ],
    stdout: "null",
    stderr: "piped",
  }).spawn();
}

async function attach(id: string, host: string): Promise<Page> {
  const socket = new WebSocket(`ws://${host}/devtools/page/${id}`);
  await within(
    LIMIT_MS,
    new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    }),
  );
  let count = 0;
  const waiting = new Map<number, (message: Record<string, unknown>) => void>();
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  };
  socket.onclose = () => {
    for (const end of waiting.values()) end({ error: "The page was closed" });
  };
  const send: Page["send"] = async (method, params = {}) => {
    const { promise, resolve } = Promise.withResolvers<
      Record<string, unknown>
    >();
    waiting.set(++count, resolve);
    socket.send(JSON.stringify({ id: count, method, params }));
    const { result, error } = await within(LIMIT_MS, promise);
    if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result as Record<string, unknown>;
  };
  const run: Page["run"] = async (expression, userGesture = false) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", {
      expression,
      userGesture,
      awaitPromise: true,
      returnByValue: true,
    }) as {
      result: { value?: unknown };
      exceptionDetails?: { exception?: { description?: string } };
    };
    if (exceptionDetails) {
      const { exception } = exceptionDetails;
      throw new Error(`${expression}: ${exception?.description}`);
    }
    return result.value;
  };
  return {
    id,
    send,
    run,
    async find(code) {
      let found: unknown;
      // A page that is being left has no context for code.
      await until(
        LIMIT_MS,
        async () => Boolean(found = await run(code).catch(() => undefined)),
        PAUSE_MS,
      );
      return found;
    },
  };
}

export async function startBrowser(
  args: readonly string[] = [],
): Promise<Browser> {
  const directory = await Deno.makeTempDir();
  const child = spawn(directory, args);
  const { match: [, host = ""], ended } = await printed(
    child.stderr,
    /DevTools listening on ws:\/\/([^/]+)/,
  );
  const request = async (path: string, method: string) => {
    const response = await fetch(`http://${host}/json/${path}`, { method });
    return await response.text();
  };
  return {
    async open(url) {
      const target = await request(`new?${encodeURIComponent(url)}`, "PUT");
      return JSON.parse(target).id;
    },
    async close(id) {
      await request(`close/${id}`, "GET");
    },
    async targets() {
      return JSON.parse(await request("list", "GET"));
    },
    attach: (id) => attach(id, host),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await Promise.all([child.status, ended]);
      // Its helper processes may still write for a moment.
      await Deno.remove(directory, { recursive: true }).catch(() => {});
    },
  };
}
