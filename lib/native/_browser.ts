/** Opening a URL in the user's browser. */

import { spawn } from "node:child_process";
import { win32 } from "node:path";
import process from "node:process";

type Command = readonly [program: string, ...args: string[]];

/** Where WSL has the system directory of Windows, whose programs it can run. */
const SYSTEM_IN_WSL = "/mnt/c/Windows/System32";

/** The function of Windows that opens a URL in the default browser. */
const HANDLER = "url.dll,FileProtocolHandler";

/**
 * Returns the commands in `$BROWSER`: a list of programs, or of command lines in which
 * `%s` is the URL. A program may have spaces in its name, so an entry is first tried as
 * a whole.
 */
function namedCommands(entries: readonly string[], url: string): Command[] {
  return entries.flatMap((entry) => {
    const [program, ...args] = entry.trim().split(/\s+/);
    if (!program) return [];
    if (args.length === 0) return [[program, url]];
    const hasPlace = args.some((one) => one.includes("%s"));
    const line: Command = hasPlace
      ? [program, ...args.map((one) => one.replaceAll("%s", () => url))]
      : [program, ...args, url];
    return hasPlace ? [line] : [[entry.trim(), url], line];
  });
}

/** Returns the commands that open a URL, in the order in which they are tried. */
export function browserCommands(
  platform: string,
  env: Readonly<Record<string, string | undefined>>,
  url: string,
): Command[] {
  const isWindows = platform === "win32";
  const entries = env.BROWSER?.split(isWindows ? ";" : ":") ?? [];
  const named = namedCommands(entries, url);
  if (platform === "darwin") return [...named, ["open", url]];
  if (isWindows) {
    // By its path: Windows looks up a name in the current directory first.
    const root = env.SystemRoot ?? "C:\\Windows";
    const program = win32.join(root, "System32", "rundll32.exe");
    // Not `start`, which is a shell command: `&` would have to be escaped.
    return [...named, [program, HANDLER, url]];
  }
  // Without wslu, and with an `xdg-open` that finds no browser, Windows has one.
  const inWsl: Command[] = env.WSL_DISTRO_NAME
    ? [["wslview", url], [`${SYSTEM_IN_WSL}/rundll32.exe`, HANDLER, url]]
    : [];
  return [...named, ...inWsl, ["xdg-open", url]];
}

/** An error of a command that has not been started. */
class NotStarted extends Error {}

/** Runs a command without a shell; rejects if it cannot be run, or fails. */
function run([program, ...args]: Command): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (cause: unknown) =>
      reject(new NotStarted(`Cannot start ${program}`, { cause }));
    try {
      const child = spawn(program, args, { stdio: "ignore", detached: true });
      child.once("error", refuse);
      child.once("exit", (code) => {
        if (code === 0) resolve();
        else reject(new Error(`${program} ended with code ${code}`));
      });
      child.unref();
    } catch (error) {
      // Deno throws where it has no permission to run the program.
      refuse(error);
    }
  });
}

/**
 * Opens a URL with `$BROWSER` or the command of the platform, whichever is there,
 * without a shell. Throws or rejects if no command can be run, or the first that can be
 * run fails: it may still have opened the browser. Some commands run as long as the
 * browser does; they do not keep this process alive.
 *
 * The URL is an argument, which other users of the machine can read. A private file
 * with a page that redirects cannot replace it: browsers in a Snap, or outside the
 * container or WSL of this process, cannot read the file, although the command
 * succeeds; and HTML files may open in another program.
 */
export async function openBrowser(url: string): Promise<void> {
  const commands = browserCommands(process.platform, process.env, url);
  for (const [index, command] of commands.entries()) {
    try {
      return await run(command);
    } catch (error) {
      const isLast = index === commands.length - 1;
      if (isLast || !(error instanceof NotStarted)) throw error;
    }
  }
}
