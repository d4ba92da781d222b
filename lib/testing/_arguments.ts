/** Checks a test's arguments: a misspelled name must not make it pass. */

import {
  requireArgument,
  requireNames,
  requireObject,
} from "../core/_arguments.ts";
import type { TestEndpoint } from "./request.ts";
import type { TestServersOptions } from "./servers.ts";
import type { TestFault, TestSwitches } from "./switches.ts";

const OPTIONS: Readonly<Record<keyof TestServersOptions, true>> = {
  resource: true,
  issuer: true,
  scopes: true,
  clients: true,
  now: true,
  lifetimeSeconds: true,
  refreshTokens: true,
  rotate: true,
  replaySeconds: true,
  requiredScopes: true,
  requiredAcr: true,
  withheldScopes: true,
  refusedScopes: true,
  user: true,
  iss: true,
  resourceParameter: true,
  dpop: true,
  dpopNonce: true,
  retryAfterSeconds: true,
  serverMetadata: true,
  resourceMetadata: true,
  intercept: true,
  handle: true,
};

const ENDPOINTS: Readonly<Record<TestEndpoint, true>> = {
  resource: true,
  resource_metadata: true,
  server_metadata: true,
  authorization: true,
  token: true,
  registration: true,
  revocation: true,
  device_authorization: true,
  backchannel_authentication: true,
  jwks: true,
  unknown: true,
};

/** The switches with few values. */
const VALUES = {
  user: ["consents", "refuses", "leaves"],
  resourceParameter: ["required", "optional", "refused"],
  dpop: ["optional", "required", "ignored"],
} as const satisfies {
  [Name in keyof TestSwitches]?: readonly TestSwitches[Name][];
};

const FAULTS: readonly unknown[] = ["lose_request", "lose_response", "hang"];

const listOf = (names: object) => Object.keys(names).join(", ");

/** Fails for an unknown option. */
export function optionsOf<T extends object>(options: T): T {
  const names = Object.keys(OPTIONS);
  requireNames(requireObject("options", options), names, "test servers");
  requireValues(options);
  return options;
}

/** Fails for an invalid value; a test may set switches at any time. */
export function requireValues(switches: Partial<TestSwitches>): void {
  for (const [name, values] of Object.entries(VALUES)) {
    const value = switches[name as keyof typeof VALUES];
    requireArgument(
      value === undefined || values.some((one) => one === value),
      name,
      `one of ${values.join(", ")}`,
    );
  }
}

export function requireEndpoint(endpoint: TestEndpoint): void {
  requireArgument(
    Object.hasOwn(ENDPOINTS, endpoint),
    "endpoint",
    `one of ${listOf(ENDPOINTS)}`,
  );
}

export function requireFault(endpoint: TestEndpoint, fault: TestFault): void {
  requireEndpoint(endpoint);
  const isStatus = Number.isInteger(fault) && Number(fault) >= 200 &&
    Number(fault) <= 599;
  requireArgument(
    FAULTS.includes(fault) || isStatus || fault instanceof Response,
    "fault",
    `${FAULTS.join(", ")}, a status from 200 to 599 or a Response`,
  );
}
