/** The settings of the authorization server, which its endpoints share. */

import type { Client } from "./_clients.ts";
import type { Grants } from "./_grants.ts";
import type { TestSwitches } from "./switches.ts";

/** The settings of an authorization server. */
export interface AuthorizationServerSettings {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly clients: Map<string, Client>;
  readonly switches: Readonly<TestSwitches>;
  now(): number;
}

/** The settings, and what the server has granted. */
export interface AuthorizationServerState extends AuthorizationServerSettings {
  readonly grants: Grants;
}
