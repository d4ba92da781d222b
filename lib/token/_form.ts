/** Bodies of form requests (RFC 6749, appendix B). */

import {
  requireArgument,
  requireNonEmptyString,
  requireStringMembers,
} from "../core/_arguments.ts";
import { encodeAuthorizationDetails } from "../core/_authorization_details.ts";
import { requireScopes } from "../core/_scope_values.ts";
import { urlString } from "../core/_url.ts";
import { AUTH_SCOPE_SEPARATOR } from "../core/constants.ts";
import type { IAuthorizationDetail } from "../core/types.ts";
import { CLIENT_PARAMETERS } from "../client/_client_parameters.ts";

/** The parameters of a form; one that is undefined is left out. */
type FormParameters = Readonly<Record<string, string | undefined>>;

/** Returns a form of the parameters, in their order. */
export function formOf(parameters: FormParameters): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) form.append(name, value);
  }
  return form;
}

/** What most requests of a grant have in common. */
export interface IRequested {
  resource?: string | URL | false | undefined;
  scopes?: readonly string[] | undefined;
  authorizationDetails?: readonly IAuthorizationDetail[] | undefined;
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** Takes out what most requests of a grant have in common of a caller's options. */
export function requestedOf(
  { resource, scopes, authorizationDetails, parameters }: IRequested,
): IRequested {
  return { resource, scopes, authorizationDetails, parameters };
}

/**
 * Returns a form of the parameters of one request, then `resource`, `scope` and
 * `authorization_details`, then the further parameters of the caller. None of these
 * may have the name of a parameter that the request sets itself, and those without a
 * value are left out (RFC 6749, section 3.2).
 */
export function formWith(
  required: FormParameters,
  { resource, scopes = [], authorizationDetails, parameters }: IRequested,
): URLSearchParams {
  const own = {
    ...required,
    resource: resource
      ? requireNonEmptyString("resource", urlString(resource))
      : undefined,
    scope: requireScopes("scopes", scopes).join(AUTH_SCOPE_SEPARATOR) ||
      undefined,
    authorization_details: encodeAuthorizationDetails(authorizationDetails),
  };
  const form = formOf(own);
  const further = requireStringMembers("parameters", parameters);
  for (const [name, value] of Object.entries(further)) {
    requireArgument(
      !Object.hasOwn(own, name) && !CLIENT_PARAMETERS.includes(name),
      "parameters",
      `an object without ${name}, which this request sets itself`,
    );
    if (value) form.append(name, value);
  }
  return form;
}
