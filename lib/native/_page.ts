/** The page that the loopback receiver sends to the browser. */

import { escapeHtml } from "../core/_quote.ts";

/**
 * Header fields of every response: nothing is loaded or cached, and no referrer is
 * sent.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  // The URL of the page has the authorization code.
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  // Otherwise the browser keeps the connection open after the server is closed.
  "Connection": "close",
};

/** Returns a page with a heading and one paragraph. */
export function renderPage(title: string, text: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
</html>
`;
}
