/** Where sessions are kept: the same place for all versions. */

import { posix, win32 } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

const NAME = "oauth-helper";

/** Returns undefined if the environment names no home. */
export function homeOf(
  platform: string,
  env: Environment,
): string | undefined {
  return (platform === "win32" ? env.USERPROFILE : env.HOME) || undefined;
}

/**
 * Returns the directory for programs' state: on Linux and others by the XDG Base
 * Directory Specification, whose variables must be absolute paths.
 */
export function stateDirectory(
  platform: string,
  env: Environment,
  home: string,
): string {
  if (platform === "win32") {
    const { LOCALAPPDATA } = env;
    return win32.join(
      LOCALAPPDATA || win32.join(home, "AppData", "Local"),
      NAME,
    );
  }
  if (platform === "darwin") {
    return posix.join(home, "Library", "Application Support", NAME);
  }
  const { XDG_STATE_HOME = "" } = env;
  return posix.isAbsolute(XDG_STATE_HOME)
    ? posix.join(XDG_STATE_HOME, NAME)
    : posix.join(home, ".local", "state", NAME);
}
