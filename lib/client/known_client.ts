/**
 * A client that is registered with a server, or that has its own authentication.
 *
 * @module
 */

import type { IAuthorizationDynamicClientRegistrationResponse } from "../core/types.ts";
import type { ClientAuthentication } from "./authentication.ts";

/**
 * A registered client, with the issuer that it is registered with.
 *
 * @category Clients
 */
export interface KnownClient
  extends IAuthorizationDynamicClientRegistrationResponse {
  /** Issuer of the server. The client must not be used at another server. */
  issuer: string;
  /** Like the option of {@linkcode clientSecretBasic}. */
  formEncode?: boolean | undefined;
  /** Secret that authorizes requests about the registration (RFC 7592, section 3). */
  registration_access_token?: string | undefined;
  /** URL of the registration, at which {@linkcode deleteRegistration} deletes it. */
  registration_client_uri?: string | undefined;
}

/**
 * A client. Either plain JSON: the result of {@linkcode registerClient}, or an
 * identifier and a secret from the server's console. Or a client with its own
 * authentication, for example from {@linkcode privateKeyJwt}.
 *
 * @category Clients
 */
export type Client = KnownClient | ClientAuthentication;
