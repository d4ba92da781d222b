/**
 * Loaded before the tests: gives each of them a time limit, so that one that hangs fails
 * with its name. `deno test` has no option for it. As Deno then takes this file for the
 * place of each test, the place is added to the name. What fails is noted in the file
 * `TEST_FAILURES`, from which `scripts/test.ts` prints it if the run is killed.
 */

/** Long, as the machine may be busy: no test takes more than a few seconds. */
const TIMEOUT_MS = 60_000;

/** Returns the file and line of the test that is defined, such as `tests/a_test.ts:3`. */
function placeOfTest(): string | undefined {
  return /\/(tests\/[^\s()]+_test\.ts:\d+):\d+/.exec(new Error().stack ?? "")
    ?.[1];
}

const failures = Deno.env.get("TEST_FAILURES");

type Test = (context: Deno.TestContext) => unknown;

/** Returns the test, which notes its error before it fails. */
const noting = (name: string, test: Test): Test => async (context) => {
  try {
    await test(context);
  } catch (error) {
    const text = error instanceof Error ? error.stack : String(error);
    const row = `${name}\n${text}\n\n`;
    if (failures) Deno.writeTextFileSync(failures, row, { append: true });
    throw error;
  }
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
    if (place) definition.name += ` (${place})`;
    definition.fn = noting(definition.name, definition.fn);
    return Reflect.apply(test, self, [definition]);
  },
});
Object.defineProperty(Deno, "test", { value: limited });
