/** Strict discovery against stubbed servers. */

import { assertInstanceOf } from "@std/assert";
import {
  type AuthorizationContext,
  discoverAuthorization,
  type DiscoverAuthorizationOptions,
  type DiscoveryAttempt,
  OAuthClientError,
} from "../../mod.ts";
import { AS, MCP } from "./fixtures.ts";
import { type Answer, json, stubFetch } from "./stub_fetch.ts";

/** Metadata of the resource, which lists the authorization server. */
export function prm(members: Record<string, unknown> = {}): Answer {
  return json({ resource: MCP, authorization_servers: [AS], ...members });
}

export function asm(
  issuer: unknown = AS,
  members: Record<string, unknown> = {},
): Answer {
  return json({ issuer, token_endpoint: `${issuer}/token`, ...members });
}

/** Discovers at these servers: the context or the error, and what was requested. */
export async function discover(
  routes: Record<string, Answer>,
  options: DiscoverAuthorizationOptions = {},
  target: string | URL = MCP,
) {
  using stubbed = stubFetch(routes);
  const { fetch, requests } = stubbed;
  const result: AuthorizationContext | OAuthClientError =
    await discoverAuthorization(target, { fetch, ...options })
      .catch((error) => error);
  return { result, requests, urls: stubbed.urls };
}

/** As `discover()`; fails unless the discovery succeeds. */
export async function discovered(
  ...args: Parameters<typeof discover>
): Promise<AuthorizationContext & { urls: string[] }> {
  const { result, urls } = await discover(...args);
  if (result instanceof Error) throw result;
  return { ...result, urls };
}

/** As `discover()`; fails unless the discovery fails, with its code and attempts. */
export async function undiscovered(...args: Parameters<typeof discover>) {
  const { result, urls, requests } = await discover(...args);
  assertInstanceOf(result, OAuthClientError);
  const { attempts = [] } = result;
  return { error: result, code: result.code, attempts, urls, requests };
}

/** The URLs with the outcome: nothing for success, else a status or a code. */
export function outcomes(attempts: readonly DiscoveryAttempt[]) {
  return attempts.map(({ url, error }) => {
    if (!error) return [url];
    assertInstanceOf(error, OAuthClientError);
    return [url, error.status ?? error.code];
  });
}

/** The codes of the attempts; undefined for success. */
export function codes(attempts: readonly DiscoveryAttempt[]) {
  return attempts.map(({ error }) => (error as OAuthClientError)?.code);
}
