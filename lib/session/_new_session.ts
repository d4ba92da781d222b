/** How sessions are made: nothing is stored that no later step uses. */

import { scopesFrom } from "../core/_scope_values.ts";
import type { IDpop } from "../client/dpop.ts";
import type { IKnownClient } from "../client/selection.ts";
import type { IToken } from "../token/token_request.ts";
import type { ISession, SessionServerMetadata } from "./session.ts";

/** Returns the members with these names, as far as they are defined. */
function pick<T extends object, Name extends keyof T>(
  value: T,
  names: readonly Name[],
): Pick<T, Name> {
  const members = names.map((name) => [name, value[name]] as const)
    .filter(([, member]) => member !== undefined);
  return Object.fromEntries(members) as Pick<T, Name>;
}

/** Returns the members of server metadata that a session uses. */
export function trimServerMetadata(
  serverMetadata: SessionServerMetadata,
): SessionServerMetadata {
  return pick(serverMetadata, [
    "issuer",
    "token_endpoint",
    "revocation_endpoint",
    "authorization_response_iss_parameter_supported",
    "token_endpoint_auth_methods_supported",
  ]);
}

/** Returns the members of a registration that a session uses. */
export function trimClient(client: IKnownClient): IKnownClient {
  return pick(client, [
    "issuer",
    "client_id",
    "client_secret",
    "client_secret_expires_at",
    "redirect_uris",
    "token_endpoint_auth_method",
  ]);
}

/** What a session is made of, beside its token. */
export interface IGrant {
  readonly resource: string;
  readonly omitResource?: true | undefined;
  readonly serverMetadata: SessionServerMetadata;
  readonly client: IKnownClient;
  /** The requested scopes. */
  readonly scopes: readonly string[];
}

/** Makes a session of a token. */
export function newSession(
  { resource, omitResource, serverMetadata, client, scopes }: IGrant,
  token: IToken,
  dpop: IDpop | undefined,
): ISession {
  return {
    issuer: serverMetadata.issuer,
    resource,
    ...(omitResource && { omitResource }),
    serverMetadata: trimServerMetadata(serverMetadata),
    client: trimClient(client),
    token,
    scopes: scopes.length > 0 ? [...scopes] : scopesFrom(token.scope),
    ...(dpop && { dpopThumbprint: dpop.thumbprint }),
  };
}
