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
 * A client: plain JSON with an identifier, such as the result of
 * {@linkcode registerClient} or a client from the server's console; or a client with
 * its own authentication, such as {@linkcode privateKeyJwt}.
 *
 * @category Clients
 */
export type Client = KnownClient | ClientAuthentication;
