import { escapeHtml } from "../core/_quote.ts";
import { isWebUrl } from "../core/_url.ts";
import type {
  LoopbackReceiverOptions,
  LoopbackResult,
} from "./loopback_receiver_options.ts";

/** The end of every page's policy. */
const NO_CONTEXT =
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Nothing is loaded or cached, and no referrer is sent. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": `default-src 'none'; ${NO_CONTEXT}`,
  "X-Content-Type-Options": "nosniff",
  // The page's URL contains the authorization code.
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
  // Otherwise the browser keeps the connection open after the server is closed.
  "Connection": "close",
};

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

/** The policy of a caller's page: its own styles and images, and no script. */
const OWN_PAGE_POLICY =
  `default-src 'none'; style-src 'unsafe-inline'; img-src data:; ${NO_CONTEXT}`;

export interface Page {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function resultOf(parameters: URLSearchParams): LoopbackResult {
  const error = parameters.get("error");
  if (error === null) return {};
  return { error: /^[\w.-]+$/.test(error) ? error : "unknown_error" };
}

/** Returns the caller's last page, or the default page. */
export function lastPage(
  parameters: URLSearchParams,
  title: string,
  page: LoopbackReceiverOptions["page"],
): Page {
  const headers = PAGE_HEADERS;
  try {
    const callersPage = page?.(resultOf(parameters));
    if (typeof callersPage === "string") {
      const policy = { "Content-Security-Policy": OWN_PAGE_POLICY };
      return {
        status: 200,
        headers: { ...headers, ...policy },
        body: callersPage,
      };
    }
    if (callersPage && isWebUrl(callersPage.href)) {
      const Location = callersPage.href;
      return { status: 303, headers: { ...headers, Location }, body: "" };
    }
  } catch {
    // The user must not wait for a page that fails.
  }
  const text = parameters.has("error")
    ? "The sign-in has failed. You can close this window."
    : "You can close this window.";
  return { status: 200, headers, body: renderPage(title, text) };
}
