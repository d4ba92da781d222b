/**
 * Options of every request to an endpoint that authenticates the client.
 *
 * @module
 */

import type { IDpop } from "../client/dpop.ts";
import type { Client } from "../client/known_client.ts";
import type { IRequestOptions } from "../http/request_options.ts";

/**
 * Options of every request to an endpoint that authenticates the client.
 *
 * @category Messages of the protocol
 */
export interface IFormRequestOptions extends IRequestOptions {
  /** The client and its credentials; when absent, no `client_id` is added. */
  client?: Client | undefined;
  /** Binds the token to a key. */
  dpop?: IDpop | undefined;
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
}
