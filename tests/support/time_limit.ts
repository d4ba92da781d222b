/**
 * Loaded before the tests: gives each of them a time limit, so that one that hangs fails
 * with its name. `deno test` has no option for it. As Deno then takes this file for the
 * place of each test, the place is added to the name. What fails is noted in the file
 * `TEST_FAILURES`, from which `scripts/test.ts` prints it if the run is killed; the
 * messages that a test has pinned in `TEST_MESSAGES`, with which it compares them.
 */

import type { PinningTest } from "../../scripts/support/pinned_messages.ts";
import { startPinning } from "./pin_message.ts";

/** Long, as the machine may be busy: no test takes more than a few seconds. */
const TIMEOUT_MS = 60_000;

/** Returns the file and line of the test that is defined, such as `tests/a_test.ts:3`. */
function placeOfTest(): string | undefined {
  return /\/(tests\/[^\s()]+_test\.ts:\d+):\d+/.exec(new Error().stack ?? "")
    ?.[1];
}

/** Adds text to the file that an environment variable names. */
function note(variable: string, text: string): void {
  const path = Deno.env.get(variable);
  if (path) Deno.writeTextFileSync(path, text, { append: true });
}

function noteMessages(test: PinningTest): void {
  note("TEST_MESSAGES", `${JSON.stringify(test)}\n`);
}

type Test = (context: Deno.TestContext) => unknown;

/** Returns the test, which notes its error before it fails, or its messages. */
const noting =
  (name: string, place: string | undefined, test: Test): Test =>
  async (context) => {
    const messages = startPinning();
    try {
      await test(context);
    } catch (error) {
      const text = error instanceof Error ? error.stack : String(error);
      note("TEST_FAILURES", `${name} (${place})\n${text}\n\n`);
      if (place) noteMessages({ place, name });
      throw error;
    }
    if (place) noteMessages({ place, name, messages: [...messages] });
  };

const limited = new Proxy(Deno.test, {
  apply: (test, self, given: (string | object)[]) => {
    const members = given.map((one) => {
      if (typeof one === "string") return { name: one };
      return typeof one === "function" ? { fn: one, name: one.name } : one;
    });
    // The name of a function counts only where there is no other.
    const definition = Object.assign(
      { timeout: TIMEOUT_MS },
      ...members.reverse(),
    );
    const place = placeOfTest();
    const { name, fn, ignore } = definition;
    if (place && ignore) noteMessages({ place, name });
    if (place) definition.name += ` (${place})`;
    definition.fn = noting(name, place, fn);
    return Reflect.apply(test, self, [definition]);
  },
});
Object.defineProperty(Deno, "test", { value: limited });
