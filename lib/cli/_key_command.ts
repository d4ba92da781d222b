/** The key of encrypted sessions, from the output of a command. */

import { spawn } from "node:child_process";
import { decodeBase64Url } from "../core/_base64.ts";
import { ExitCode, Failure } from "./_failure.ts";

const KEY_BYTES = 32;

/** Runs a command of the user's shell; returns its output. */
function outputOf(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    // The command may prompt for a password, or print why it fails.
    const stdio = ["inherit", "pipe", "inherit"] as const;
    const child = spawn(command, { shell: true, stdio: [...stdio] });
    let text = "";
    child.stdout!.setEncoding("utf8");
    child.stdout!.on("data", (chunk: string) => text += chunk);
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) return resolve(text);
      const message = `The command of --key-command ended with code ${code}`;
      reject(new Failure(ExitCode.Failed, message));
    });
  });
}

export async function readKey(command: string): Promise<Uint8Array> {
  let key = new Uint8Array();
  try {
    key = decodeBase64Url((await outputOf(command)).trim());
  } catch (error) {
    if (error instanceof Failure) throw error;
  }
  if (key.length === KEY_BYTES) return key;
  // The output is not shown, because it may still be a key.
  throw new Failure(
    ExitCode.Failed,
    `The command of --key-command must print ${KEY_BYTES} bytes as base64`,
    "`openssl rand -base64 32` makes such a key.",
  );
}
