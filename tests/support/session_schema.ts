/** Holds stored sessions against the schema in the documents. */

import { assert } from "@std/assert";
import { Ajv2020 } from "ajv/2020";
import { memoryStore, type SessionStore } from "../../mod.ts";

const path = new URL("../../.github/docs/session.schema.json", import.meta.url);
const ajv = new Ajv2020({ formats: { uri: (text) => URL.canParse(text) } });
const validate = ajv.compile(JSON.parse(Deno.readTextFileSync(path)));

/** Returns why a value is not a stored session; undefined for one. */
export function schemaProblem(value: unknown): string | undefined {
  const isValid = validate(JSON.parse(JSON.stringify(value)));
  return isValid ? undefined : ajv.errorsText(validate.errors);
}

/** Creates a store in memory, and lists what it was given to save, as JSON. */
export function schemaStore(): SessionStore & { readonly saved: string[] } {
  const store = memoryStore();
  const saved: string[] = [];
  return {
    ...store,
    saved,
    save(session, former) {
      if (session) saved.push(JSON.stringify(session));
      return store.save(session, former);
    },
  };
}

export function assertStorable(saved: readonly string[], name: string): void {
  assert(saved.length > 0, `${name} has saved nothing`);
  for (const text of saved) {
    const problem = schemaProblem(JSON.parse(text));
    assert(problem === undefined, `${name}: ${problem} in ${text}`);
  }
}
