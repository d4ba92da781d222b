/** Opening a URL in the user's browser. */

import { spawn } from "node:child_process";
import process from "node:process";

type Command = readonly [program: string, ...args: string[]];

const COMMANDS: Partial<Record<string, Command>> = {
  darwin: ["open"],
  // Not `start`, which is a command of the shell: `&` would have to be escaped.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
const OTHER_COMMAND: Command = ["xdg-open"];

/**
 * Opens a URL with the command of the platform, without a shell. Rejects if the
 * command cannot be run or fails. Some commands run as long as the browser does;
 * they do not keep this process alive.
 */
export function openBrowser(url: string): Promise<void> {
  const [program, ...args] = COMMANDS[process.platform] ?? OTHER_COMMAND;
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
