/** The clocks of servers that refuse a JWT because their time is another one. */

import { readClaims } from "../core/_jwt.ts";
import type { IChallengeHeaders as IHeaders } from "../core/challenge.ts";
import { dateOf } from "../http/_response.ts";

/** How far two clocks may differ; many servers accept no more for a DPoP proof. */
const MAX_DIFFERENCE_S = 30;

/** Values are kept for this many servers, so that the map cannot grow without limit. */
const MAX_SERVERS = 100;

/** Keeps a value for a server; beyond the limit, the one that was kept first is dropped. */
export function keepFor<Value>(
  values: Map<string, Value>,
  server: string,
  value: Value,
): void {
  values.delete(server);
  values.set(server, value);
  const [oldest] = values.keys();
  if (values.size > MAX_SERVERS && oldest !== undefined) values.delete(oldest);
}

/** The time at each server, for the JWTs that are signed with one key. */
export class ServerClocks {
  readonly #now: () => number;
  /** By how many seconds the clocks of servers are ahead of that of this machine. */
  readonly #offsets = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the `iat` of a JWT for a server. */
  iatFor(server: string): number {
    const offset = this.#offsets.get(server) ?? 0;
    return Math.floor(this.#now() / 1000 + offset);
  }

  /**
   * Notes the response of a server that has refused a JWT. Returns true if the `Date` of
   * the response differs from the `iat`, so that a new JWT may be accepted.
   */
  noteRefusal(server: string, jwt: string, headers: IHeaders): boolean {
    const date = dateOf(headers);
    const { iat } = readClaims(jwt) ?? {};
    if (date === undefined || typeof iat !== "number") return false;
    const isLate = Math.abs(date - iat) > MAX_DIFFERENCE_S;
    // Compared with the present time: the server may have taken long to respond.
    const offset = date - this.#now() / 1000;
    const isOther = isLate && Math.abs(offset) > MAX_DIFFERENCE_S;
    // A JWT by this `Date` was refused as well: a proxy may have another clock.
    if (isOther) keepFor(this.#offsets, server, offset);
    else this.#offsets.delete(server);
    return isLate;
  }
}

/**
 * Returns what the clocks say about a JWT that a server has refused, as the end of a
 * message; an empty string if they agree.
 */
export function clockHint(
  jwt: string,
  headers: IHeaders,
  now: () => number,
): string {
  const date = dateOf(headers);
  if (date === undefined) return "";
  const ahead = Math.round(now() / 1000 - date);
  if (Math.abs(ahead) > MAX_DIFFERENCE_S) {
    return ` (the clock of this machine is ${Math.abs(ahead)} s ${
      ahead > 0 ? "ahead of" : "behind"
    } that of the server)`;
  }
  const { iat, exp } = readClaims(jwt) ?? {};
  const early = Number(iat) - date;
  if (early > MAX_DIFFERENCE_S) {
    return ` (by the clock of the server, the JWT was issued ${
      Math.round(early)
    } s in the future)`;
  }
  const late = date - Number(exp);
  return late > 0
    ? ` (by the clock of the server, the JWT expired ${Math.round(late)} s ago)`
    : "";
}
