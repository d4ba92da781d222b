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
import type { TokenBodyOptions } from "./form_options.ts";
import { CLIENT_PARAMETERS } from "../client/_client_parameters.ts";

/** The parameters of a form; undefined ones are omitted. */
type FormParameters = Readonly<Record<string, string | undefined>>;

/** Returns a form with the parameters, in their order. */
export function formOf(parameters: FormParameters): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) form.append(name, value);
  }
  return form;
}

/**
 * Adds other parameters to a form: those that it does not have, and that are not
 * empty. The client authentication replaces its own when the form is sent.
 */
export function withFurther(
  form: URLSearchParams,
  further: Readonly<Record<string, string>> = {},
): URLSearchParams {
  for (const [name, value] of Object.entries(further)) {
    if (value && !form.has(name)) form.append(name, value);
  }
  return form;
}

/** What was taken out of a caller's options: nothing else is passed on. */
export interface Requested extends TokenBodyOptions {}

/** The same in a request for several resources (RFC 8707, section 2.1). */
export interface RequestedOfAll extends Omit<Requested, "resource"> {
  readonly resource?: Requested["resource"] | readonly (string | URL)[];
}

/** Returns the members of a caller's options that most requests of a grant share. */
export function requestedOf(
  { resource, scopes, authorizationDetails, parameters }: TokenBodyOptions,
): Requested {
  return { resource, scopes, authorizationDetails, parameters };
}

/**
 * Returns a form with the parameters of one request, then `resource`, `scope` and
 * `authorization_details`, then other parameters of the caller. The caller's must not
 * have the name of a parameter that the request sets itself, and are omitted if empty
 * (RFC 6749, section 3.2).
 */
export function formWith(
  required: FormParameters,
  { resource, scopes = [], authorizationDetails, parameters }: TokenBodyOptions,
): URLSearchParams {
  const requested = {
    ...required,
    resource: resource
      ? requireNonEmptyString("resource", urlString(resource))
      : undefined,
    scope: requireScopes("scopes", scopes).join(AUTH_SCOPE_SEPARATOR) ||
      undefined,
    authorization_details: encodeAuthorizationDetails(authorizationDetails),
  };
  const form = formOf(requested);
  const further = requireStringMembers("parameters", parameters);
  for (const [name, value] of Object.entries(further)) {
    requireArgument(
      !Object.hasOwn(requested, name) && !CLIENT_PARAMETERS.includes(name),
      "parameters",
      `an object without ${name}, which this request sets itself`,
    );
    if (value) form.append(name, value);
  }
  return form;
}

/** Returns the same form for several resources. */
export function formWithAll(
  required: FormParameters,
  { resource, ...requested }: RequestedOfAll,
): URLSearchParams {
  const all = Array.isArray(resource) ? resource : [resource];
  const [first, ...others] = all;
  const form = formWith(required, { ...requested, resource: first });
  for (const other of others) {
    form.append(
      "resource",
      requireNonEmptyString("resource", urlString(other)),
    );
  }
  return form;
}
