/** Grants that wait until the user consents on another device. */

import type { AuthorizationServerState } from "./_authorization_settings.ts";
import type { Client } from "./_clients.ts";
import type { Grant } from "./_grants.ts";
import { refusal } from "./_refusals.ts";

/** The grants of device codes and of backchannel authentication requests. */
export class WaitingGrants {
  readonly #server: AuthorizationServerState;
  readonly #waiting = new Map<string, { grant: Grant; expiresAt: number }>();

  constructor(server: AuthorizationServerState) {
    this.#server = server;
  }

  /** Returns the code that redeems the grant. */
  add(grant: Grant, name: string, seconds: number): string {
    const { grants, now } = this.#server;
    const code = grants.unique(name);
    this.#waiting.set(code, { grant, expiresAt: now() + seconds * 1000 });
    return code;
  }

  /** Returns a grant if the user consents (RFC 8628, section 3.5; CIBA, section 11). */
  redeem(client: Client, code: string | null): Grant {
    const { switches: { user }, now } = this.#server;
    const { grant, expiresAt = 0 } = this.#waiting.get(code ?? "") ?? {};
    if (grant?.clientId !== client.client_id) {
      throw refusal("invalid_grant", "The code is not of this client");
    }
    if (expiresAt <= now()) {
      throw refusal("expired_token", "The code has expired");
    }
    if (user === "refuses") throw refusal("access_denied", "The user declines");
    if (user === "leaves") {
      throw refusal("authorization_pending", "The user has not consented");
    }
    this.#waiting.delete(code ?? "");
    return grant;
  }
}
