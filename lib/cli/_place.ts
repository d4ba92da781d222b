/** Where the session for a resource and an account is kept. */

import { join } from "node:path";
import { isOAuthClientError } from "../core/errors.ts";
import type { Arguments } from "./_arguments.ts";
import { ExitCode, Failure } from "./_failure.ts";
import type { Host } from "./_host.ts";
import {
  fileNameOf,
  type KeptSessionStore,
  sessionStore,
} from "./_session_file.ts";
import type { SessionFile } from "./_session_files.ts";
import { homeOf, stateDirectory } from "./_state_directory.ts";

async function directoryOf({ platform, env }: Host): Promise<string> {
  const home = homeOf(platform, env) ?? (await import("node:os")).homedir();
  return stateDirectory(platform, env, home);
}

/**
 * Returns the key of encrypted sessions from its command, which runs once: it may
 * prompt for a password.
 */
function keyReaderOf({ keyCommand }: Arguments) {
  if (keyCommand === undefined) return undefined;
  let key: Promise<Uint8Array> | undefined;
  const read = async () =>
    await (await import("./_key_command.ts")).readKey(keyCommand);
  return () => key ??= read();
}

/** Environment variables that move the sessions' directory, for a fix. */
const VARIABLES: Readonly<Record<string, string>> = {
  win32: "LOCALAPPDATA",
  darwin: "HOME",
};

/**
 * Runs a function that uses the sessions' directory. If the file system rejects that,
 * the error names the directory.
 */
async function inDirectory<T>(
  directory: string,
  { platform }: Host,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isOfFile = error instanceof Error && !(error instanceof Failure) &&
      (!isOAuthClientError(error) || error.code === "invalid_argument");
    if (!isOfFile) throw error;
    throw new Failure(
      ExitCode.Failed,
      `The sessions in ${directory} cannot be used: ${error.message}`,
      `Set ${
        VARIABLES[platform] ?? "XDG_STATE_HOME"
      } to a directory that this ` +
        "user can write to, or change its permissions.",
    );
  }
}

/** Returns a store whose errors of the file system name the directory. */
function namingDirectory(
  store: KeptSessionStore,
  directory: string,
  host: Host,
): KeptSessionStore {
  const within = <T>(run: () => Promise<T>) =>
    inDirectory(directory, host, run);
  return {
    ...store,
    load: () => within(store.load),
    save: (session, former) => within(() => store.save(session, former)),
    async lock(task, signal) {
      // The task's own errors are not errors of the file system.
      let failure: { error: unknown } | undefined;
      const result = within(() =>
        store.lock!(async () => {
          try {
            return await task();
          } catch (error) {
            failure = { error };
            throw error;
          }
        }, signal)
      );
      return await result.catch((error) => {
        signal?.throwIfAborted();
        throw failure ? failure.error : error;
      });
    },
  };
}

export interface PlacedSessionStore extends KeptSessionStore {
  /** Fails without a key for the session to save. */
  requireKey(): Promise<void>;
}

export async function filesOf(
  given: Arguments,
  host: Host,
): Promise<SessionFile[]> {
  const directory = await directoryOf(host);
  const { sessionFilesIn } = await import("./_session_files.ts");
  return await inDirectory(
    directory,
    host,
    () => sessionFilesIn(directory, keyReaderOf(given)),
  );
}

/** Returns the store of the session that the arguments name. */
export async function storeOf(
  given: Arguments & { readonly url: URL },
  host: Host,
  file?: string,
): Promise<PlacedSessionStore> {
  const name = { url: given.url.href, account: given.account };
  const directory = await directoryOf(host);
  const path = file ?? join(directory, await fileNameOf(name));
  const key = keyReaderOf(given);
  const requireKey = async () => void await key?.();
  const onWait = (pid?: number) => {
    if (given.quiet) return;
    const holder = pid === undefined ? "another process" : `process ${pid}`;
    host.printError(
      `Waiting for ${holder}, which signs in or refreshes the token`,
    );
  };
  const store = sessionStore(path, name, { key, onWait });
  return { ...namingDirectory(store, directory, host), requireKey };
}
