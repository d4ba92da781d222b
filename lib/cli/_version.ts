/** The version of the program, which is that of the package. */

/** As in deno.json, which a package for npm does not have. */
export const VERSION = "0.14.0";
