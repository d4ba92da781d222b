/** The settings of the authorization server, which its endpoints share. */

import type { IClient } from "./_clients.ts";
import type { Grants } from "./_grants.ts";
import type { ITestSwitches } from "./switches.ts";

/** The settings of an authorization server. */
export interface IAuthorizationServerSettings {
  readonly issuer: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly clients: Map<string, IClient>;
  readonly switches: Readonly<ITestSwitches>;
  now(): number;
}

/** The settings, and what the server has granted. */
export interface IAuthorizationServerState
  extends IAuthorizationServerSettings {
  readonly grants: Grants;
}
