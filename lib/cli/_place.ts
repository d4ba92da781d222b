/** Where the session for a resource and an account is kept. */

import { join } from "node:path";
import type { IArguments } from "./_arguments.ts";
import type { IHost } from "./_host.ts";
import {
  fileNameOf,
  type IKeptSessionStore,
  sessionStore,
} from "./_session_file.ts";
import { homeOf, stateDirectory } from "./_state_directory.ts";

/** Returns the directory of all sessions. */
export async function directoryOf({ platform, env }: IHost): Promise<string> {
  const home = homeOf(platform, env) ?? (await import("node:os")).homedir();
  return stateDirectory(platform, env, home);
}

/**
 * Returns the key of encrypted sessions, if there is a command for it. The command runs
 * once: it may ask for a password.
 */
export function keyOf({ keyCommand }: IArguments) {
  if (keyCommand === undefined) return undefined;
  let key: Promise<Uint8Array> | undefined;
  const read = async () =>
    await (await import("./_key_command.ts")).readKey(keyCommand);
  return () => key ??= read();
}

/** The store of the session that the arguments name. */
export interface IPlacedSessionStore extends IKeptSessionStore {
  /** Fails if there is no key for what is to be saved. */
  requireKey(): Promise<void>;
}

/** Returns the store of the session that the arguments name. */
export async function storeOf(
  given: IArguments & { readonly url: URL },
  host: IHost,
): Promise<IPlacedSessionStore> {
  const name = { url: given.url.href, account: given.account };
  const path = join(await directoryOf(host), await fileNameOf(name));
  const key = keyOf(given);
  const requireKey = async () => void await key?.();
  return { ...sessionStore(path, name, key), requireKey };
}
