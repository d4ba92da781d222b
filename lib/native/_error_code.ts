/** Codes of errors of the file system. */

/** Checks the code of an error. */
export function hasCode(error: unknown, code: string): boolean {
  return (error as { code?: unknown } | undefined)?.code === code;
}

/** Checks whether an error means that there is no such file. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, "ENOENT");
}
