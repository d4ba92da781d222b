/** Addresses that servers name: which of them may be used. */

import { quoteServerText } from "../http/_response.ts";
import { parseUrl, withoutCredentials } from "./_url.ts";
import { OAuthClientError } from "./errors.ts";
import type { IAuthorizationServerMetadata } from "./types.ts";

/** Whether a URL stays on this machine, where http is as good as https. */
export function isLoopback({ hostname }: URL): boolean {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** An address as it may be shown: without credentials and control characters. */
function shown(address: unknown): string {
  if (typeof address !== "string") return typeof address;
  return JSON.stringify(withoutCredentials(address).slice(0, 200));
}

/**
 * An address that a request, or a user's browser, may be sent to: https, or http
 * on loopback or when allowed; no credentials, no control characters, no blanks.
 */
export function requireSafeUrl(
  name: string,
  address: unknown,
  allowHttp: boolean | undefined,
): URL {
  const refuse = (expected: string) =>
    new OAuthClientError(
      "url_refused",
      `${name} is not used: expected ${expected}, got ${shown(address)}`,
    );
  // The parser drops tabs and line breaks, and honest addresses have none.
  const isClean = typeof address === "string" &&
    // deno-lint-ignore no-control-regex
    !/[\x00-\x20\x7f]/.test(address);
  const url = isClean ? parseUrl(address) : undefined;
  if (!url) throw refuse("an absolute URL");
  if (url.username || url.password) throw refuse("a URL without credentials");
  const isHttp = url.protocol === "http:" && (allowHttp || isLoopback(url));
  if (url.protocol !== "https:" && !isHttp) {
    throw refuse("an https URL, or http on loopback");
  }
  return url;
}

/** The members of server metadata that requests, or users, are sent to. */
export const ENDPOINT_NAMES = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "device_authorization_endpoint",
] as const;

/** One of these members. */
export type EndpointName = typeof ENDPOINT_NAMES[number];

/** An endpoint of a server, known to be there and fit for use. */
export function requireEndpoint(
  serverMetadata: IAuthorizationServerMetadata,
  name: EndpointName,
  allowHttp: boolean | undefined,
): string {
  const address = serverMetadata[name];
  if (!address) {
    throw new OAuthClientError(
      "unsupported",
      `Authorization server ${
        quoteServerText(String(serverMetadata.issuer))
      } has no ${name}`,
    );
  }
  requireSafeUrl(`The ${name}`, address, allowHttp);
  return address;
}
