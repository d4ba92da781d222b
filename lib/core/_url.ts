import type { Hint } from "./errors.ts";
import { ALLOW_HTTP, hinted, UNLISTED } from "./_hints.ts";
import { printable, quote } from "./_quote.ts";
import type { IAuthorizationServerMetadata } from "./metadata.ts";

/** Node 20's `URL.canParse` is wrong for non-ASCII strings. */
export function parseUrl(url: string, base?: string): URL | undefined {
  try {
    return new URL(url, base);
  } catch {
    return undefined;
  }
}

/**
 * Parses an http or https URL without credentials. A `URL` is not copied: pass its
 * `href` if its owner could change it after the check.
 */
export function parseHttpUrl(value: unknown): URL | undefined {
  const url = typeof value === "string" ? parseUrl(value) : value;
  if (!(url instanceof URL)) return undefined;
  const isHttp = url.protocol === "https:" || url.protocol === "http:";
  return isHttp && !url.username && !url.password ? url : undefined;
}

export function urlString(value: unknown): unknown {
  return value instanceof URL ? value.href : value;
}

export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

/**
 * Shows the host in ASCII, because letters of different scripts look alike. Messages
 * and errors keep the requested form.
 */
export function withAsciiHost(url: string): string {
  if (/^[ -~]*$/.test(url)) return url;
  return url.replace(
    /^https?:[/\\]*[^/\\?#]*/i,
    (origin) =>
      /[^ -~]/.test(origin) ? parseUrl(origin)?.origin ?? origin : origin,
  );
}

export function withAsciiHosts(text: string): string {
  return text.replace(/\bhttps?:[^\s?#",;)]*[^\s?#",;:).]/gi, withAsciiHost);
}

/**
 * Quotes a server's URL, or any other value, without credentials and secrets. The
 * origin stays: it is not secret, even if a header contains it.
 */
export function quoteUrl(
  value: unknown,
  secrets: readonly string[] = [],
): string {
  if (value instanceof URL) return quoteUrl(value.href, secrets);
  if (typeof value !== "string") return typeof value;
  // Credentials end at an `@`, which is rare in other parts of a URL.
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
 * Checks whether a URL stays on this machine. Operating systems connect the unspecified
 * address to loopback.
 */
export function isLoopback({ hostname }: URL): boolean {
  return /^((.+\.)?localhost\.?|127(\.\d+){3}|0\.0\.0\.0|\[::(1|ffff:(0:0|7f[\da-f]{2}:[\da-f]{1,4}))?\])$/
    .test(hostname);
}

/**
 * Removes the port of an http URL on loopback, which redirect URI comparisons ignore
 * (RFC 8252, section 7.3).
 */
export function withoutLoopbackPort(uri: string): string {
  const url = parseUrl(uri);
  if (url?.protocol !== "http:" || !isLoopback(url)) return uri;
  url.port = "";
  return url.href;
}

export interface UrlRules {
  allowHttp?: boolean | undefined;
  /** Accepts loopback. There, http is as safe as https. */
  allowLoopback?: boolean | undefined;
}

const MAX_URL_CHARACTERS = 200;

export function quoteRefusedUrl(
  value: unknown,
  secrets: readonly string[] = [],
): string {
  // Cut last, so that no part of a secret is left.
  return quoteUrl(value, secrets).slice(0, MAX_URL_CHARACTERS);
}

/** The expected kind of URL, and the option that accepts others. */
export type UrlProblem = readonly [expected: string, ...hints: Hint[]];

/**
 * Returns the expected kind of URL if neither a request nor the browser may be sent to
 * `value`. Allowed are https, and http on loopback. Remote servers may not direct the
 * client to loopback.
 */
export function urlProblem(
  value: unknown,
  { allowHttp, allowLoopback }: UrlRules,
): UrlProblem | undefined {
  // The URL parser drops or encodes tabs, line breaks and bidi characters.
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

export function requireSafeUrl(
  name: string,
  value: unknown,
  rules: UrlRules,
): URL {
  requireSafe(name, value, rules);
  return new URL(value as string | URL);
}

export const ENDPOINT_NAMES = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "device_authorization_endpoint",
  "backchannel_authentication_endpoint",
  "revocation_endpoint",
  "pushed_authorization_request_endpoint",
] as const;

export type EndpointName = typeof ENDPOINT_NAMES[number];

export type EndpointMetadata<Name extends EndpointName = EndpointName> = Pick<
  IAuthorizationServerMetadata,
  "issuer" | Name
>;

/** The last issuer's rules: the steps of one flow share them. */
let last = { issuer: "", allowLoopback: false };

/** Only a server on loopback may refer to loopback. */
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

/** Options that replace an endpoint the server lacks. */
const SUBSTITUTES: Readonly<Record<string, Hint>> = {
  device_authorization_endpoint: { option: "codeFlow", text: "use codeFlow" },
  pushed_authorization_request_endpoint: {
    option: "par",
    value: false,
    text: "set par: false",
  },
};

/**
 * Returns an endpoint of a server or of its response. Fails if it is missing, or its
 * URL is not allowed.
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
      // Metadata could not name a member of a response.
      name.endsWith("_endpoint")
        ? [SUBSTITUTES[name] ?? [], UNLISTED].flat()
        : [],
    );
  }
  requireSafe(`the ${name}`, url, rulesFor(issuer, allowHttp));
  return url;
}
