/** The check of options finds objects that cross the boundary of a function whole. */

import { assertEquals } from "@std/assert";
import {
  createProgram,
  findPassedOptions,
} from "../../scripts/check_options.ts";

const DECLARATIONS = `
interface Options { headers?: string; signal?: string }
interface Shapes extends Options { b?: string }
declare function send(options: Options): void;
declare function wrap(given: { options: object }): void;
declare function signalOf(options: Options): string;
function pick({ signal }: Options) { return signal; }
function rest({ signal, ...others }: Options) { return [signal, others]; }
`;

/** Statements in a function with `options`, and whether they pass them on whole. */
const ROWS: [statement: string, isPassed: boolean][] = [
  ["send(options)", true],
  ["send({ ...options })", true],
  ["send({ signal: 'x', ...options })", true],
  ["wrap({ options: { ...options } })", true],
  ["send({ ...(options ?? {}) })", true],
  ["const { signal, ...others } = options; send({ ...others })", true],
  ["const { signal, ...others } = options; send(others)", true],
  ["const part: Omit<Options, 'headers'> = options; send({ ...part })", true],
  ["rest(options)", true],
  ["send({ signal: options.signal })", false],
  ["const { signal } = options; send({ signal })", false],
  ["signalOf(options)", false],
  ["pick(options)", false],
  ["const copy = { ...options }", false],
];

Deno.test("findPassedOptions() finds options that cross the boundary of a function whole", () => {
  const functions = ROWS.map(([statement], index) =>
    `export function f${index}(options: Options) { ${statement}; }`
  );
  const path = "/rows.ts";
  const text = [DECLARATIONS, ...functions].join("\n");
  const program = createProgram([path], { [path]: text });
  const problems = findPassedOptions(program, (one) => one === path);
  const first = DECLARATIONS.split("\n").length + 1;
  const found = problems.map((problem) =>
    Number(/rows\.ts:(\d+)/.exec(problem)?.[1]) - first
  );
  for (const [index, [statement, isPassed]] of ROWS.entries()) {
    assertEquals(found.includes(index), isPassed, statement);
  }
});
