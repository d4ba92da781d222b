/** The version of the program, which is the version of the package. */

/** Repeated from deno.json, which the package for npm does not contain. */
export const VERSION = "1.0.0";
