/** The switches' defaults: servers without faults. */

import type { TestServersOptions } from "./servers.ts";
import type { TestSwitches } from "./switches.ts";

/** Undefined switches get their defaults. */
export function switchesOf(
  issuer: string,
  {
    lifetimeSeconds = 3600,
    refreshTokens = true,
    rotate = true,
    replaySeconds = 0,
    requiredScopes = [],
    requiredAcr = null,
    withheldScopes = [],
    refusedScopes = [],
    user = "consents",
    iss = issuer,
    resourceParameter = "required",
    dpop = "optional",
    dpopNonce = false,
    retryAfterSeconds = {},
    serverMetadata = {},
    resourceMetadata = {},
    intercept = () => undefined,
    handle = (_request, token) => Response.json({ ok: true, ...token }),
  }: TestServersOptions,
): TestSwitches {
  return {
    lifetimeSeconds,
    refreshTokens,
    rotate,
    replaySeconds,
    requiredScopes,
    requiredAcr,
    withheldScopes,
    refusedScopes,
    user,
    iss,
    resourceParameter,
    dpop,
    dpopNonce,
    retryAfterSeconds,
    serverMetadata,
    resourceMetadata,
    intercept,
    handle,
  };
}
