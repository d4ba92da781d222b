/**
 * Form bodies of the two legs of cross-app access, client and all.
 *
 * @module
 */

import { optionalText, requireText } from "../core/_arguments.ts";
import { formOf, joinScopes } from "./_form.ts";
import {
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
  TOKEN_TYPE_ID_JAG,
  TOKEN_TYPE_ID_TOKEN,
} from "../core/constants.ts";

/**
 * Body of the token exchange in which an identity provider turns a user's ID
 * token into an Identity Assertion Authorization Grant (ID-JAG), the first leg
 * of cross-app access.
 *
 * Parameters, in this order: `client_id`, `client_secret`, `grant_type`,
 * `subject_token`, `subject_token_type`, `requested_token_type`, `audience`,
 * `resource`, `scope`.
 *
 * @param clientId Client identifier at the identity provider.
 * @param clientSecret Its secret; left out when undefined or empty.
 * @param idToken The user's ID token. An access token will not do.
 * @param audience Issuer identifier of the authorization server that is to
 * redeem the ID-JAG.
 * @param resource Resource indicator; left out when undefined or empty.
 * @param scopes Scope values; left out when there are none.
 * @throws {OAuthClientError} `invalid_argument`: an argument has the wrong type,
 * or `clientId`, `idToken` or `audience` is empty.
 * @see RFC 8693, section 2.1; RFC 8707, section 2;
 * draft-ietf-oauth-identity-assertion-authz-grant, section 4.3.
 *
 * @example Ask for an ID-JAG
 * ```ts
 * import { buildIdJagExchangeBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildIdJagExchangeBody(
 *   "my-client",
 *   undefined,
 *   "eyJhbGciOi...",
 *   "https://as.example",
 *   "https://api.example/mcp",
 *   ["read", "write"],
 * );
 * assertEquals(body.get("scope"), "read write");
 * // await fetch(tokenEndpoint, { method: "POST", body });
 * ```
 */
export function buildIdJagExchangeBody(
  clientId: string,
  clientSecret: string | undefined,
  idToken: string,
  audience: string,
  resource: string | undefined,
  scopes: readonly string[],
): URLSearchParams {
  return formOf([
    ["client_id", requireText("clientId", clientId)],
    ["client_secret", optionalText("clientSecret", clientSecret)],
    ["grant_type", GRANT_TYPE_TOKEN_EXCHANGE],
    ["subject_token", requireText("idToken", idToken)],
    ["subject_token_type", TOKEN_TYPE_ID_TOKEN],
    ["requested_token_type", TOKEN_TYPE_ID_JAG],
    ["audience", requireText("audience", audience)],
    ["resource", optionalText("resource", resource)],
    ["scope", joinScopes(scopes)],
  ]);
}

/**
 * Body of the token request that redeems an ID-JAG at the authorization server
 * of the resource, the second leg of cross-app access.
 *
 * Parameters, in this order: `client_id`, `client_secret`, `grant_type`,
 * `assertion`, `resource`, `scope`.
 *
 * @param clientId Client identifier at that authorization server, which may
 * differ from the one at the identity provider.
 * @param clientSecret Its secret; left out when undefined or empty.
 * @param idJag The ID-JAG, a JWT.
 * @param resource Resource indicator; left out when undefined or empty.
 * @param scopes Scope values; left out when there are none.
 * @throws {OAuthClientError} `invalid_argument`: an argument has the wrong type,
 * or `clientId` or `idJag` is empty.
 * @see RFC 7523, section 2.1; RFC 8707, section 2;
 * draft-ietf-oauth-identity-assertion-authz-grant, section 4.4.
 *
 * @example Redeem an ID-JAG
 * ```ts
 * import { buildResourceRedemptionBody } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const body = buildResourceRedemptionBody(
 *   "my-client",
 *   undefined,
 *   "eyJ0eXAiOi...",
 *   undefined,
 *   [],
 * );
 * assertEquals([...body.keys()], ["client_id", "grant_type", "assertion"]);
 * ```
 */
export function buildResourceRedemptionBody(
  clientId: string,
  clientSecret: string | undefined,
  idJag: string,
  resource: string | undefined,
  scopes: readonly string[],
): URLSearchParams {
  return formOf([
    ["client_id", requireText("clientId", clientId)],
    ["client_secret", optionalText("clientSecret", clientSecret)],
    ["grant_type", GRANT_TYPE_JWT_BEARER],
    ["assertion", requireText("idJag", idJag)],
    ["resource", optionalText("resource", resource)],
    ["scope", joinScopes(scopes)],
  ]);
}
