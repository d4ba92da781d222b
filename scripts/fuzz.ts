/**
 * Fuzzes the parsers, the claims decoder and the builders, in batches that
 * `deno task test tests/fuzz` can repeat by their seeds. Then measures the time for
 * hostile input, and prints it. Only a property that does not hold is a failure.
 *
 * `deno task fuzz [inputs] [seed]`: the default is ten million inputs and a random
 * seed. The inputs are rounded up to batches of 100,000. `--for=minutes` stops
 * after the first batch that ends after this many minutes.
 */
import { deno, importMapArgs, root } from "./support/deno.ts";

// In another process, because this one cannot choose its import map.
const script = new URL("tests/fuzz/_long_run.ts", root).href;
const map = await importMapArgs();
Deno.exit(await deno("run", "-A", ...map, script, ...Deno.args));
