import process from "node:process";
import { createInterface } from "node:readline";

/** Returns a function that stops reading. */
export function onInputLine(listener: (line: string) => void): () => void {
  const lines = createInterface({ input: process.stdin });
  lines.on("line", listener);
  return () => lines.close();
}

/** A line is a URL, a query, or `code#state`. */
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
