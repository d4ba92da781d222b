/**
 * Loaded before the tests: gives each of them a time limit, so that one that hangs fails
 * with its name. `deno test` has no option for it.
 */

/** Long, as the machine may be busy: no test takes more than a few seconds. */
const TIMEOUT_MS = 60_000;

const limited = new Proxy(Deno.test, {
  apply: (test, self, given: (string | object)[]) => {
    const members = given.map((one) => {
      if (typeof one === "string") return { name: one };
      return typeof one === "function" ? { fn: one } : one;
    });
    const definition = Object.assign({ timeout: TIMEOUT_MS }, ...members);
    return Reflect.apply(test, self, [definition]);
  },
});
Object.defineProperty(Deno, "test", { value: limited });
