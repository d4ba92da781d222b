import { requireArgument, requireObject } from "../core/_arguments.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { clientIdOf } from "../client/_authentication_selection.ts";
import type { Dpop } from "../client/dpop.ts";
import type { Client, KnownClient } from "../client/known_client.ts";
import { fetchOf, fork } from "../http/_context.ts";
import type { RequestOptions } from "../http/request_options.ts";
import { type GrantContext, grantContextOf } from "../token/_grant_context.ts";
import { revokeWith } from "../token/revocation.ts";
import { refreshWith, type Token } from "../token/token.ts";
import { internalOf } from "./_internal.ts";
import { clientIn, serverOf } from "./_parties.ts";
import { checkRefreshedIdToken } from "./_refreshed_id_token.ts";
import { requestedResource } from "./_requested_resource.ts";

/**
 * The stored part of a server's metadata.
 *
 * @category Sessions
 */
export type SessionServer = Pick<
  ServerMetadata,
  | "token_endpoint"
  | "revocation_endpoint"
  | "end_session_endpoint"
  | "authorization_response_iss_parameter_supported"
  | "token_endpoint_auth_methods_supported"
>;

/**
 * Another API that shares the sign-in of a session; see `sharedSignIn`.
 *
 * @category Sessions
 */
export interface SessionApi {
  /** The requested scopes of the API. */
  scopes: string[];
  /** Its access token, once requested. */
  token?: Token;
  /** For the library: keep it unchanged. */
  internal?: object;
}

/**
 * The plain JSON in a store: a {@linkcode Session}, or its remaining part. At least one
 * of `token` and `client` is set. Keep it secret, and keep unknown members.
 *
 * @category Sessions
 */
export interface StoredSession {
  /**
   * Version of the format. The library never changes a session of an unknown version.
   */
  version: 1;
  /** Issuer of the token. No other server receives tokens or client credentials. */
  issuer: string;
  /** Identifier of the token's resource. */
  resource: string;
  /**
   * The requested scopes, otherwise the granted scopes, unless these are more than 100
   * or 4,096 characters. `token.scope` always contains the granted scopes.
   */
  scopes: string[];
  /** The token. Absent if no token is valid: the session is kept for its client. */
  token?: Token;
  /**
   * The client with its secret. If this session's flow registered it, it also contains
   * the members for {@linkcode deleteRegistration}. Absent if no client can be used
   * again.
   */
  client?: Omit<KnownClient, "issuer">;
  /** Metadata of the server. */
  server: SessionServer;
  /** Set if the resource requires the ID token, which makes it a credential. */
  bearer?: "id_token";
  /** JWK thumbprint of the token's key (RFC 7638). */
  dpopThumbprint?: string;
  /**
   * The other APIs that share the sign-in, by resource identifier. The refresh token of
   * `token` is redeemed for each API's access token, one at a time (RFC 8707, section
   * 2.2).
   */
  apis?: Record<string, SessionApi>;
  /** For the library: keep it unchanged. Other versions may use other members. */
  internal?: object;
}

/**
 * A token for a resource, with its server and client. Plain JSON that can be stored
 * anywhere. Keep it secret.
 *
 * @category Sessions
 */
export interface Session extends StoredSession {
  /** The token. */
  token: Token;
}

export function allTokensOf(session: StoredSession | undefined): Token[] {
  return [session, ...Object.values(session?.apis ?? {})]
    .flatMap((one) => one?.token ?? []);
}

/** Options of every function that uses a session. */
export interface SessionOptions extends Omit<RequestOptions, "headers"> {
  /** Credentials that are not stored, such as a private key. */
  client?: Client | undefined;
  /** The key that the token is bound to. */
  dpop?: Dpop | undefined;
  /** Accepts any http endpoint, and any endpoint on loopback. */
  allowHttp?: boolean | undefined;
  /**
   * Returns the time in milliseconds since the Unix epoch.
   *
   * @default {Date.now}
   */
  now?: (() => number) | undefined;
}

export function sessionContextOf(options: SessionOptions = {}): GrantContext {
  // Header fields would be for one server, and there may be several.
  return { ...grantContextOf(options), headers: undefined };
}

export function sessionOptionsOf(context: GrantContext): SessionOptions {
  return {
    fetch: fetchOf(context),
    signal: context.signal,
    timeoutMs: context.timeoutMs,
    maxBytes: context.maxBytes,
    allowUrl: context.allowUrl,
    allowHttp: context.allowHttp,
    client: context.client,
    dpop: context.dpop,
    now: context.now,
  };
}

/**
 * Refreshes a session, and returns the next one. {@linkcode refreshToken} refreshes a
 * token alone.
 *
 * The refresh token, scope and ID token are kept if the response omits them. The scopes
 * stay the same, because refreshing cannot add scopes. An ID token in the response must
 * be valid and for the same user. A session without an ID token does not receive one.
 *
 * Never refresh one session twice at the same time, because the server may revoke it:
 * {@linkcode createAuthorizedFetch} prevents that.
 *
 * @param session A session with a refresh token; it is not changed.
 * @param options The same `client` and `dpop` as for the session.
 * @throws {OAuthClientError} `invalid_argument`: there is no refresh token, or the
 * token is not bound to the key of `dpop`. `invalid_id_token`: the response's ID token
 * is invalid, or for another user; the refresh token may no longer be valid. Other
 * codes as for {@linkcode refreshToken}; after an `error` of `invalid_grant`, the user
 * must sign in again.
 * @see RFC 6749, section 6; OpenID Connect Core 1.0, section 12.2.
 *
 * @example Keep a stored session alive
 * ```ts
 * import {
 *   type Session,
 *   isTokenExpired,
 *   refreshSession,
 * } from "@oauth-helper/client";
 *
 * export async function accessToken(storage: Storage): Promise<string> {
 *   let session: Session = JSON.parse(storage.getItem("session") ?? "{}");
 *   if (isTokenExpired(session.token)) {
 *     session = await refreshSession(session);
 *     storage.setItem("session", JSON.stringify(session));
 *   }
 *   return session.token.access_token;
 * }
 * ```
 *
 * @category Sessions
 */
export async function refreshSession(
  session: Session,
  options?: SessionOptions,
): Promise<Session> {
  const { token } = requireObject("session", session);
  // The server knows these too, and may repeat them.
  const known = [token.access_token, token.id_token ?? ""];
  const context = fork(sessionContextOf(options), known);
  return await refreshSessionWith(context, session);
}

export async function refreshSessionWith(
  context: GrantContext,
  session: Session,
): Promise<Session> {
  const { dpop, now, client = clientIn(session) } = context;
  const { token, scopes, dpopThumbprint } = session;
  const { id_token } = token;
  const { sendScopeOnRefresh, tokenParameters, redirectUriOnRefresh } =
    internalOf(session);
  // The previous key's holder could not use a token that is bound to another key.
  requireArgument(
    dpop?.thumbprint === dpopThumbprint,
    "options.dpop",
    "the key that the session is bound to",
  );
  const clientContext = {
    ...context,
    client: requireObject("options.client", client),
  };
  const requested = {
    scopes: sendScopeOnRefresh && scopes,
    resource: requestedResource(session),
  };
  const fresh = await refreshWith(
    clientContext,
    serverOf(session),
    token,
    requested,
    {
      ...tokenParameters,
      ...(redirectUriOnRefresh && { redirect_uri: redirectUriOnRefresh }),
    },
  );
  // There is no valid ID token of the sign-in to compare with.
  if (id_token === undefined) delete fresh.id_token;
  if (fresh.id_token !== undefined) {
    try {
      await checkRefreshedIdToken(fresh.id_token, id_token, {
        clientId: clientIdOf(clientContext.client),
        accessToken: fresh.access_token,
        now,
      });
    } catch (error) {
      // Nobody uses these tokens.
      await revokeSessionWith(context, { ...session, token: fresh })
        .catch(() => {});
      throw error;
    }
  }
  return {
    ...session,
    token: { ...(id_token && { id_token }), ...fresh },
  };
}

/**
 * Revokes the tokens of a session: the refresh token first, then the access token, then
 * those for other APIs. {@linkcode revokeToken} revokes one token.
 *
 * If one revocation fails, the others still run, and the first error is thrown. A
 * server may revoke only refresh tokens: then the access token stays valid until it
 * expires, without an error.
 *
 * @param session The session; delete it from your storage before this call.
 * @param options The same `client` as for the session.
 * @throws {OAuthClientError} `unsupported`: the server has no revocation endpoint.
 * Other codes as for {@linkcode revokeToken}.
 * @see RFC 7009, section 2.
 *
 * @example Sign out
 * ```ts
 * import {
 *   type Session,
 *   isOAuthClientError,
 *   revokeSession,
 * } from "@oauth-helper/client";
 *
 * export async function signOut(session: Session): Promise<void> {
 *   try {
 *     await revokeSession(session);
 *   } catch (error) {
 *     if (!isOAuthClientError(error) || error.code !== "unsupported") throw error;
 *   }
 * }
 * ```
 *
 * @category Sessions
 */
export async function revokeSession(
  session: StoredSession,
  options?: SessionOptions,
): Promise<void> {
  requireObject("session", session);
  await revokeSessionWith(sessionContextOf(options), session);
}

/** The result for one token of a session. */
export interface Revocation {
  readonly type: "refresh_token" | "access_token";
  readonly token: Token;
  /** Why the server did not revoke it. */
  readonly error: unknown;
}

/** Revokes a session, and notes each result. See {@linkcode revokeSession}. */
export async function revokeSessionWith(
  context: GrantContext,
  session: StoredSession,
  note?: (revocation: Revocation) => void,
): Promise<void> {
  const { client = clientIn(session) } = context;
  const clientContext = fork({ ...context, client });
  const failures: unknown[] = [];
  for (const type of ["refresh_token", "access_token"] as const) {
    for (const token of allTokensOf(session)) {
      const value = token[type];
      if (!value) continue;
      const error = await revokeWith(
        clientContext,
        serverOf(session),
        value,
        type,
      )
        .catch((error) => error);
      note?.({ type, token, error });
      // RFC 7009, section 2.2.1: the refresh token may still be revocable.
      const isKept = type === "access_token" && token.refresh_token &&
        error?.error === "unsupported_token_type";
      if (error && !isKept) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
