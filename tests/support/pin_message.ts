/**
 * Messages of errors may change between versions, so tests state the code and the
 * members of an error. Where the sentence matters too, a test pins it: `deno task test`
 * compares it with `tests/messages/`. Elsewhere, such as in Node, nothing is compared.
 */

let messages: Set<string> | undefined;

/** Returns what the test that now begins pins, once it has ended. */
export function startPinning(): ReadonlySet<string> {
  return messages = new Set();
}

/** Pins the message of an error, or another sentence, without its URLs; returns what it was given. */
export function pinMessage<T extends Error | string>(error: T): T {
  const text = typeof error === "string" ? error : error.message;
  messages?.add(text.replace(/\bhttps?:\/\/[^\s"),]*[^\s"),.:;]/g, "URL"));
  return error;
}
