import { isMembers } from "../core/_members.ts";
import { quote } from "../core/_quote.ts";
import { secretsOf } from "../http/_redact.ts";
import { parseUrl } from "../core/_url.ts";
import type { DiagnoseOptions, Diagnosis } from "./diagnosis.ts";

export function secretsIn(
  { headers = {}, serverMetadataHeaders = {} }: Pick<
    DiagnoseOptions,
    "headers" | "serverMetadataHeaders"
  >,
): string[] {
  return [...secretsOf(headers), ...secretsOf(serverMetadataHeaders)];
}

function sealText(text: string, secrets: readonly string[]): string {
  // Each `…` marks a cut, perhaps within a secret, which `quote()` finds at a string's
  // end.
  return quote(text).split("…").map((part) => quote(part, secrets))
    .join("…").replace(
      /\p{Cf}/gu,
      (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`,
    );
}

/** Shorter values, such as a page number, would match by accident. */
const MIN_VALUE_LENGTH = 4;

/** Members whose strings are words of this library, or of a standard. */
const OWN_WORDS =
  /^(date|finding|flow|id|isExtra|method|name|revocation|severity|source|standard|verdict)$/;

/** Returns a function that replaces a URL's query and its values. */
function replaceQuery(search: string): (text: string) => string {
  // Without `=`, there is only a name.
  const values = [...new URLSearchParams(search)]
    .map(([name, value]) => value || name);
  const form = values.map((value, index) => [`${index}`, value]);
  // With their encodings, even if a string was cut within a value.
  const long = secretsOf({}, `${new URLSearchParams(form)}`);
  const short = values.flatMap((value) => [value, encodeURIComponent(value)])
    .filter((value) => value.length >= MIN_VALUE_LENGTH);
  return (text) =>
    short.reduce(
      (left, value) => left.replaceAll(value, "…"),
      sealText(text.replaceAll(search, "?…"), long),
    );
}

/**
 * Hides the target's query and its values in all strings: they may contain API keys,
 * and a server may repeat them.
 */
export function withoutQuery(diagnosis: Diagnosis): Diagnosis {
  const { search = "" } = parseUrl(diagnosis.target) ?? {};
  if (search === "") return diagnosis;
  const replace = replaceQuery(search);
  const hide = <T>(value: T): T => {
    if (typeof value === "string") return replace(value) as T;
    if (Array.isArray(value)) return value.map(hide) as T;
    return isMembers(value)
      ? Object.fromEntries(
        Object.entries(value).map(([name, one]) => [
          replace(name),
          OWN_WORDS.test(name) ? one : hide(one),
        ]),
      ) as T
      : value;
  };
  return hide(diagnosis);
}

/** Replaces sent values, and characters that control a terminal or are invisible. */
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
