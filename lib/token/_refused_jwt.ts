import { type Message, words } from "../http/_error.ts";
import { dateOf, type IResponse } from "../http/_response.ts";
import type { Context } from "../http/_context.ts";
import type { IRequest } from "../http/_request.ts";
import { refusesClient } from "./_refused_form.ts";

/** Allowed difference in seconds. For DPoP proofs, many servers allow no more. */
const MAX_DIFFERENCE_S = 30;

/** Checks whether the time may be why a response rejects a JWT. */
function mayRefuseJwt(
  response: IResponse,
  error: string | undefined,
  { headers, body }: IRequest,
): boolean {
  if (error === "invalid_dpop_proof") return headers.DPoP !== undefined;
  if (!refusesClient(response, error) && error !== "invalid_grant") {
    return false;
  }
  const form = new URLSearchParams(body);
  return form.has("client_assertion") || form.has("assertion");
}

/**
 * Returns the clocks' difference if it may explain the rejection; otherwise an empty
 * string.
 */
export function clockHintFor(
  { now }: Pick<Context, "now">,
  response: IResponse,
  error: string | undefined,
  request: IRequest,
): Message | "" {
  const date = dateOf(response.headers);
  if (date === undefined || !mayRefuseJwt(response, error, request)) return "";
  const ahead = Math.round(now() / 1000 - date);
  return Math.abs(ahead) <= MAX_DIFFERENCE_S
    ? ""
    : words`; the clock of this machine is ${Math.abs(ahead)} s ${
      ahead > 0 ? "ahead of" : "behind"
    } the server${[{ option: "now", text: "correct the clock, or set now" }]}`;
}
