/** The program as a user runs it: in a terminal, or as a part of a script. */

/** On a busy machine, a sign-in takes a tenth of it. */
const LIMIT_MS = 60_000;

/** A runtime with the program, such as `["node", "main.js"]`. */
export type Program = readonly [command: string, ...args: string[]];

export interface Start {
  /** The home of the user, where the sessions are. */
  readonly home: string;
  /** Whether its three streams are a terminal. @default false */
  readonly isTerminal?: boolean;
  /** Where the standard output goes instead, as in `TOKEN=$(...)`. */
  readonly outputFile?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Running {
  readonly pid: number;
  find(pattern: RegExp): Promise<RegExpExecArray>;
  /** Types; `\x03` is Ctrl-C in a terminal. */
  type(text: string): Promise<void>;
  kill(signal: Deno.Signal): void;
  end(): Promise<{ code: number; output: string; errors: string }>;
}

const quote = (argument: string) => `'${argument.replaceAll("'", `'\\''`)}'`;

function inherited(name: string): Record<string, string> {
  const value = Deno.env.get(name);
  return value === undefined ? {} : { [name]: value };
}

/** Starts the program. Without a terminal, `script` is not needed. */
export function start(
  [command, ...first]: Program,
  args: readonly string[],
  { home, isTerminal = false, outputFile, env = {} }: Start,
): Running {
  const words = [command, ...first, ...args];
  const line = `exec ${words.map(quote).join(" ")}` +
    (outputFile === undefined ? "" : ` > ${quote(outputFile)}`);
  const child = new Deno.Command(isTerminal ? "/usr/bin/script" : "/bin/sh", {
    args: isTerminal ? ["-qefc", line, "/dev/null"] : ["-c", line],
    clearEnv: true,
    env: {
      HOME: home,
      PATH: "/usr/bin:/bin",
      // Opens nothing: `xdg-open` needs as long as the rest of a sign-in.
      BROWSER: "true",
      SHELL: "/bin/sh",
      TERM: "xterm",
      ...inherited("DENO_DIR"),
      // So that `deno task coverage` counts what the program runs.
      ...inherited("DENO_COVERAGE_DIR"),
      ...env,
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const printed = { output: "", errors: "" };
  let isOver = false;
  let changed = Promise.withResolvers<void>();
  const note = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const read = async (
    stream: ReadableStream<Uint8Array<ArrayBuffer>>,
    name: keyof typeof printed,
  ) => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      // A terminal ends lines with CR and LF.
      printed[name] += chunk.replaceAll("\r", "");
      note();
    }
  };
  const ended = Promise.all([
    child.status,
    read(child.stdout, "output"),
    read(child.stderr, "errors"),
  ]).then(([{ code }]) => {
    isOver = true;
    note();
    return code;
  });
  const text = () => printed.output + printed.errors;
  const writer = child.stdin.getWriter();
  const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  return {
    pid: child.pid,
    async find(pattern) {
      for (;;) {
        const found = pattern.exec(text());
        if (found) return found;
        if (isOver) throw new Error(`No ${pattern} in ${text()}`);
        await changed.promise;
      }
    },
    kill: (signal) => child.kill(signal),
    type: (typed) => writer.write(new TextEncoder().encode(typed)),
    async end() {
      const code = await ended;
      clearTimeout(timer);
      await writer.close().catch(() => {});
      return { code, ...printed };
    },
  };
}
