/** What `deno task fuzz` runs; scripts/fuzz.ts says with which arguments. */
import { cpus } from "node:os";
import { findChallenge, parseWWWAuthenticateHeader } from "../../mod.ts";
import { formatTable } from "../../scripts/support/table.ts";
import { hugeTexts } from "../support/challenge_texts.ts";
import { PROPERTIES, runProperty, seedFrom, SEEDS } from "./properties.ts";

const BATCH = 100_000;
/** Odd, so that every batch has a seed of its own, far from the last one's. */
const SEED_STEP = 0x9e3779b1;

function seconds(since: number): string {
  return ((performance.now() - since) / 1_000).toFixed(0);
}

/** Runs batch after batch; whether all properties held. */
function fuzz(inputs: number, seed: number, minutes: number): boolean {
  const start = performance.now();
  const batches = Math.ceil(inputs / BATCH);
  const wanted = (batches * BATCH).toLocaleString("en-US");
  console.log(`Fuzzing with ${wanted} inputs, seed ${seed}`);
  let total = 0;
  for (let batch = 0; batch < batches; batch++) {
    const batchSeed = (seed + batch * SEED_STEP) % SEEDS;
    for (const one of PROPERTIES) {
      try {
        total += runProperty(one, BATCH, batchSeed);
      } catch (error) {
        console.error(error);
        console.log(
          `FAILED in batch ${batch} after ${total} inputs, seed ${seed}, ` +
            `${seconds(start)} s`,
        );
        return false;
      }
    }
    if (batch % 5 === 4) {
      console.log(
        `${total.toLocaleString("en-US")} inputs, ${seconds(start)} s`,
      );
    }
    if (performance.now() - start > minutes * 60_000) break;
  }
  console.log(
    `Inputs: ${total.toLocaleString("en-US")}; seed: ${seed}; ` +
      `duration: ${seconds(start)} s; result: every property held.\n`,
  );
  return true;
}

/** Prints the longest time that each parser needs for a hostile string of 64 kB. */
function printTimes(): void {
  const parsers = [parseWWWAuthenticateHeader, findChallenge];
  const rows = parsers.map((parse) => {
    let longest = 0;
    for (const text of hugeTexts()) {
      const start = performance.now();
      try {
        parse(text);
      } catch {
        // An error is a valid outcome.
      }
      longest = Math.max(longest, performance.now() - start);
    }
    return { parser: parse.name, "ms for 64 kB": longest.toFixed(2) };
  });
  console.log(formatTable(rows));
}

function main(args: string[]): boolean {
  const [inputs = "10000000", seed] = args.filter((arg) => !/^--/.test(arg));
  const limit = args.find((arg) => arg.startsWith("--for="))?.slice(6);
  const { deno, v8 } = Deno.version;
  console.log(
    `${new Date().toISOString()}, Deno ${deno}, V8 ${v8}, ` +
      `${cpus().length} x ${cpus()[0]?.model}`,
  );
  if (!(Number(inputs) >= 0)) throw new TypeError("inputs must be a number");
  const held = fuzz(Number(inputs), seedFrom(seed), Number(limit ?? Infinity));
  printTimes();
  return held;
}

if (import.meta.main) Deno.exit(main(Deno.args) ? 0 : 1);
