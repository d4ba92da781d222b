/** Removes secrets and control characters from all strings of a diagnosis. */

import { isMembers } from "../core/_members.ts";
import { quote } from "../core/_quote.ts";
import { secretsOf } from "../http/_redact.ts";
import type { IDiagnoseOptions } from "./diagnosis.ts";

/** Returns the values of the caller's header fields. */
export function secretsIn(
  { headers = {}, additionalHeaders = {} }: Pick<
    IDiagnoseOptions,
    "headers" | "additionalHeaders"
  >,
): string[] {
  return [...secretsOf(headers), ...secretsOf(additionalHeaders)];
}

function sealText(text: string, secrets: readonly string[]): string {
  // At each `…` a string was cut, perhaps within a secret, which `quote()` finds at
  // the end of a string.
  return quote(text).split("…").map((part) => quote(part, secrets))
    .join("…").replace(
      /\p{Cf}/gu,
      (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
    );
}

/**
 * Replaces the values that were sent in all strings, and characters that control a
 * terminal or cannot be seen.
 */
export function seal<T>(value: T, secrets: readonly string[]): T {
  if (typeof value === "string") return sealText(value, secrets) as T;
  if (Array.isArray(value)) {
    return value.map((member) => seal(member, secrets)) as T;
  }
  return isMembers(value)
    ? Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        sealText(name, secrets),
        seal(one, secrets),
      ]),
    ) as T
    : value;
}
