/** The limits in the pages are those of the library. */
import { assert } from "@std/assert";
import { pageAt } from "../support/markdown.ts";

const LIB = new URL("../../lib/", import.meta.url);

/** Returns the value of a constant of a file of lib/: a number, or several. */
function constantOf(path: string, name: string): unknown {
  const source = Deno.readTextFileSync(new URL(path, LIB));
  const [, value] = new RegExp(`const ${name} = ([^;]+);`).exec(source) ?? [];
  assert(value, `lib/${path} has no constant ${name}`);
  return JSON.parse(value.replace(/(?<=\d)_(?=\d)/g, ""));
}

const WORDS: Record<number, string> = {
  ...{ 3: "three", 4: "four", 5: "five", 8: "eight", 10: "ten" },
};
const inWords = (value: number) => WORDS[value] ?? String(value);
const inDigits = (value: number) => value.toLocaleString("en-US");
/** `an hour`, `a second`, `10 seconds`, `five minutes`. */
const time = (seconds: number, number: (value: number) => string) =>
  seconds === 3600
    ? "an hour"
    : seconds === 1
    ? "a second"
    : seconds % 60 === 0
    ? `${number(seconds / 60)} minutes`
    : `${number(seconds)} seconds`;

const SESSIONS = "sessions.md";
const DECISIONS = "../DECISIONS.md";
const PROMPTS = "prompts.md";
const SYMPTOMS = "symptoms.md";
const SIGN_IN = "sign-in-problems.md";
const STORES = "stores.md";
const WEB = "web.md";
const OPTIONS = "options.md";
const ERRORS = "errors.md";
const FORWARD = "forward.md";

/** A file of lib/, a constant of it, and what pages say of its value. */
type Limit<T> = [
  path: string,
  name: string,
  ...sentences: [page: string, sentence: (value: T) => string][],
];

const LIMITS: Limit<number>[] = [
  [
    ...["web/_forwarded_body.ts", "MAX_KEPT"] as const,
    [FORWARD, (value) => `Body up to ${value / 1024} KiB`],
  ],
  [
    ...["core/_scope_values.ts", "MAX_SCOPES"] as const,
    [SYMPTOMS, (value) => `are more than ${value}, or have`],
    [PROMPTS, (value) => `would contain more than ${value} scopes`],
  ],
  [
    ...["core/_scope_values.ts", "MAX_SCOPE_CHARACTERS"] as const,
    [SYMPTOMS, (value) => `have more than ${inDigits(value)} characters`],
    [PROMPTS, (value) => `more than ${inDigits(value)} characters of scopes`],
  ],
  [
    ...["core/_retry_after.ts", "LONGEST_SECONDS"] as const,
    [SESSIONS, (value) => `${time(value, inDigits)} at most`],
    [
      SYMPTOMS,
      (value) => `\`Retry-After\`, for ${time(value, inDigits)} at most`,
    ],
  ],
  [
    ...["fetch/_settings.ts", "DEFAULT_SKEW_SECONDS"] as const,
    [
      SESSIONS,
      (value) => `${time(value, inDigits)} before (\`skewSeconds\`)`,
    ],
    [OPTIONS, (value) => `quarter of its lifetime | ${value} |`],
  ],
  [
    ...["fetch/policy/_put_off.ts", "PAUSE_SECONDS"] as const,
    [SESSIONS, (value) => `is tried again after ${time(value, inDigits)},`],
    [
      SESSIONS,
      (value) => `tries the refresh again ${time(value, inDigits)} later`,
    ],
  ],
  [
    ...["fetch/call/_resource_call.ts", "MAX_RENEWALS"] as const,
    [PROMPTS, (value) => `at most ${inWords(value)} times`],
    [PROMPTS, (value) => `after ${inWords(value)} new tokens`],
    [DECISIONS, (value) => `any, after ${inWords(value)} renewals,`],
  ],
  [
    ...["fetch/keeper/_session_memory.ts", "MAX_URLS"] as const,
    [PROMPTS, (value) => `for ${value} URLs, without their queries`],
  ],
  [
    ...["fetch/keeper/_session_memory.ts", "MAX_MEMORIES"] as const,
    [SESSIONS, (value) => `the ${inDigits(value)} sessions`],
  ],
  [
    ...["fetch/keeper/_task_lock.ts", "LOCK_TIMEOUT_MS"] as const,
    [
      SESSIONS,
      (value) => `waits ${time(value / 1000, inDigits)} for the lock`,
    ],
  ],
  [
    ...["stores/_lease.ts", "LEASE_MS"] as const,
    [STORES, (value) => `lease of ${time(value / 1000, inDigits)}`],
  ],
  [
    ...["http/_context.ts", "DEFAULT_TIMEOUT_MS"] as const,
    [OPTIONS, (value) => `signal\` | ${inDigits(value)} |`],
    [ERRORS, (value) => `(${value / 1000} s unless you set it)`],
  ],
  [
    ...["http/_context.ts", "DEFAULT_MAX_BYTES"] as const,
    [OPTIONS, (value) => `after decompression | ${inDigits(value)} |`],
    [ERRORS, (value) => `(${value / 1024 ** 2} MiB unless you set it)`],
  ],
  [
    ...["core/constants.ts", "DEFAULT_AUTH_FLOW_PORT"] as const,
    [SIGN_IN, (value) => `http://127.0.0.1:${value}/callback`],
  ],
  [
    ...["web/_login.ts", "JUST_SIGNED_IN_SECONDS"] as const,
    [WEB, (value) => `signed in within ${time(value, inWords)}`],
  ],
  [
    ...["web/_cookies.ts", "VISITS"] as const,
    [WEB, (value) => `There are ${inWords(value)}, valid for`],
    [WEB, (value) => `Together, the ${inWords(value)} stay`],
  ],
  [
    ...["web/_cookies.ts", "VISIT_SECONDS"] as const,
    [WEB, (value) => `valid for ${time(value, inWords)}`],
  ],
  [
    ...["web/_step_ups.ts", "MAX_STEP_UPS"] as const,
    [WEB, (value) => `at most ${inWords(value)} different`],
  ],
  [
    ...["web/_visits.ts", "DISCOVERY_MS"] as const,
    [WEB, (value) => `is cached for ${time(value / 1000, inWords)}`],
  ],
  [
    ...["web/_visits.ts", "REPEAT_MS"] as const,
    [WEB, (value) => `previous one, for ${time(value / 1000, inWords)} at`],
  ],
  [
    ...["web/_responses.ts", "RETRY_SECONDS"] as const,
    [WEB, (value) => `the error's \`retryAfterSeconds\`, or ${value} |`],
  ],
];

/** Returns the text of a page, with one space wherever there is whitespace. */
const textOf = (page: string) => pageAt(page).replace(/\s+/g, " ");

for (const [path, name, ...sentences] of LIMITS) {
  Deno.test(`the pages say what ${name} of lib/${path} is`, () => {
    const value = constantOf(path, name) as number;
    for (const [page, sentence] of sentences) {
      const expected = sentence(value);
      assert(textOf(page).includes(expected), `${page} must say: ${expected}`);
    }
  });
}

Deno.test("the pages say when a session is saved again", () => {
  const waits = constantOf("fetch/keeper/_session_keeper.ts", "SAVE_WAITS_MS");
  const seconds = (waits as number[]).map((ms) => ms / 1000);
  const list = new Intl.ListFormat("en-GB").format(seconds.map(String));
  assert(textOf(STORES).includes(`again after ${list} seconds`), list);
  const all = seconds.reduce((sum, one) => sum + one);
  const longest = `more than ${inWords(all)} seconds`;
  assert(textOf(SYMPTOMS).includes(longest), longest);
});
