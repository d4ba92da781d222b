/** Parameters and URLs of authorization requests (RFC 6749, section 4.1.1). */

import { requireArgument, requireNonEmptyString } from "../core/_arguments.ts";
import { encodeAuthorizationDetails } from "../core/_authorization_details.ts";
import { stringsIn } from "../core/_members.ts";
import { quoteUrl, urlString } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IDpop } from "../client/dpop.ts";
import { furtherParameters, joinScopes } from "./_form.ts";
import type {
  AuthorizationRequestMetadata,
  IAuthorizationParameters,
} from "./authorization_parameters.ts";

/** The parameters of a request. */
export interface IAuthorizationQuery {
  /** The parameters of this library; those without a value are empty strings. */
  readonly own: Readonly<Record<string, string>>;
  /** The further parameters of the caller. */
  readonly further?: readonly [name: string, value: string][];
}

/** Fails unless the server supports PKCE with `S256`. */
function requirePkce(
  { issuer, code_challenge_methods_supported }: AuthorizationRequestMetadata,
  assumePkce: boolean | undefined,
): void {
  const methods = stringsIn(code_challenge_methods_supported);
  if (methods?.includes("S256") ?? assumePkce) return;
  throw new OAuthClientError(
    "unsupported",
    `Authorization server ${quoteUrl(issuer)} does not list S256 in ` +
      "code_challenge_methods_supported" +
      (methods ? "" : " (set assumePkce if it is known to support PKCE)"),
  );
}

/** Returns the parameters of an authorization request with PKCE. */
export function authorizationQuery(
  serverMetadata: AuthorizationRequestMetadata,
  clientId: string,
  options: IAuthorizationParameters,
  assumePkce: boolean | undefined,
): IAuthorizationQuery {
  requirePkce(serverMetadata, assumePkce);
  const { redirectUri, state, codeChallenge, scopes = [], resource } = options;
  const own = {
    response_type: "code",
    client_id: requireNonEmptyString("clientId", clientId),
    redirect_uri: requireNonEmptyString("redirectUri", urlString(redirectUri)),
    state: requireNonEmptyString("state", state),
    code_challenge: requireNonEmptyString("codeChallenge", codeChallenge),
    code_challenge_method: "S256",
    scope: joinScopes(scopes),
    resource: resource
      ? requireNonEmptyString("resource", urlString(resource))
      : "",
    authorization_details:
      encodeAuthorizationDetails(options.authorizationDetails) ?? "",
  };
  return {
    own,
    further: furtherParameters(options.parameters, Object.keys(own)),
  };
}

/** Adds the key to which the code is to be bound (RFC 9449, section 10). */
export function boundParameters(
  parameters: IAuthorizationParameters["parameters"],
  dpop: IDpop | undefined,
): IAuthorizationParameters["parameters"] {
  if (!dpop) return parameters;
  requireArgument(
    parameters?.dpop_jkt === undefined,
    "parameters",
    "an object without dpop_jkt, if dpop is given",
  );
  return { ...parameters, dpop_jkt: dpop.thumbprint };
}

/**
 * Returns the URL of an endpoint with these parameters. Others in its query are
 * kept (RFC 6749, section 3.1).
 */
export function endpointUrl(
  endpoint: string,
  { own, further = [] }: IAuthorizationQuery,
): URL {
  const url = new URL(endpoint);
  // Separate from the URL, which would be parsed again at each change.
  const query = new URLSearchParams(url.search);
  for (const [name, value] of further) query.set(name, value);
  for (const [name, value] of Object.entries(own)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  url.search = query.toString();
  // An endpoint has no fragment (RFC 6749, section 3.1).
  url.hash = "";
  return url;
}
