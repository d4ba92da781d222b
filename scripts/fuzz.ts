/**
 * Fuzzes the parsers, the claims decoder and the builders in large, in batches
 * that `deno task test tests/fuzz` can repeat by their seeds; then times hostile
 * texts. Prints what was measured; only a failed property fails.
 *
 * `deno task fuzz [inputs] [seed]`: ten million inputs and a seed by chance when
 * absent; inputs are rounded up to whole batches of 100,000. `--for=minutes`
 * stops with the first batch that ends after so many minutes.
 */
import { deno, importMapArgs, root } from "./support/deno.ts";

// A process of its own, as this one cannot choose how packages are found.
const script = new URL("tests/fuzz/_long_run.ts", root).href;
const map = await importMapArgs();
Deno.exit(await deno("run", "-A", ...map, script, ...Deno.args));
