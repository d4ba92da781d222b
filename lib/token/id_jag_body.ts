import {
  optionalString,
  requireString,
  requireStrings,
} from "../core/_arguments.ts";
import { formOf } from "./_form.ts";
import {
  AUTH_SCOPE_SEPARATOR,
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
  TOKEN_TYPE_ID_JAG,
  TOKEN_TYPE_ID_TOKEN,
} from "../core/constants.ts";

function scopeOf(scopes: readonly string[]): string | undefined {
  return requireStrings("scopes", scopes).length > 0
    ? scopes.join(AUTH_SCOPE_SEPARATOR)
    : undefined;
}

/**
 * Returns the body of the first request of cross-app access: an identity provider
 * exchanges an ID token for an Identity Assertion Authorization Grant (ID-JAG). Prefer
 * {@linkcode fetchIdJag}, which also sends the request and checks the ID-JAG.
 *
 * Parameters, in this order: `client_id`, `client_secret`, `grant_type`,
 * `subject_token`, `subject_token_type`, `requested_token_type`, `audience`,
 * `resource`, `scope`. Values are sent as given, without a check of their syntax.
 *
 * @param clientId Client identifier at the identity provider.
 * @param clientSecret Client secret; omitted when undefined or empty.
 * @param idToken ID token of the user. An access token is not allowed.
 * @param audience Issuer identifier of the authorization server that redeems the
 * ID-JAG.
 * @param resource Resource indicator; omitted when undefined or empty.
 * @param scopes Scope values; omitted when the list is empty.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid.
 * @see RFC 8693, section 2.1; RFC 8707, section 2;
 * draft-ietf-oauth-identity-assertion-authz-grant, section 4.3.
 *
 * @example Request an ID-JAG with your own fetch
 * ```ts
 * import { buildIdJagExchangeBody } from "@oauth-helper/client";
 *
 * async function requestIdJag(tokenEndpoint: string, idToken: string) {
 *   const body = buildIdJagExchangeBody(
 *     "my-client",
 *     undefined,
 *     idToken,
 *     "https://as.example",
 *     "https://api.example/mcp",
 *     ["read", "write"],
 *   );
 *   const response = await fetch(tokenEndpoint, { method: "POST", body });
 *   if (!response.ok) throw new Error(`Token exchange: ${response.status}`);
 *   return (await response.json()).access_token;
 * }
 * ```
 *
 * @category Literal layer
 */
export function buildIdJagExchangeBody(
  clientId: string,
  clientSecret: string | undefined,
  idToken: string,
  audience: string,
  resource: string | undefined,
  scopes: readonly string[],
): URLSearchParams {
  return formOf({
    client_id: requireString("clientId", clientId),
    client_secret: optionalString("clientSecret", clientSecret),
    grant_type: GRANT_TYPE_TOKEN_EXCHANGE,
    subject_token: requireString("idToken", idToken),
    subject_token_type: TOKEN_TYPE_ID_TOKEN,
    requested_token_type: TOKEN_TYPE_ID_JAG,
    audience: requireString("audience", audience),
    resource: optionalString("resource", resource),
    scope: scopeOf(scopes),
  });
}

/**
 * Returns the body of the second request of cross-app access, which redeems an ID-JAG
 * at the resource's authorization server. Prefer {@linkcode redeemIdJag}, which also
 * sends the request, only to the ID-JAG's audience.
 *
 * Parameters, in this order: `client_id`, `client_secret`, `grant_type`, `assertion`,
 * `resource`, `scope`. Values are sent as given, without a check of their syntax.
 *
 * @param clientId Client identifier at that authorization server, which may differ from
 * the one at the identity provider.
 * @param clientSecret Client secret; omitted when undefined or empty.
 * @param idJag The ID-JAG, a JWT.
 * @param resource Resource indicator; omitted when undefined or empty.
 * @param scopes Scope values; omitted when the list is empty.
 * @throws {OAuthClientError} `invalid_argument`: an argument is invalid.
 * @see RFC 7523, section 2.1; RFC 8707, section 2;
 * draft-ietf-oauth-identity-assertion-authz-grant, section 4.4.
 *
 * @example Redeem an ID-JAG with your own fetch
 * ```ts
 * import { buildResourceRedemptionBody } from "@oauth-helper/client";
 *
 * async function redeem(tokenEndpoint: string, idJag: string) {
 *   const body = buildResourceRedemptionBody(
 *     "my-client",
 *     "my-secret",
 *     idJag,
 *     "https://api.example/mcp",
 *     [],
 *   );
 *   const response = await fetch(tokenEndpoint, { method: "POST", body });
 *   if (!response.ok) throw new Error(`Redemption: ${response.status}`);
 *   return (await response.json()).access_token;
 * }
 * ```
 *
 * @category Literal layer
 */
export function buildResourceRedemptionBody(
  clientId: string,
  clientSecret: string | undefined,
  idJag: string,
  resource: string | undefined,
  scopes: readonly string[],
): URLSearchParams {
  return formOf({
    client_id: requireString("clientId", clientId),
    client_secret: optionalString("clientSecret", clientSecret),
    grant_type: GRANT_TYPE_JWT_BEARER,
    assertion: requireString("idJag", idJag),
    resource: optionalString("resource", resource),
    scope: scopeOf(scopes),
  });
}
