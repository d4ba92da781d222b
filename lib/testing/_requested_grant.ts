/** The allowed requests to the authorization server, and their grants. */

import type { AuthorizationServerSettings } from "./_authorization_settings.ts";
import type { Client } from "./_clients.ts";
import type { Grant } from "./_grants.ts";
import { refusal } from "./_refusals.ts";
import type { TestRequest } from "./request.ts";

/** The user, unless a backchannel authentication request names one. */
export const USER = "user";

/** Rejects repeated parameters (RFC 6749, sections 3.1 and 3.2). */
export function requireSingle(params: URLSearchParams): void {
  for (const name of params.keys()) {
    // RFC 8707, section 2.
    if (name !== "resource" && params.getAll(name).length > 1) {
      throw refusal("invalid_request", `${name} is repeated`);
    }
  }
}

/** Rejects a grant that a client is not registered for. */
export function requireGrant({ grant_types }: Client, type: string): void {
  if (grant_types && !grant_types.includes(type)) {
    const why = `The client is not registered for ${type}`;
    throw refusal("unauthorized_client", why);
  }
}

/** Rejects a grant that needs a secret to a public client. */
export function requireSecret({ client_secret }: Client): void {
  if (client_secret === undefined) {
    throw refusal("unauthorized_client", "The client has no secret");
  }
}

/** Checks the resource indicators of a request (RFC 8707, section 2). */
export function requireResource(
  { resource, switches: { resourceParameter: rule } }:
    AuthorizationServerSettings,
  { params }: TestRequest,
): void {
  const given = params.getAll("resource");
  const isMissing = given.length === 0 && rule === "required";
  const isRefused = given.length > 0 && rule === "refused";
  if (!isMissing && !isRefused && given.every((one) => one === resource)) {
    return;
  }
  const expected = rule === "refused" ? "none" : resource;
  const why = `resource is ${given.join(" ") || "absent"}, not ${expected}`;
  throw refusal("invalid_target", why);
}

/** Returns the granted part of the requested or all scopes. */
export function newGrant(
  { scopes, switches, now }: AuthorizationServerSettings,
  { client_id: clientId }: Client,
  { params }: TestRequest,
  { user }: { user?: string } = {},
): Grant {
  const requested = params.get("scope")?.split(" ") ?? scopes;
  const unknown = switches.refusedScopes.find((one) => requested.includes(one));
  if (unknown !== undefined) {
    throw refusal("invalid_scope", `${unknown} is not a scope of the client`);
  }
  const granted = requested.filter((one) =>
    !switches.withheldScopes.includes(one)
  );
  const acr = params.get("acr_values")?.split(" ")[0];
  const authTime = Math.floor(now() / 1000);
  return {
    ...{ clientId, user, acr, authTime },
    scopes: granted,
    isRevoked: false,
  };
}
