/**
 * An authorization with the code flow in two halves, which may run in different
 * processes: what is needed in between is plain JSON.
 *
 * @module
 */

import { invalidArgument, requireObject } from "../core/_arguments.ts";
import { requireScopes } from "../core/_scope_values.ts";
import { quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import { getClaimsFromJWT } from "../core/jwt_claims.ts";
import { selectScopes } from "../core/scopes.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { selectClientAuthentication } from "../client/authentication_selection.ts";
import type { IDpop } from "../client/dpop.ts";
import type { IKnownClient } from "../client/selection.ts";
import {
  buildAuthorizationUrl,
  parseAuthorizationResponse,
} from "../token/authorization_request.ts";
import { buildAuthorizationCodeBody } from "../token/grant_body.ts";
import { createPkcePair, createState } from "../token/pkce.ts";
import { fetchToken, type IToken } from "../token/token_request.ts";
import { newSession, trimClient, trimServerMetadata } from "./_new_session.ts";
import type {
  ISession,
  ISessionOptions,
  SessionServerMetadata,
} from "./session.ts";

/** What has to be kept until the user comes back: plain JSON, and a secret. */
export interface IPendingAuthorization {
  /** The `state` of the request. */
  state: string;
  /** The PKCE code verifier. */
  codeVerifier: string;
  /** The redirect URI of the request. */
  redirectUri: string;
  /** Issuer that the user was sent to. */
  issuer: string;
  /** Identifier of the resource that the token is for. */
  resource: string;
  /** Set if the server is never sent the `resource` parameter. */
  omitResource?: true;
  /** Metadata of the server. */
  serverMetadata: SessionServerMetadata;
  /** The client, with its secret if it has one. */
  client: IKnownClient;
  /** The requested scopes. */
  scopes: string[];
  /** The `nonce` that the ID token must have. */
  nonce?: string;
}

/** Options of {@linkcode startAuthorization}. */
export interface IStartAuthorizationOptions {
  /** The client, for example from {@linkcode ensureClient}. */
  client: IKnownClient;
  /** Redirect URI, which receives the authorization response. */
  redirectUri: string | URL;
  /** Scopes to request; those of the context when absent. */
  scopes?: readonly string[] | undefined;
  /** Adds the scope `offline_access` if the server lists it. */
  offlineAccess?: boolean | undefined;
  /** Further parameters, such as `prompt` or `login_hint`. */
  parameters?: Readonly<Record<string, string>> | undefined;
  /** `false` for a server that rejects the `resource` parameter. */
  resource?: false | undefined;
  /** Binds the authorization code to a key (RFC 9449, section 10). */
  dpop?: IDpop | undefined;
  /** Continues with a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /** Accepts an http endpoint that is not on loopback, and any on loopback. */
  allowHttp?: boolean | undefined;
}

/** What {@linkcode startAuthorization} uses of a discovery. */
export type AuthorizationStart =
  & Pick<IAuthorizationContext, "resource" | "serverMetadata">
  & Partial<Pick<IAuthorizationContext, "scopes">>;

/**
 * Starts the code flow: returns the URL to send the user to, and what has to be kept
 * until the user comes back.
 *
 * Keep `pending` by user and `state`: by `state` alone, an attacker could have a
 * user finish the attacker's own sign-in. It is a secret, and in a cookie it must be
 * encrypted.
 *
 * @param context From {@linkcode discoverAuthorization}.
 * @param options The client, the redirect URI, and what to request.
 * @throws {OAuthClientError} As {@linkcode buildAuthorizationUrl}. `issuer_mismatch`:
 * the client is registered with another issuer.
 * @see RFC 6749, section 4.1.1; RFC 7636; RFC 8707; RFC 9449, section 10.
 *
 * @example Send the user of a web server away, and keep what is needed later
 * ```ts
 * import {
 *   type IAuthorizationContext,
 *   type IKnownClient,
 *   startAuthorization,
 * } from "@oauth-helper/client";
 *
 * export async function login(
 *   context: IAuthorizationContext,
 *   client: IKnownClient,
 *   userStorage: Map<string, string>,
 * ): Promise<Response> {
 *   const { url, pending } = await startAuthorization(context, {
 *     client,
 *     redirectUri: "https://app.example/callback",
 *   });
 *   userStorage.set(pending.state, JSON.stringify(pending));
 *   return Response.redirect(url);
 * }
 * ```
 */
export async function startAuthorization(
  context: AuthorizationStart,
  options: IStartAuthorizationOptions,
): Promise<{ url: URL; pending: IPendingAuthorization }> {
  const { serverMetadata, resource } = requireObject("context", context);
  const { client, dpop, parameters, offlineAccess, ...given } = requireObject(
    "options",
    options,
  );
  const { client_id, issuer } = requireObject("options.client", client);
  if (issuer !== serverMetadata.issuer) {
    throw new OAuthClientError(
      "issuer_mismatch",
      `A client of issuer ${quoteUrl(issuer)} must not be used at issuer ` +
        quoteUrl(serverMetadata.issuer),
    );
  }
  const scopes = selectScopes({
    resourceMetadata: {
      scopes_supported: given.scopes
        ? requireScopes("scopes", given.scopes)
        : context.scopes,
    },
    serverMetadata,
    offlineAccess,
  }) ?? [];
  // An ID token with this nonce belongs to this request (OpenID Connect Core 1.0,
  // section 15.5.2).
  const nonce = scopes.includes("openid")
    ? parameters?.nonce ?? createState()
    : undefined;
  if (dpop && parameters?.dpop_jkt) {
    throw invalidArgument("parameters", "without dpop_jkt, if dpop is given");
  }
  const state = createState();
  const { codeVerifier, codeChallenge } = await createPkcePair();
  const url = buildAuthorizationUrl(serverMetadata, {
    clientId: client_id,
    redirectUri: given.redirectUri,
    state,
    codeChallenge,
    scopes,
    resource: given.resource ?? resource,
    assumePkce: given.assumePkce,
    allowHttp: given.allowHttp,
    parameters: {
      ...parameters,
      ...(nonce && { nonce }),
      ...(dpop && { dpop_jkt: dpop.thumbprint }),
    },
  });
  const pending: IPendingAuthorization = {
    state,
    codeVerifier,
    redirectUri: String(given.redirectUri),
    issuer,
    resource,
    ...(given.resource === false && { omitResource: true }),
    serverMetadata: trimServerMetadata(serverMetadata),
    client: trimClient(client),
    scopes,
    ...(nonce && { nonce }),
  };
  return { url, pending };
}

/** Fails if the ID token belongs to another authorization request. */
function requireNonce({ id_token }: IToken, nonce: string | undefined): void {
  if (!id_token || !nonce || getClaimsFromJWT(id_token).nonce === nonce) return;
  throw new OAuthClientError(
    "invalid_response",
    "The ID token has another nonce than the authorization request",
  );
}

/**
 * Finishes the code flow: checks the authorization response, redeems the code, and
 * returns the session.
 *
 * @param callback The URL that the user was redirected to or its query, or the
 * request that a server received.
 * @param pending From {@linkcode startAuthorization}; use it once, then delete it.
 * @param options The same `dpop`, and credentials that `pending` does not hold.
 * @throws {OAuthClientError} As {@linkcode parseAuthorizationResponse} and
 * {@linkcode fetchToken}. `invalid_response`: also for an ID token with another
 * `nonce`.
 * @see RFC 6749, section 4.1.3; RFC 9207; OpenID Connect Core 1.0, section 3.1.3.7.
 *
 * @example Finish the sign-in of a web server
 * ```ts
 * import { finishAuthorization } from "@oauth-helper/client";
 *
 * export async function callback(
 *   request: Request,
 *   userStorage: Map<string, string>,
 * ): Promise<Response> {
 *   const state = new URL(request.url).searchParams.get("state") ?? "";
 *   const pending = userStorage.get(state);
 *   if (!pending) return new Response("Please sign in again", { status: 400 });
 *   userStorage.delete(state);
 *   const session = await finishAuthorization(request, JSON.parse(pending));
 *   userStorage.set("session", JSON.stringify(session));
 *   return Response.redirect("https://app.example/");
 * }
 * ```
 */
export async function finishAuthorization(
  callback: string | URL | URLSearchParams | Request,
  pending: IPendingAuthorization,
  options?: ISessionOptions,
): Promise<ISession> {
  const given = requireObject("options", options ?? {});
  const { state, serverMetadata, client, resource, omitResource } =
    requireObject("pending", pending);
  const { code } = parseAuthorizationResponse(callback, {
    state,
    serverMetadata,
  });
  const body = buildAuthorizationCodeBody({
    code,
    redirectUri: pending.redirectUri,
    codeVerifier: pending.codeVerifier,
    resource: omitResource ? false : resource,
  });
  const token = await fetchToken(serverMetadata, body, {
    ...given,
    client: given.client ?? selectClientAuthentication(serverMetadata, client),
  });
  requireNonce(token, pending.nonce);
  return newSession(pending, token, given.dpop);
}
