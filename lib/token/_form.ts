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

/** A parameter of a form; undefined if it is left out. */
export type FormParameter = [name: string, value: string | undefined];

/** Parameters that the authentication of the client sets. */
const CLIENT_PARAMETERS = [
  "client_id",
  "client_secret",
  "client_assertion",
  "client_assertion_type",
];

/** Returns a form of the parameters that are not undefined, in their order. */
export function formOf(parameters: FormParameter[]): URLSearchParams {
  return new URLSearchParams(
    parameters.filter((parameter): parameter is [string, string] =>
      parameter[1] !== undefined
    ),
  );
}

/** Checks the scopes of a caller and joins them to the `scope` parameter. */
export function joinScopes(scopes: readonly string[]): string {
  return requireScopes("scopes", scopes).join(AUTH_SCOPE_SEPARATOR);
}

/**
 * Returns the further parameters of a caller. None may have the name of a
 * parameter that the request sets itself, and those without a value are left out
 * (RFC 6749, section 3.2).
 */
export function furtherParameters(
  parameters: Readonly<Record<string, string>> | undefined,
  own: readonly string[],
): [name: string, value: string][] {
  requireStringMembers("parameters", parameters);
  const members = Object.entries(parameters ?? {});
  for (const [name] of members) {
    requireArgument(
      !own.includes(name) && !CLIENT_PARAMETERS.includes(name),
      "parameters",
      `an object without ${name}, which this request sets itself`,
    );
  }
  return members.filter(([, value]) => value !== "");
}

/**
 * Returns a form of the parameters of one request, then `resource`, `scope` and
 * `authorization_details`, then the further parameters of the caller.
 */
export function formWith(
  parameters: FormParameter[],
  options: {
    resource?: string | URL | false | undefined;
    scopes?: readonly string[] | undefined;
    authorizationDetails?: readonly IAuthorizationDetail[] | undefined;
    parameters?: Readonly<Record<string, string>> | undefined;
  },
): URLSearchParams {
  const { resource, scopes } = options;
  const own: FormParameter[] = [
    ...parameters,
    [
      "resource",
      resource
        ? requireNonEmptyString("resource", urlString(resource))
        : undefined,
    ],
    ["scope", joinScopes(scopes ?? []) || undefined],
    [
      "authorization_details",
      encodeAuthorizationDetails(options.authorizationDetails),
    ],
  ];
  const names = own.map(([name]) => name);
  return formOf([...own, ...furtherParameters(options.parameters, names)]);
}

/** Returns the form of a token request. */
export function grantForm(
  grantType: string,
  parameters: FormParameter[],
  options: Parameters<typeof formWith>[1],
): URLSearchParams {
  return formWith([["grant_type", grantType], ...parameters], options);
}
