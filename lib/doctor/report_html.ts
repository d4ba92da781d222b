/**
 * The diagnosis as a page that can be sent to the operator of a server.
 *
 * @module
 */

import { requireObject } from "../core/_arguments.ts";
import { pageOf } from "./_page.ts";
import { withoutQuery } from "./_seal.ts";
import type { IDiagnosis } from "./diagnosis.ts";

/**
 * Writes a diagnosis as one HTML page, to send to the operator of a server: the verdict,
 * the findings with the part of the response that shows each, a sequence diagram of the
 * requests, and what each has sent and received.
 *
 * The page has no scripts and no links, loads nothing, and fits a wide and a narrow
 * screen, light and dark, and paper. It has no values of header fields that were sent,
 * no tokens, codes or secrets, no query of the target, and no value of that query with at
 * least 4 characters. All text is escaped.
 *
 * @param diagnosis The result of {@linkcode diagnose}.
 * @returns The text of a file.
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
export function reportHtml(diagnosis: IDiagnosis): string {
  const given = requireObject("diagnosis", diagnosis);
  return pageOf(withoutQuery(given), (text) => text);
}
