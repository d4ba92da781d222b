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

type FormParameters = Readonly<Record<string, string | undefined>>;

export function formOf(parameters: FormParameters): URLSearchParams {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) form.append(name, value);
  }
  return form;
}

/** Adds absent, non-empty parameters. Client authentication replaces its own later. */
export function withFurther(
  form: URLSearchParams,
  further: Readonly<Record<string, string>> = {},
): URLSearchParams {
  for (const [name, value] of Object.entries(further)) {
    if (value && !form.has(name)) form.append(name, value);
  }
  return form;
}

/** A caller's checked options; nothing else is passed on. */
export interface Requested extends TokenBodyOptions {}

/** For several resources (RFC 8707, section 2.1). */
export interface RequestedOfAll extends Omit<Requested, "resource"> {
  readonly resource?: Requested["resource"] | readonly (string | URL)[];
}

export function requestedOf(
  { resource, scopes, authorizationDetails, parameters }: TokenBodyOptions,
): Requested {
  return { resource, scopes, authorizationDetails, parameters };
}

/**
 * Returns a form: the request's parameters, `resource`, `scope`,
 * `authorization_details`, then the caller's. The caller's must not repeat a name that
 * the request sets; empty ones are omitted (RFC 6749, section 3.2).
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
