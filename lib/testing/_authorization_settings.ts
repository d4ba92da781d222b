import type { Client } from "./_clients.ts";
import type { Grants } from "./_grants.ts";
import type { TestSwitches } from "./switches.ts";

export interface AuthorizationServerSettings {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly clients: Map<string, Client>;
  readonly switches: Readonly<TestSwitches>;
  now(): number;
}

export interface AuthorizationServerState extends AuthorizationServerSettings {
  readonly grants: Grants;
}
