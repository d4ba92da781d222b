/** Whether a URL may be used, for what, and how it is shown. */

import type { Hint } from "./errors.ts";
import { ALLOW_HTTP, hinted, UNLISTED } from "./_hints.ts";
import { printable, quote } from "./_quote.ts";
import type { IAuthorizationServerMetadata } from "./metadata.ts";

/**
 * Parses a URL; returns undefined if it is not one. It stands in for
 * `URL.canParse`, which Node 20 gets wrong for non-ASCII strings.
 */
export function parseUrl(url: string, base?: string): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

/**
 * Parses an http or https URL without credentials, given as a string or a `URL`. A
 * `URL` is not copied: pass its `href` if its owner could change it after the check.
 */
export function parseHttpUrl(value: unknown): URL | undefined {
  const url = typeof value === "string" ? parseUrl(value) : value;
  if (!(url instanceof URL)) return undefined;
  const isHttp = url.protocol === "https:" || url.protocol === "http:";
  return isHttp && !url.username && !url.password ? url : undefined;
}

/** Returns a `URL` as a string, and any other value unchanged. */
export function urlString(value: unknown): unknown {
  return value instanceof URL ? value.href : value;
}

/** Checks by its scheme whether a URL may be shown as a link. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/**
 * Returns an http or https URL with its host in ASCII, for a user who decides by it: a
 * letter of another script can look like one of another host. Messages and errors name a
 * URL as it was requested.
 */
export function withAsciiHost(url: string): string {
  if (/^[ -~]*$/.test(url)) return url;
  return url.replace(
    /^https?:[/\\]*[^/\\?#]*/i,
    (origin) =>
      /[^ -~]/.test(origin) ? parseUrl(origin)?.origin ?? origin : origin,
  );
}

/**
 * Returns text for a user, such as the message of an error, with the hosts of its URLs
 * in ASCII.
 */
export function withAsciiHosts(text: string): string {
  return text.replace(/\bhttps?:[^\s?#",;)]*[^\s?#",;:).]/gi, withAsciiHost);
}

/**
 * Quotes a URL, or anything a server sent instead of a URL, without credentials and
 * secrets. The origin of a URL stays: it is no secret, whatever a header field
 * contains.
 */
export function quoteUrl(
  value: unknown,
  secrets: readonly string[] = [],
): string {
  if (value instanceof URL) return quoteUrl(value.href, secrets);
  if (typeof value !== "string") return typeof value;
  // Credentials end at an `@`, which is rare elsewhere in a URL.
  const isClean = !value.includes("@") || parseHttpUrl(value) !== undefined;
  const text = isClean
    ? value
    : value.replace(/^(\w+:\/\/)?.*@/s, "$1[redacted]@");
  // A line break could make one line of a log look like two.
  const line = text.replace(/[\t\n]/g, " ");
  const [origin = ""] = /^https?:\/\/[^/?#]*/.exec(line) ?? [];
  return quote(origin) + quote(line.slice(origin.length), secrets);
}

/**
 * Checks whether a URL stays on this machine. The unspecified address counts
 * because operating systems connect it to loopback.
 */
export function isLoopback({ hostname }: URL): boolean {
  return /^((.+\.)?localhost\.?|127(\.\d+){3}|0\.0\.0\.0|\[::(1|ffff:(0:0|7f[\da-f]{2}:[\da-f]{1,4}))?\])$/
    .test(hostname);
}

/**
 * Returns an http URL on loopback without its port, which does not count in a comparison
 * of redirect URIs (RFC 8252, section 7.3); any other text unchanged.
 */
export function withoutLoopbackPort(uri: string): string {
  const url = parseUrl(uri);
  if (url?.protocol !== "http:" || !isLoopback(url)) return uri;
  url.port = "";
  return url.href;
}

/** Rules for the URLs that may be used. */
export interface UrlRules {
  /** Accepts http and loopback everywhere. */
  allowHttp?: boolean | undefined;
  /** Accepts loopback, also with http, which is as safe as https there. */
  allowLoopback?: boolean | undefined;
}

/** How much of a URL that is not used stands in a message. */
const MAX_URL_CHARACTERS = 200;

/** Quotes a URL that is not used. */
export function quoteRefusedUrl(
  value: unknown,
  secrets: readonly string[] = [],
): string {
  // Cut after it was cleaned, so that no part of a secret is left.
  return quoteUrl(value, secrets).slice(0, MAX_URL_CHARACTERS);
}

/** What is expected of a URL, and the option that accepts others. */
export type UrlProblem = readonly [expected: string, ...hints: Hint[]];

/**
 * Returns what is expected of a URL that a request, or the user's browser, must not be
 * sent to; undefined if it may be: https, or http on loopback; loopback only where the
 * rules allow it, so that no remote server can direct the client at a service of its
 * own machine.
 */
export function urlProblem(
  value: unknown,
  { allowHttp, allowLoopback }: UrlRules,
): UrlProblem | undefined {
  // No valid URL contains tabs, line breaks or bidi characters; the URL parser drops or
  // encodes them.
  const isClean = typeof value !== "string" ||
    (!value.includes(" ") && printable(value) === value);
  const url = isClean ? parseHttpUrl(value) : undefined;
  if (!url) return ["an absolute https URL without credentials"];
  if (allowHttp) return undefined;
  if (isLoopback(url)) {
    return allowLoopback ? undefined : [
      "a URL that is not on loopback, because the target or issuer is not",
      ALLOW_HTTP,
    ];
  }
  return url.protocol === "https:" ? undefined : ["an https URL", ALLOW_HTTP];
}

/** Fails unless a request, or the user's browser, may be sent to a URL. */
function requireSafe(
  name: string,
  value: unknown,
  rules: UrlRules,
): void {
  const problem = urlProblem(value, rules);
  if (!problem) return;
  const [expected, ...hints] = problem;
  const message = `Refusing ${
    quoteRefusedUrl(value)
  }: ${name} must be ${expected}`;
  throw hinted("url_refused", message, hints);
}

/** Returns a URL; fails unless a request, or the user's browser, may be sent to it. */
export function requireSafeUrl(
  name: string,
  value: unknown,
  rules: UrlRules,
): URL {
  requireSafe(name, value, rules);
  return new URL(value as string | URL);
}

/** The members of server metadata with URLs that requests or users are sent to. */
export const ENDPOINT_NAMES = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "device_authorization_endpoint",
  "backchannel_authentication_endpoint",
  "revocation_endpoint",
  "pushed_authorization_request_endpoint",
] as const;

/** The name of an endpoint in server metadata. */
export type EndpointName = typeof ENDPOINT_NAMES[number];

/** The members of server metadata that {@linkcode requireEndpoint} reads. */
export type EndpointMetadata<Name extends EndpointName = EndpointName> = Pick<
  IAuthorizationServerMetadata,
  "issuer" | Name
>;

/** The issuer of the last rules: the steps of a flow have the same. */
let last = { issuer: "", allowLoopback: false };

/**
 * Returns the rules for URLs that a server sends: only a server on loopback may refer
 * to loopback.
 */
export function rulesFor(
  issuer: string,
  allowHttp: boolean | undefined,
): UrlRules {
  if (issuer !== last.issuer) {
    const url = parseUrl(issuer);
    last = { issuer, allowLoopback: url !== undefined && isLoopback(url) };
  }
  return { allowHttp, allowLoopback: last.allowLoopback };
}

/** What may replace an endpoint that a server lacks. */
const SUBSTITUTES: Readonly<Record<string, Hint>> = {
  device_authorization_endpoint: { option: "codeFlow", text: "use codeFlow" },
  pushed_authorization_request_endpoint: {
    option: "par",
    value: false,
    text: "set par: false",
  },
};

/**
 * Returns an endpoint of a server, or of its responses; fails if it is missing or its
 * URL must not be used.
 */
export function requireEndpoint<Name extends string>(
  serverMetadata:
    & { readonly issuer: string }
    & { readonly [Member in Name]?: string | undefined },
  name: Name,
  allowHttp: boolean | undefined,
): string {
  const { issuer, [name]: url } = serverMetadata;
  if (!url) {
    throw hinted(
      "unsupported",
      `Authorization server ${quoteUrl(issuer)} has no ${name}`,
      // A member of a response is no endpoint that metadata could name.
      name.endsWith("_endpoint")
        ? [SUBSTITUTES[name] ?? [], UNLISTED].flat()
        : [],
    );
  }
  requireSafe(`the ${name}`, url, rulesFor(issuer, allowHttp));
  return url;
}
