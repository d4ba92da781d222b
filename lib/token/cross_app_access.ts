/**
 * Cross-app access: an identity provider issues an Identity Assertion Authorization
 * Grant (ID-JAG), and another authorization server redeems it.
 */

import { requireNonEmptyString } from "../core/_arguments.ts";
import { decodeJwt } from "../core/_jwt.ts";
import { quoteUrl } from "../core/_url.ts";
import { TOKEN_TYPE_ID_JAG, TOKEN_TYPE_ID_TOKEN } from "../core/constants.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import type { IAuthorizationJWTClaims } from "../core/types.ts";
import { type Requested, requestedOf, withFurther } from "./_form.ts";
import { type GrantContext, grantContextOf } from "./_grant_context.ts";
import { clientIdOf } from "../client/_authentication_selection.ts";
import { buildJwtBearerBody, buildTokenExchangeBody } from "./grant_body.ts";
import type { TokenBodyOptions } from "./form_options.ts";
import {
  type FetchTokenOptions,
  requestToken,
  type Token,
  type TokenServer,
  tokenWith,
} from "./token.ts";

const ID_JAG_JWT_TYPE = "oauth-id-jag+jwt";

/**
 * Claims of an ID-JAG, decoded and not verified.
 *
 * @category Messages of the protocol
 */
export interface IdJagClaims extends IAuthorizationJWTClaims {
  /** Identifier of the client at the authorization server that redeems the ID-JAG. */
  client_id: string;
  /** Issuer identifier of that server. */
  aud: string | string[];
  /** Expiry, in seconds since the Unix epoch. */
  exp: number;
  /** Time of issue, in seconds since the Unix epoch. */
  iat: number;
}

/**
 * An ID-JAG that matches the request for it, plain JSON.
 *
 * @category Messages of the protocol
 */
export interface IdJag {
  /** The JWT. Send it only to the `audience`. */
  assertion: string;
  /** Its claims. */
  claims: IdJagClaims;
  /** Issuer identifier of the server that redeems it. */
  audience: string;
  /** When it expires, in seconds since the Unix epoch. */
  expires_at: number;
  /** The granted scopes, separated by spaces, if the response contains them. */
  scope?: string;
}

/** Options of {@linkcode fetchIdJag}. */
export interface FetchIdJagOptions extends FetchTokenOptions, TokenBodyOptions {
  /** Token of the user from the identity provider, usually an ID token. */
  subjectToken: string;
  /**
   * Token type identifier of `subjectToken`, which may also be a refresh token or a
   * SAML assertion (RFC 8693, section 3).
   *
   * @default {TOKEN_TYPE_ID_TOKEN}
   */
  subjectTokenType?: string | undefined;
  /** Issuer identifier of the server that redeems the ID-JAG. */
  audience: string;
  /** Identifier of the client at that server, which the ID-JAG must contain. */
  resourceClientId?: string | undefined;
}

function invalidIdJag(problem: string): OAuthClientError {
  return new OAuthClientError("invalid_id_jag", `Invalid ID-JAG: ${problem}`);
}

function single(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

function decodeIdJag(assertion: string): IdJagClaims {
  let decoded: ReturnType<typeof decodeJwt>;
  try {
    decoded = decodeJwt(assertion);
  } catch {
    throw invalidIdJag("it is not a JWT");
  }
  const { header, claims } = decoded;
  // `application/` may precede the type (RFC 7515, section 4.1.9).
  const typ = typeof header.typ === "string" ? header.typ : "";
  if (typ.toLowerCase().replace(/^application\//, "") !== ID_JAG_JWT_TYPE) {
    throw invalidIdJag(`its typ is not ${ID_JAG_JWT_TYPE}`);
  }
  for (const name of ["iss", "sub", "jti", "client_id"]) {
    if (typeof claims[name] !== "string" || claims[name] === "") {
      throw invalidIdJag(`its claim ${name} is missing or not a string`);
    }
  }
  for (const name of ["iat", "exp"]) {
    if (!Number.isFinite(claims[name])) {
      throw invalidIdJag(`its claim ${name} is missing or not a number`);
    }
  }
  return claims as IdJagClaims;
}

/** Returns the thumbprint of an ID-JAG's key (RFC 9449). */
function thumbprintIn({ cnf }: IdJagClaims): unknown {
  return typeof cnf === "object" && cnf !== null && "jkt" in cnf
    ? cnf.jkt
    : undefined;
}

function requireClaim(name: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) {
    throw invalidIdJag(`its ${name} is not the requested one`);
  }
}

/**
 * Fetches an ID-JAG from the user's identity provider: the first request of cross-app
 * access.
 *
 * Checks that the ID-JAG matches the request. The server that redeems it verifies its
 * signature.
 *
 * @param idpMetadata Metadata of the identity provider.
 * @param options The user's token, the audience, scopes and resource, and the client
 * authentication at the identity provider.
 * @throws {OAuthClientError} `invalid_id_jag`: the response is not an ID-JAG, names
 * another audience, client, resource or key, or has expired. `oauth_error`: the
 * provider returned an error; `insufficient_user_authentication` requires a new login
 * with the `max_age` and `acr_values` of `errorResponse`. Other codes as for
 * {@linkcode fetchToken}.
 * @see draft-ietf-oauth-identity-assertion-authz-grant, sections 3 and 4.3; RFC 8693,
 * section 2.2.1; RFC 9470, section 3.
 *
 * @example Call a resource on behalf of the user of an identity provider
 * ```ts
 * import {
 *   clientSecretBasic,
 *   discoverAuthorizationServer,
 *   fetchIdJag,
 *   redeemIdJag,
 * } from "@oauth-helper/client";
 *
 * export async function callOnBehalf(idToken: string): Promise<Response> {
 *   const idp = await discoverAuthorizationServer("https://idp.example");
 *   const server = await discoverAuthorizationServer("https://as.example");
 *   const idJag = await fetchIdJag(idp.serverMetadata, {
 *     client: clientSecretBasic("client-at-the-idp", "s3cret"),
 *     subjectToken: idToken,
 *     audience: server.issuer,
 *     resource: "https://api.example/mcp",
 *     scopes: ["read"],
 *   });
 *   const token = await redeemIdJag(server.serverMetadata, idJag, {
 *     client: clientSecretBasic("client-at-the-as", "0ther"),
 *   });
 *   return await fetch("https://api.example/mcp", {
 *     headers: { Authorization: `Bearer ${token.access_token}` },
 *   });
 * }
 * ```
 *
 * @category Messages of the protocol
 */
export async function fetchIdJag(
  idpMetadata: ServerMetadata,
  options: FetchIdJagOptions,
): Promise<IdJag> {
  return await idJagWith(grantContextOf(options), idpMetadata, {
    subjectToken: options.subjectToken,
    subjectTokenType: options.subjectTokenType,
    audience: options.audience,
    resourceClientId: options.resourceClientId,
    requested: requestedOf(options),
  });
}

interface WantedIdJag extends
  Pick<
    FetchIdJagOptions,
    "subjectToken" | "subjectTokenType" | "audience" | "resourceClientId"
  > {
  requested: Requested;
}

export async function idJagWith(
  context: GrantContext,
  idpMetadata: TokenServer,
  { subjectToken, subjectTokenType, audience, resourceClientId, requested }:
    WantedIdJag,
): Promise<IdJag> {
  const { dpop, now } = context;
  const { resource } = requested;
  const body = buildTokenExchangeBody({
    ...requested,
    subjectToken,
    subjectTokenType: subjectTokenType ?? TOKEN_TYPE_ID_TOKEN,
    requestedTokenType: TOKEN_TYPE_ID_JAG,
    audience: requireNonEmptyString("audience", audience),
  });
  const { token } = await requestToken(context, idpMetadata, body);
  const { access_token, issued_token_type, token_type, scope } = token;
  requireClaim("issued_token_type", issued_token_type, TOKEN_TYPE_ID_JAG);
  if (token_type.toLowerCase() !== "n_a") {
    throw invalidIdJag("its token_type is not N_A");
  }
  const claims = decodeIdJag(access_token);
  requireClaim("iss", claims.iss, idpMetadata.issuer);
  requireClaim("aud", single(claims.aud), audience);
  requireClaim(
    "client_id",
    claims.client_id,
    resourceClientId ?? claims.client_id,
  );
  if (resource && claims.resource !== undefined) {
    requireClaim("resource", single(claims.resource), String(resource));
  }
  // Without this claim, any key could use the ID-JAG (RFC 9449, section 6).
  if (dpop) requireClaim("cnf.jkt", thumbprintIn(claims), dpop.thumbprint);
  if (claims.exp <= now() / 1000) throw invalidIdJag("it has expired");
  return {
    assertion: access_token,
    claims,
    audience,
    expires_at: claims.exp,
    ...(scope !== undefined && { scope }),
  };
}

/** Options of {@linkcode redeemIdJag}. */
export interface RedeemIdJagOptions
  extends FetchTokenOptions, TokenBodyOptions {}

/**
 * Redeems an ID-JAG for an access token: the second request of cross-app access.
 *
 * Instead of refreshing, redeem the ID-JAG again until it expires, then fetch a new
 * one. The assertion's own claims are checked, not the stored `claims`.
 *
 * @param serverMetadata The server that the ID-JAG is for.
 * @param idJag The result of {@linkcode fetchIdJag}.
 * @param options The client authentication at this server.
 * @throws {OAuthClientError} Before the request: `issuer_mismatch`: the ID-JAG is for
 * another server. `invalid_id_jag`: it is for another client or key, or it has expired.
 * Other codes as for {@linkcode fetchToken}.
 * @see draft-ietf-oauth-identity-assertion-authz-grant, section 4.4; RFC 7523, section
 * 2.1.
 *
 * @example Redeem a stored ID-JAG, and report when a new one is needed
 * ```ts
 * import {
 *   clientSecretBasic,
 *   type IdJag,
 *   OAuthClientError,
 *   redeemIdJag,
 * } from "@oauth-helper/client";
 *
 * export async function tokenFor(idJag: IdJag): Promise<string | undefined> {
 *   try {
 *     const token = await redeemIdJag({
 *       issuer: "https://as.example",
 *       token_endpoint: "https://as.example/token",
 *     }, idJag, { client: clientSecretBasic("c1", "s3cret") });
 *     return token.access_token;
 *   } catch (error) {
 *     const isUseless = error instanceof OAuthClientError &&
 *       (error.code === "invalid_id_jag" || error.error === "invalid_grant");
 *     if (isUseless) return undefined;
 *     throw error;
 *   }
 * }
 * ```
 *
 * @category Messages of the protocol
 */
export async function redeemIdJag(
  serverMetadata: ServerMetadata,
  idJag: Pick<IdJag, "assertion">,
  options: RedeemIdJagOptions,
): Promise<Token> {
  const context = grantContextOf(options);
  const requested = requestedOf(options);
  return await redeemWith(context, serverMetadata, idJag, requested);
}

export async function redeemWith(
  context: GrantContext,
  serverMetadata: TokenServer,
  { assertion }: Pick<IdJag, "assertion">,
  requested: Requested,
  further?: Readonly<Record<string, string>>,
): Promise<Token> {
  const { client, dpop, now } = context;
  const { issuer } = serverMetadata;
  requireNonEmptyString("idJag.assertion", assertion);
  const claims = decodeIdJag(assertion);
  if (single(claims.aud) !== issuer) {
    throw new OAuthClientError(
      "issuer_mismatch",
      `An ID-JAG for another issuer must not be sent to ${quoteUrl(issuer)}`,
    );
  }
  if (dpop) requireClaim("cnf.jkt", thumbprintIn(claims), dpop.thumbprint);
  if (client && clientIdOf(client) !== claims.client_id) {
    throw invalidIdJag("its client_id does not match the client");
  }
  if (claims.exp <= now() / 1000) throw invalidIdJag("it has expired");
  const body = buildJwtBearerBody({ ...requested, assertion });
  return await tokenWith(context, serverMetadata, withFurther(body, further));
}
