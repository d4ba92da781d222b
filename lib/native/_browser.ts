/** Opening a URL in the user's browser. */

import { spawn } from "node:child_process";
import { win32 } from "node:path";
import process from "node:process";

type Command = readonly [program: string, ...args: string[]];

/** Returns the command that opens a URL, without the URL. */
export function browserCommand(
  platform: string,
  env: Readonly<Record<string, string | undefined>>,
): Command {
  if (platform === "darwin") return ["open"];
  if (platform !== "win32") return ["xdg-open"];
  // By its path: Windows looks up a name in the current directory first.
  const root = env.SystemRoot ?? "C:\\Windows";
  const program = win32.join(root, "System32", "rundll32.exe");
  // Not `start`, which is a shell command: `&` would have to be escaped.
  return [program, "url.dll,FileProtocolHandler"];
}

/**
 * Opens a URL with the command of the platform, without a shell. Throws or
 * rejects if the command cannot be run or fails. Some commands run as long as the
 * browser does; they do not keep this process alive.
 *
 * The URL is an argument, which other users of the machine can read. A private file
 * with a page that redirects cannot replace it: browsers in a Snap, or outside the
 * container or WSL of this process, cannot read the file, although the command
 * succeeds; and HTML files may open in another program.
 */
export function openBrowser(url: string): Promise<void> {
  const [program, ...args] = browserCommand(process.platform, process.env);
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args, url], {
      stdio: "ignore",
      detached: true,
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${program} ended with code ${code}`));
    });
    child.unref();
  });
}
