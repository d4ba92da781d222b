/** What a form that the server has refused says about the failure. */

import type { OAuthClientErrorRequest } from "../core/errors.ts";
import type { IRequest } from "../http/_request.ts";

/** Returns the kind of a request, where that decides what to do after a failure. */
export function requestOf(
  { body }: Pick<IRequest, "body">,
): OAuthClientErrorRequest | undefined {
  const grant = new URLSearchParams(body).get("grant_type");
  return grant === "refresh_token" ? "refresh" : undefined;
}
