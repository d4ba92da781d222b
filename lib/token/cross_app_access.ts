/**
 * Cross-app access: an identity provider vouches for its user at another
 * authorization server, by an Identity Assertion Authorization Grant (ID-JAG).
 *
 * @module
 */

import { requireObject, requireText } from "../core/_arguments.ts";
import { TOKEN_TYPE_ID_JAG, TOKEN_TYPE_ID_TOKEN } from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import { decodeJwt } from "../core/_jwt.ts";
import { urlString } from "./_form.ts";
import {
  buildJwtBearerBody,
  buildTokenExchangeBody,
  type ITokenBodyOptions,
} from "./grant_body.ts";
import {
  fetchToken,
  type IFetchTokenOptions,
  type IToken,
} from "./token_request.ts";
import type {
  IAuthorizationJWTClaims,
  IAuthorizationServerMetadata,
} from "../core/types.ts";

const ID_JAG_JWT_TYPE = "oauth-id-jag+jwt";

/** Claims of an ID-JAG, decoded and not verified. */
export interface IIdJagClaims extends IAuthorizationJWTClaims {
  /** The client at the authorization server that is to redeem the ID-JAG. */
  client_id: string;
  /** The issuer identifier of that server. */
  aud: string | string[];
  /** Expiry, in seconds since the Unix epoch. */
  exp: number;
  /** Issued at, in seconds since the Unix epoch. */
  iat: number;
}

/** An ID-JAG that is what was asked for. */
export interface IIdJag {
  /** The JWT; for the server in `audience` and no other. */
  assertion: string;
  /** What it says. */
  claims: IIdJagClaims;
  /** Issuer identifier of the server that is to redeem it. */
  audience: string;
  /** When it expires, in seconds since the Unix epoch. */
  expires_at: number;
  /** What was granted, separated by spaces, where the provider said so. */
  scope?: string;
}

/** Options of {@linkcode fetchIdJag}. */
export interface IFetchIdJagOptions
  extends IFetchTokenOptions, ITokenBodyOptions {
  /** What the identity provider gave for the user: usually an ID token. */
  subjectToken: string;
  /**
   * What that is; an ID token when absent. A refresh token or a SAML assertion
   * go by their own token type identifiers.
   */
  subjectTokenType?: string | undefined;
  /** Issuer identifier of the server that is to redeem the ID-JAG. */
  audience: string;
  /** The client's identifier at that server; compared when given. */
  resourceClientId?: string | undefined;
}

function invalidIdJag(problem: string): OAuthClientError {
  return new OAuthClientError("invalid_id_jag", `Invalid ID-JAG: ${problem}`);
}

/** The one audience of a JWT; undefined when there are several or none. */
function audienceOf(aud: unknown): unknown {
  return Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
}

/** Header and claims, as far as they must be there whoever asked. */
function decodeIdJag(assertion: string): IIdJagClaims {
  let decoded: ReturnType<typeof decodeJwt>;
  try {
    decoded = decodeJwt(assertion);
  } catch {
    throw invalidIdJag("it is not a JWT");
  }
  const { header, claims } = decoded;
  // RFC 7515, section 4.1.9: `application/` may stand before it.
  const typ = typeof header.typ === "string" ? header.typ : "";
  if (
    typ.toLowerCase().replace(/^application\//, "") !== ID_JAG_JWT_TYPE
  ) {
    throw invalidIdJag(`its typ is not ${ID_JAG_JWT_TYPE}`);
  }
  for (const name of ["iss", "sub", "jti", "client_id"]) {
    if (typeof claims[name] !== "string" || claims[name] === "") {
      throw invalidIdJag(`its claim ${name} is missing or not a text`);
    }
  }
  for (const name of ["iat", "exp"]) {
    if (!Number.isFinite(claims[name])) {
      throw invalidIdJag(`its claim ${name} is missing or not a number`);
    }
  }
  return claims as IIdJagClaims;
}

/**
 * First leg: asks the user's identity provider for an ID-JAG, and checks that it
 * is one and for whom. Its signature is for the redeeming server to verify.
 *
 * @param idpMetadata Metadata of the identity provider.
 * @param options The subject's token, the audience, scopes and resource, and the
 * client's authentication at the identity provider.
 * @throws {OAuthClientError} `invalid_id_jag`: the answer is not an ID-JAG, or for
 * another audience, client, resource or key, or has expired. `server_error`: the
 * provider refused; `insufficient_user_authentication` asks for a new sign-in
 * with the `max_age` and `acr_values` of `errorResponse`. Else as
 * {@linkcode fetchToken}.
 * @see draft-ietf-oauth-identity-assertion-authz-grant, sections 3 and 4.3;
 * RFC 8693, section 2.2.1; RFC 9470, section 3.
 *
 * @example Ask for an ID-JAG
 * ```ts
 * import { clientSecretBasic, fetchIdJag, redeemIdJag } from "@oauth-helper/client";
 * import type { IAuthorizationServerMetadata } from "@oauth-helper/client";
 *
 * async function accessOnBehalf(
 *   idp: IAuthorizationServerMetadata,
 *   server: IAuthorizationServerMetadata,
 *   idToken: string,
 * ): Promise<string> {
 *   const idJag = await fetchIdJag(idp, {
 *     client: clientSecretBasic("client-at-the-idp", "s3cret"),
 *     subjectToken: idToken,
 *     audience: server.issuer,
 *     resource: "https://api.example/mcp",
 *     scopes: ["read"],
 *   });
 *   const token = await redeemIdJag(server, idJag, {
 *     client: clientSecretBasic("client-at-the-as", "0ther"),
 *   });
 *   return token.access_token;
 * }
 * console.log(accessOnBehalf.name);
 * ```
 */
export async function fetchIdJag(
  idpMetadata: IAuthorizationServerMetadata,
  options: IFetchIdJagOptions,
): Promise<IIdJag> {
  const {
    subjectToken,
    subjectTokenType = TOKEN_TYPE_ID_TOKEN,
    audience,
    resourceClientId,
    resource,
    scopes,
    parameters,
    ...rest
  } = requireObject("options", options);
  const body = buildTokenExchangeBody({
    subjectToken,
    subjectTokenType,
    requestedTokenType: TOKEN_TYPE_ID_JAG,
    audience: requireText("audience", audience),
    resource,
    scopes,
    parameters,
  });
  const token = await fetchToken(idpMetadata, body, rest);
  const { access_token, issued_token_type, token_type, scope } = token;
  if (issued_token_type !== TOKEN_TYPE_ID_JAG) {
    throw invalidIdJag("its issued_token_type is another one");
  }
  if (token_type.toLowerCase() !== "n_a") {
    throw invalidIdJag("its token_type is not N_A");
  }
  const claims = decodeIdJag(access_token);
  const { now = Date.now, dpop } = rest;
  const expectations: [string, unknown, unknown][] = [
    ["iss", claims.iss, idpMetadata.issuer],
    ["aud", audienceOf(claims.aud), audience],
    ["client_id", claims.client_id, resourceClientId ?? claims.client_id],
    // RFC 9449, section 6: without this claim anybody could use the ID-JAG.
    ...(dpop
      ? [["cnf.jkt", thumbprintIn(claims), dpop.thumbprint] as [
        string,
        unknown,
        unknown,
      ]]
      : []),
  ];
  if (resource && claims.resource !== undefined) {
    expectations.push([
      "resource",
      audienceOf(claims.resource),
      urlString(resource),
    ]);
  }
  for (const [name, actual, expected] of expectations) {
    if (actual !== expected) {
      throw invalidIdJag(`its ${name} is not the one asked for`);
    }
  }
  if (claims.exp <= now() / 1000) throw invalidIdJag("it has expired");
  return {
    assertion: access_token,
    claims,
    audience,
    expires_at: claims.exp,
    ...(scope !== undefined && { scope }),
  };
}

/** The key that an ID-JAG is bound to (RFC 7800, section 3.1). */
function thumbprintIn({ cnf }: IIdJagClaims): unknown {
  return typeof cnf === "object" && cnf !== null && "jkt" in cnf
    ? cnf.jkt
    : undefined;
}

/** Options of {@linkcode redeemIdJag}. */
export interface IRedeemIdJagOptions
  extends IFetchTokenOptions, ITokenBodyOptions {}

/**
 * Second leg: redeems an ID-JAG for an access token. While it has not expired it
 * may be redeemed again, which stands in for a refresh token; after that ask for
 * a new one.
 *
 * @param serverMetadata The server that the ID-JAG is for.
 * @param idJag From {@linkcode fetchIdJag}.
 * @param options The client's authentication at this server.
 * @throws {OAuthClientError} `issuer_mismatch`: the ID-JAG is for another server;
 * it has not been sent. `invalid_id_jag`: it is for another client or another key
 * than those in `options`, or has expired; it has not been sent. Else as
 * {@linkcode fetchToken}.
 * @see draft-ietf-oauth-identity-assertion-authz-grant, section 4.4; RFC 7523,
 * section 2.1.
 *
 * @example Both legs
 * ```ts
 * import { redeemIdJag } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * // See fetchIdJag.
 * assertEquals(redeemIdJag.length, 3);
 * ```
 */
export async function redeemIdJag(
  serverMetadata: IAuthorizationServerMetadata,
  idJag: IIdJag,
  options: IRedeemIdJagOptions,
): Promise<IToken> {
  const { resource, scopes, parameters, ...rest } = requireObject(
    "options",
    options,
  );
  const { assertion, audience, expires_at } = requireObject("idJag", idJag);
  const claims = requireObject("idJag.claims", idJag.claims);
  const { issuer } = requireObject("serverMetadata", serverMetadata);
  if (audience !== issuer) {
    throw new OAuthClientError(
      "issuer_mismatch",
      `The ID-JAG for ${audience} is not shown to ${issuer}`,
    );
  }
  const { client, dpop, now = Date.now } = rest;
  if (dpop && thumbprintIn(claims) !== dpop.thumbprint) {
    throw invalidIdJag("its cnf.jkt is not the key of the request");
  }
  if (client && client.clientId !== claims.client_id) {
    throw invalidIdJag(`it is not for the client ${client.clientId}`);
  }
  if ((expires_at ?? claims.exp) <= now() / 1000) {
    throw invalidIdJag("it has expired");
  }
  const body = buildJwtBearerBody({ assertion, resource, scopes, parameters });
  return await fetchToken(serverMetadata, body, rest);
}
