import { requireObject } from "../../core/_arguments.ts";
import { pageOf } from "./_page.ts";
import { LIBRARY_WORDS } from "./_text.ts";
import { withoutQuery } from "../_seal.ts";
import type { Diagnosis } from "../diagnosis.ts";

/**
 * Writes a diagnosis as one HTML page, to send to the operator of a server: the
 * verdict, the findings with excerpts, a sequence diagram, and each request's content
 * and response.
 *
 * The page contains no scripts and no links, and loads nothing. It fits wide and narrow
 * screens, light and dark mode, and paper. It contains no values of sent header fields,
 * no tokens, codes or secrets, no query of the target, and no value of that query with
 * at least 4 characters. All text is escaped.
 *
 * @param diagnosis The result of {@linkcode diagnose}.
 * @returns The content of an HTML file.
 * @throws {OAuthClientError} `invalid_argument`: `diagnosis` is not an object.
 *
 * @example Write a report
 * ```ts
 * import { diagnose, reportHtml } from "@oauth-helper/client/doctor";
 * import { assert } from "@std/assert";
 *
 * const diagnosis = await diagnose("https://api.example/mcp", {
 *   // Replaces a server that requires a token and publishes nothing.
 *   fetch: (url) =>
 *     Promise.resolve(
 *       new Response(null, { status: url.endsWith("/mcp") ? 401 : 404 }),
 *     ),
 * });
 * assert(reportHtml(diagnosis).startsWith("<!DOCTYPE html>"));
 * ```
 */
export function reportHtml(diagnosis: Diagnosis): string {
  const given = requireObject("diagnosis", diagnosis);
  return pageOf(withoutQuery(given), LIBRARY_WORDS);
}
