/** Authorization responses that a user pastes. */

import process from "node:process";
import { createInterface } from "node:readline";

/**
 * Calls a function with each line of the standard input; returns a function that stops
 * it.
 */
export function onInputLine(listener: (line: string) => void): () => void {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", listener);
  return () => lines.close();
}

/**
 * Returns the query of the authorization response in a line: a URL, a query, or
 * `code#state`.
 */
export function queryInLine(line: string): string {
  const text = line.trim();
  const codeAndState = /^([^\s?&=#]+)#([^\s?&=#]+)$/.exec(text);
  if (codeAndState) {
    const [, code = "", state = ""] = codeAndState;
    return new URLSearchParams({ code, state }).toString();
  }
  // The values of a query without its URL may contain question marks.
  return text.replace(/^[^?=#&]*\?/, "").replace(/#.*$/s, "");
}
