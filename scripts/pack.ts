/**
 * Packs the sources as an npm package, as ESM with declarations and the program: for
 * those who install from a clone. Prints the path of the tarball; an argument is the
 * folder to write it to.
 *
 * `deno task build:npm` builds what is published.
 */
import { packSources } from "./support/package.ts";

console.log(await packSources(Deno.args[0] ?? Deno.cwd()));
