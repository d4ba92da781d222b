import { requireArgument, requireStrings } from "../core/_arguments.ts";
import type { HeadersLike } from "./web_sign_in_options.ts";

/**
 * The fields that reach the API. Others are dropped: an internal API may trust
 * `X-Forwarded-For` or `X-User`, which a page must not set.
 */
const REQUEST_FIELDS: readonly string[] = [
  "accept",
  "accept-language",
  "cache-control",
  "content-digest",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-range",
  "content-type",
  "idempotency-key",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "last-event-id",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "prefer",
  "range",
  "traceparent",
  "tracestate",
  "user-agent",
  "x-request-id",
];

/**
 * The fields that come back. Others could set or delete the site's data, open it to
 * other origins, or make a program start a sign-in.
 */
const RESPONSE_FIELDS: readonly string[] = [
  "accept-patch",
  "accept-post",
  "accept-ranges",
  "allow",
  "content-digest",
  "content-disposition",
  "content-language",
  "content-range",
  "content-type",
  "deprecation",
  "etag",
  "last-modified",
  "link",
  "mcp-session-id",
  "preference-applied",
  "ratelimit",
  "ratelimit-limit",
  "ratelimit-policy",
  "ratelimit-remaining",
  "ratelimit-reset",
  "repr-digest",
  "retry-after",
  "sunset",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
];

/**
 * Prefixes of names that no caller can pass on, in either direction: credentials,
 * connection fields, a request's origin, and the library's own decisions.
 */
const NEVER =
  /^(access-control|alt-svc|auth|cache|clear|connection|content-(enc|len|loc|sec)|cookie|dpop|expect|forwarded|host|keep-alive|location|origin|proxy|refer|refresh|sec-|service-worker|set-cookie|strict|te$|trailer|transfer|upgrade|www-|x-content-type|x-forwarded)/;

/** The codings that `fetch` decodes, although some runtimes keep the fields. */
const DECODED = /^\s*(x-)?(gzip|deflate|br|zstd)\s*$/i;

/** Returns the names in lower case. */
export function requireFieldNames(names: readonly string[] = []): string[] {
  return requireStrings("headers", names).map((name) => {
    const lower = name.toLowerCase();
    const isAllowed = /^[\w-]+$/.test(lower) && !NEVER.test(lower);
    requireArgument(isAllowed, "headers", "names of fields that may be passed");
    return lower;
  });
}

function copy(
  headers: HeadersLike,
  names: readonly string[],
): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const name of names) {
    const value = headers.get(name);
    if (value !== null) fields[name] = value;
  }
  return fields;
}

export function requestFields(
  headers: HeadersLike,
  others: readonly string[],
): Record<string, string> {
  // RFC 9110, section 7.6.1: a client names the fields of its connection.
  const ofConnection = (headers.get("Connection") ?? "").toLowerCase()
    .split(",").map((name) => name.trim());
  const names = [...REQUEST_FIELDS, ...others]
    .filter((name) => !ofConnection.includes(name));
  const fields = copy(headers, names);
  // A decoded response's range would be a range of different bytes.
  return fields.range ? { ...fields, "accept-encoding": "identity" } : fields;
}

interface Returning {
  readonly others: readonly string[];
  readonly destination: string | null;
  /** Returns a URL's place on the site; undefined if no browser may be sent there. */
  readonly moved: (url: string) => string | undefined;
}

export function responseFields(
  headers: HeadersLike,
  { others, destination, moved }: Returning,
): Record<string, string> {
  const fields = copy(headers, [...RESPONSE_FIELDS, ...others]);
  const coding = headers.get("Content-Encoding");
  if (coding === null) {
    Object.assign(fields, copy(headers, ["content-length"]));
  } else if (!coding.split(",").every((one) => DECODED.test(one))) {
    fields["content-encoding"] = coding;
  }
  for (const name of ["location", "content-location"]) {
    const url = headers.get(name);
    const to = url === null ? undefined : moved(url);
    if (to !== undefined) fields[name] = to;
  }
  const type = fields["content-type"] ?? "";
  // Browsers may obey the parts' own header fields.
  const isRead = (destination ?? "empty") === "empty";
  if (/^\s*multipart\//i.test(type) && !isRead) delete fields["content-type"];
  // A second policy: the API's content gets no origin. Chromium shows no PDF in a
  // sandbox.
  if (!/^application\/pdf\b/i.test(type)) {
    fields["content-security-policy"] = "sandbox";
  }
  return fields;
}
