/** Odd options, and many calls at once. */

import { type Case, OPERATIONS } from "./case.ts";
import { type Fault, matrix } from "./matrix.ts";
import { IS_GOOD } from "./operations.ts";
import { bytes, good, thenReset, thenSilence } from "./plays.ts";

const OPTIONS: Fault[] = [
  {
    name: "frozen options",
    options: () => Object.freeze({ timeoutMs: 4_000, maxBytes: 10_000 }),
  },
  {
    name: "no time limit and no size limit",
    options: () => ({ timeoutMs: Infinity, maxBytes: Infinity }),
  },
];

/** A hundred calls at once, each with the outcome of one. */
const AT_ONCE: Case[] = [
  ...OPERATIONS.map((operation): Case => ({
    operation,
    fault: "100 calls at once",
    play: good,
    times: 100,
    outcome: { result: IS_GOOD[operation] },
    requests: operation === "discoverAuthorization" ? 200 : 100,
  })),
  ...([
    "fetchAuthorizationServerMetadata",
    "discoverAuthorization",
    "fetchToken",
  ] as const).map((operation): Case => ({
    operation,
    fault: "100 calls at once to a silent server",
    play: thenSilence(),
    times: 100,
    options: () => ({ timeoutMs: 400 }),
    outcome: { code: "timeout" },
    requests: Array.from({ length: 101 }, (_, count) => count),
  })),
];

const MIXED: Case[] = (["fetchToken", "registerClient"] as const).map(
  (operation) => ({
    operation,
    fault: "100 calls at once, every other one broken off",
    play: (stage) =>
      stage.count % 2
        ? good(stage)
        : (stage.count % 4 ? thenReset("") : bytes(""))(stage),
    times: 100,
    outcome: {
      code: "network_error",
      orResult: IS_GOOD[operation],
    },
    requests: 100,
  }),
);

export const OPTION_CASES: readonly Case[] = [
  ...matrix(OPTIONS),
  ...AT_ONCE,
  ...MIXED,
];
