import { spawn } from "node:child_process";
import { win32 } from "node:path";
import process from "node:process";

type Command = readonly [program: string, ...args: string[]];

/** WSL can run Windows programs from this directory. */
const SYSTEM_IN_WSL = "/mnt/c/Windows/System32";

const HANDLER = "url.dll,FileProtocolHandler";

/**
 * Returns the commands in `$BROWSER`: programs, or command lines in which `%s` is the
 * URL. Names may contain spaces, so an entry is first tried as a whole.
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

/** Returns the commands that open a URL, in order. */
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
    // Not `start`, a shell command, which would require escaping `&`.
    return [...named, [program, HANDLER, url]];
  }
  // Without wslu, and with an `xdg-open` that finds no browser, Windows provides one.
  const inWsl: Command[] = env.WSL_DISTRO_NAME
    ? [["wslview", url], [`${SYSTEM_IN_WSL}/rundll32.exe`, HANDLER, url]]
    : [];
  return [...named, ...inWsl, ["xdg-open", url]];
}

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
      // Deno throws without permission to run the program.
      refuse(error);
    }
  });
}

/**
 * Opens a URL with `$BROWSER` or the platform's command, without a shell. Fails if no
 * command can be run, or the first one fails; that may still have opened the browser.
 * Some commands run as long as the browser; they do not keep this process alive.
 *
 * Other users of the machine can read the URL, which is an argument. A private file
 * with a redirecting page is no alternative: browsers in a Snap, or outside this
 * container or WSL, cannot read it, and HTML files may open in another program.
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
