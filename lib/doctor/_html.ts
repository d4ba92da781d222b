/** Functions that write text as HTML. */

import { escapeHtml } from "../core/_quote.ts";

/** Escapes a sentence, and marks text between backquotes as code. */
export function proseHtml(text: string): string {
  return text.split(/(`[^`]+`)/).map((part) =>
    /^`[^`]+`$/.test(part)
      ? `<code>${escapeHtml(part.slice(1, -1))}</code>`
      : escapeHtml(part)
  ).join("");
}

/** Cuts text to a number of characters, in the middle. */
export function fit(text: string, width: number): string {
  if (text.length <= width) return text;
  const start = Math.ceil((width - 1) / 2);
  return `${text.slice(0, start)}…${text.slice(start + 1 - width)}`;
}

/** Formats a duration, with at most one digit after the point. */
export const describeTime = (ms: number) =>
  ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
