/** The JWTs that a server refuses, and what the clocks say about them. */

import { readClaims } from "../core/_jwt.ts";
import { dateOf, type IResponse } from "../http/_response.ts";
import type { IRequest } from "../http/_request.ts";
import { refusesClient } from "./_refused_form.ts";

/** How far two clocks may differ; many servers accept no more for a DPoP proof. */
const MAX_DIFFERENCE_S = 30;

/** Returns the JWT of a request that its response refuses, if it does. */
function refusedJwtOf(
  response: IResponse,
  error: string | undefined,
  { headers, body }: IRequest,
): string | null | undefined {
  if (error === "invalid_dpop_proof") return headers.DPoP;
  if (!refusesClient(response, error) && error !== "invalid_grant") return;
  const form = new URLSearchParams(body);
  return form.get("client_assertion") || form.get("assertion");
}

/**
 * Returns what the clocks say about a JWT that a server has refused, as the end of a
 * message; an empty string if they agree.
 */
export function clockHintFor(
  response: IResponse,
  error: string | undefined,
  request: IRequest,
  now: () => number,
): string {
  const jwt = refusedJwtOf(response, error, request);
  const date = dateOf(response.headers);
  if (!jwt || date === undefined) return "";
  const ahead = Math.round(now() / 1000 - date);
  if (Math.abs(ahead) > MAX_DIFFERENCE_S) {
    return ` (the clock of this machine is ${Math.abs(ahead)} s ${
      ahead > 0 ? "ahead of" : "behind"
    } that of the server: correct it, or set now)`;
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
