/** The time that the parsers need for hostile strings, cold and warm, and doubled. */
import {
  findChallenge,
  getClaimsFromJWT,
  parseChallenges,
  parseWWWAuthenticateHeader,
} from "../../mod.ts";
import {
  formatTable,
  received,
  type Row,
  verdict,
} from "../../scripts/bench/timing.ts";
import { assertClaimsError } from "./properties.ts";

const GOALS = { parserMs: 20, doublingAtMost: 2.5, tokenMs: 50 };
const KIB_64 = 65_536;
const ROUNDS = 7;
/** Shorter samples say little beside the clock's resolution. */
const SAMPLE_MS = 2;

const PATTERNS: [name: string, unit: (index: number) => string][] = [
  ["commas", () => ","],
  ["spaces", () => " "],
  ["tabs", () => "\t"],
  ["A A A", () => "A "],
  ["A,A,A", () => "A,"],
  ["A A,", () => "A A,"],
  ["quotes", () => '"'],
  ["backslashes", () => "\\"],
  ["escaped quotes", () => '\\"'],
  ['a="b",', () => 'a="b",'],
  ['a="b" without commas', () => 'a="b" '],
  ["distinct names", (index) => `a${index}=b,`],
  ["one long token", () => "a"],
  ["= runs", () => "="],
  ["a= runs", () => "a="],
  ["a =, with spaces", () => "a = ,"],
  ["a== as token68", () => "A a==,"],
  ['="', () => '="'],
  ['a=" \\', () => 'a="\\'],
  ["A b=c, as challenges", () => "A b=c,"],
  ["~ and =", () => "a~="],
  ["NUL", () => "\0"],
  ["U+20AC", () => "\u20ac"],
];
const PREFIXES = ["", "Bearer ", 'Bearer a="', "Bearer a=b, ", "X y="];
const READERS: [name: string, read: (text: string) => unknown][] = [
  ["parseWWWAuthenticateHeader", parseWWWAuthenticateHeader],
  ["parseChallenges", (text) => parseChallenges(text)],
  [
    "parseChallenges, keep_last",
    (text) => parseChallenges(text, { duplicates: "keep_last" }),
  ],
  ["findChallenge", (text) => findChallenge(text)],
];

function hostile(prefix: string, unit: (i: number) => string, length: number) {
  let text = prefix;
  for (let index = 0; text.length < length; index++) text += unit(index);
  return received(text.slice(0, length));
}

/** Milliseconds of one call, whether it returns or throws. */
function once(call: () => unknown): number {
  const start = performance.now();
  try {
    call();
  } catch {
    // An error is a valid outcome.
  }
  return performance.now() - start;
}

/** The best of some rounds, each a mean: what disturbs only makes it slower. */
function best(call: () => unknown): number {
  let calls = 1;
  let ms = once(call);
  while (ms * calls < SAMPLE_MS && calls < 1_000) {
    calls *= 2;
    ms = Math.min(ms, once(call));
  }
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let index = 0; index < calls; index++) once(call);
    ms = Math.min(ms, (performance.now() - start) / calls);
  }
  return ms;
}

/** A row for each pattern and reader: the worst of all beginnings. */
function* timeReaders(): Generator<Row> {
  for (const [pattern, unit] of PATTERNS) {
    for (const [reader, read] of READERS) {
      const rows = PREFIXES.map((prefix) => {
        const text = hostile(prefix, unit, KIB_64);
        const fourfold = hostile(prefix, unit, 4 * KIB_64);
        const first = once(() => read(text));
        const ms = best(() => read(text));
        // Two doublings at once, since the collector of garbage is coarse.
        const doubling = Math.sqrt(best(() => read(fourfold)) / ms);
        return { first, ms, doubling };
      });
      const worst = (key: "first" | "ms" | "doubling") =>
        Math.max(...rows.map((row) => row[key]));
      const reached = worst("first") < GOALS.parserMs &&
        worst("doubling") <= GOALS.doublingAtMost;
      yield {
        pattern,
        reader,
        "ms, first call": worst("first").toFixed(2),
        "ms, warm": worst("ms").toFixed(3),
        doubling: worst("doubling"),
        goal: verdict(reached),
      };
    }
  }
}

/** A row for each token of 10 MB: rejected, and how soon at first. */
function* timeTokens(): Generator<Row> {
  const fill = (text: string) => text.repeat(10_000_000 / text.length);
  const texts: [name: string, text: string][] = [
    ["dots", fill(".")],
    ["letters", fill("a")],
    ["letters as payload", `e30.${fill("a")}.s`],
    ["letters as header", `${fill("a")}.e30.s`],
    ["dashes as payload", `e30.${fill("-")}.s`],
    ["= as payload", `e30.${fill("=")}.s`],
    ["spaces as payload", `e30.${fill(" ")}.s`],
    ["umlauts as payload", `e30.${fill("\u00e4")}.s`],
    ["two parts of letters", `${fill("a")}.${fill("a")}`],
  ];
  for (const [token, text] of texts) {
    const flat = received(text);
    let outcome = "READ";
    const call = () => {
      try {
        getClaimsFromJWT(flat);
      } catch (error) {
        assertClaimsError(error);
        outcome = "rejected";
      }
    };
    const first = once(call);
    yield {
      token,
      outcome,
      "ms, first call": first.toFixed(2),
      "ms, warm": best(call).toFixed(2),
      goal: verdict(first < GOALS.tokenMs && outcome === "rejected"),
    };
  }
}

/** Prints both tables. */
export function printTimes(): void {
  console.log(
    `Strings of 64 KiB, the worst of ${PREFIXES.length} beginnings; goals: first ` +
      `call under ${GOALS.parserMs} ms, doubling at most ` +
      `${GOALS.doublingAtMost}`,
  );
  console.log(`${formatTable([...timeReaders()])}\n`);
  console.log(`Tokens of 10 MB; goal: rejected within ${GOALS.tokenMs} ms`);
  console.log(formatTable([...timeTokens()]));
}
