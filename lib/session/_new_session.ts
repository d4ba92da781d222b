/** How sessions are made: nothing is stored that no later step uses. */

import { scopesFrom } from "../core/_scope_values.ts";
import type { IDpop } from "../client/dpop.ts";
import type { IKnownClient } from "../client/selection.ts";
import type { IToken } from "../token/token.ts";
import type { ISession, SessionServerMetadata } from "./session.ts";

/** What a token is requested for, and by which client. */
export interface IGrant {
  readonly resource: string;
  readonly omitResource?: true | undefined;
  readonly serverMetadata: SessionServerMetadata;
  readonly client: IKnownClient;
  /** The requested scopes. */
  readonly scopes: readonly string[];
}

/** The members of a grant that are kept, and those of its metadata and client. */
const KEPT_MEMBERS = [
  "resource",
  "omitResource",
  "scopes",
  "serverMetadata",
  "issuer",
  "token_endpoint",
  "revocation_endpoint",
  "authorization_response_iss_parameter_supported",
  "token_endpoint_auth_methods_supported",
  "client",
  "client_id",
  "client_secret",
  "client_secret_expires_at",
  "redirect_uris",
  "token_endpoint_auth_method",
];

/** Returns what is kept of a grant, as plain JSON. */
export function keptGrant(
  grant: IGrant,
): Omit<ISession, "token" | "dpopThumbprint"> {
  const { issuer } = grant.serverMetadata;
  // The list applies to nested objects as well.
  return { issuer, ...JSON.parse(JSON.stringify(grant, KEPT_MEMBERS)) };
}

/** Makes a session of a token. */
export function newSession(
  grant: IGrant,
  token: IToken,
  dpop: IDpop | undefined,
): ISession {
  const kept = keptGrant(grant);
  return {
    ...kept,
    token,
    scopes: kept.scopes.length > 0 ? kept.scopes : scopesFrom(token.scope),
    ...(dpop && { dpopThumbprint: dpop.thumbprint }),
  };
}
