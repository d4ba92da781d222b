/**
 * A client that is registered with a server, or that has its own authentication.
 *
 * @module
 */

import type { IAuthorizationDynamicClientRegistrationResponse } from "../core/types.ts";
import type { IClientAuthentication } from "./authentication.ts";

/** A registered client, with the issuer that it is registered with. */
export interface IKnownClient
  extends IAuthorizationDynamicClientRegistrationResponse {
  /** Issuer of the server. The client must not be used at any other. */
  issuer: string;
  /**
   * As the option of {@linkcode clientSecretBasic}. In a session it is `false` if the
   * server has accepted the credentials only unencoded.
   */
  formEncode?: boolean | undefined;
}

/**
 * A client: as plain JSON, for example from {@linkcode registerClient} or with an
 * identifier and a secret from the server's console; or with its own authentication,
 * from {@linkcode privateKeyJwt} and the like.
 */
export type Client = IKnownClient | IClientAuthentication;
