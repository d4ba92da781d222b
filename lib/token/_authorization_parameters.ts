import type { Hint } from "../core/errors.ts";
import {
  requireArgument,
  requireNonEmptyString,
  requireStringMembers,
} from "../core/_arguments.ts";
import { stringsIn } from "../core/_members.ts";
import { hinted, UNLISTED } from "../core/_hints.ts";
import { quoteUrl, urlString } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import type { Dpop } from "../client/dpop.ts";
import { formWithAll } from "./_form.ts";
import type { AuthorizationParameters } from "./authorization_parameters.ts";

type PkceMetadata = ServerMetadata;

const ASSUME_PKCE: Hint = {
  option: "assumePkce",
  value: true,
  text: "set assumePkce if it is known to support PKCE",
};

export function requirePkce(
  { issuer, code_challenge_methods_supported }: PkceMetadata,
  assumePkce: boolean | undefined,
): void {
  const methods = stringsIn(code_challenge_methods_supported);
  if (methods?.includes("S256") ?? assumePkce) return;
  throw hinted(
    "unsupported",
    `Authorization server ${quoteUrl(issuer)} does not list S256 in ` +
      "code_challenge_methods_supported",
    [methods ? UNLISTED : ASSUME_PKCE],
  );
}

export interface AuthorizationQuery extends AuthorizationParameters {
  readonly clientId: string;
  readonly assumePkce?: boolean | undefined;
}

export function authorizationQuery(
  serverMetadata: PkceMetadata,
  {
    clientId,
    assumePkce,
    redirectUri,
    state,
    codeChallenge,
    resource,
    scopes,
    authorizationDetails,
    parameters,
  }: AuthorizationQuery,
): URLSearchParams {
  requirePkce(serverMetadata, assumePkce);
  return formWithAll({
    response_type: "code",
    client_id: requireNonEmptyString("clientId", clientId),
    redirect_uri: requireNonEmptyString("redirectUri", urlString(redirectUri)),
    state: requireNonEmptyString("state", state),
    code_challenge: requireNonEmptyString("codeChallenge", codeChallenge),
    code_challenge_method: "S256",
  }, { resource, scopes, authorizationDetails, parameters });
}

/** Adds the key that the code is bound to (RFC 9449, section 10). */
export function boundParameters(
  parameters: AuthorizationParameters["parameters"],
  dpop: Dpop | undefined,
): Readonly<Record<string, string>> {
  const given = requireStringMembers("parameters", parameters);
  if (!dpop) return given;
  requireArgument(
    given.dpop_jkt === undefined,
    "parameters",
    "an object without dpop_jkt, if dpop is given",
  );
  return { ...given, dpop_jkt: dpop.thumbprint };
}

/** Parameters that only the caller sets; absent ones are removed. */
const CHOSEN = ["resource", "scope", "authorization_details"];

/**
 * Adds parameters to an endpoint's query, and removes its fragment (RFC 6749, section
 * 3.1).
 */
export function endpointUrl(
  endpoint: string,
  parameters: URLSearchParams,
): URL {
  // Parsing the result once is faster than changing a URL.
  const [, base, endpointQuery] = /^([^?#]*)([^#]*)/.exec(endpoint) ?? [];
  const query = [...new URLSearchParams(endpointQuery)]
    .filter(([name]) => !parameters.has(name) && !CHOSEN.includes(name));
  for (const [name, value] of query) parameters.append(name, value);
  // A proxy could read a plus as its own; an encoded plus is `%2B` already.
  return new URL(`${base}?${`${parameters}`.replaceAll("+", "%20")}`);
}
