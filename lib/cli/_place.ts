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

/** Returns the key of encrypted sessions, if a command for it is given. */
export function keyOf({ keyCommand }: IArguments) {
  return keyCommand === undefined
    ? undefined
    : async () => await (await import("./_key_command.ts")).readKey(keyCommand);
}

/** Returns the store of the session that the arguments name. */
export async function storeOf(
  given: IArguments & { readonly url: URL },
  host: IHost,
): Promise<IKeptSessionStore> {
  const name = { url: given.url.href, account: given.account };
  const path = join(await directoryOf(host), await fileNameOf(name));
  return sessionStore(path, name, keyOf(given));
}
