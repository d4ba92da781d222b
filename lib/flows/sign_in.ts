/** The code flow in two halves, which may run in different processes. */

import { requireObject } from "../core/_arguments.ts";
import { requireScopes } from "../core/_scope_values.ts";
import { mergeScopes, OFFLINE_ACCESS, selectScopes } from "../core/scopes.ts";
import { underSignal } from "../http/_clock.ts";
import { fork } from "../http/_context.ts";
import type { AuthorizationContext } from "../discovery/discover.ts";
import { clientIdOf } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import {
  type AuthorizationQuery,
  boundParameters,
} from "../token/_authorization_parameters.ts";
import { withFurther } from "../token/_form.ts";
import type { GrantContext } from "../token/_grant_context.ts";
import { postedForm } from "../token/_posted_form.ts";
import { parseWith } from "../token/authorization_response.ts";
import { buildAuthorizationUrl } from "../token/authorization_url.ts";
import { buildAuthorizationCodeBody } from "../token/grant_body.ts";
import { createPkcePair, createState } from "../token/pkce.ts";
import { pushWith } from "../token/pushed_authorization.ts";
import { tokenWith } from "../token/token.ts";
import { CONSENT, lacksRefreshToken } from "./_consent.ts";
import { requireDpop } from "../session/_dpop_need.ts";
import { clientIn, serverOf } from "../session/_parties.ts";
import { earliestAuthTimeOf, withCheckedIdToken } from "./_first_id_token.ts";
import {
  grantOf,
  newSession,
  resourcesOf,
  tokenParametersOf,
} from "./_new_session.ts";
import { requireLength } from "./_url_length.ts";
import { requestedResource } from "../session/_requested_resource.ts";
import {
  type PendingAuthorization,
  requirePending,
} from "./pending_authorization.ts";
import {
  type Session,
  sessionContextOf,
  type SessionOptions,
} from "../session/session.ts";
import type { Others, Sharing } from "./_sharing.ts";
import type { StartAuthorizationOptions } from "./sign_in_options.ts";

export type { PendingAuthorization };

/**
 * The part of a discovery that {@linkcode startAuthorization} uses.
 *
 * @category Sessions
 */
export type AuthorizationStart =
  & Pick<AuthorizationContext, "resource" | "serverMetadata">
  & Partial<Omit<AuthorizationContext, "attempts">>;

/**
 * Starts the code flow. Returns the authorization URL, and the data to keep until the
 * user comes back.
 *
 * If the server requires it, or with `par`, the authorization request is pushed.
 * Otherwise there is no request.
 *
 * Some servers issue a refresh token only with `offline_access` and
 * `prompt: "consent"`. {@linkcode codeFlow} adds the prompt for a client that it has
 * just registered; this function does not.
 *
 * Store `pending` in the session of the user's browser, under its `state`. If `state`
 * alone identified it, an attacker could make another user finish the attacker's
 * sign-in. `pending` is secret: encrypt it in a cookie.
 *
 * @param context From {@linkcode discoverAuthorization}.
 * @param options The client, the redirect URI, and the requested access.
 * @throws {OAuthClientError} As {@linkcode buildAuthorizationUrl}, and as
 * {@linkcode pushAuthorizationRequest} if the request is pushed. `issuer_mismatch`: the
 * client is registered with another issuer. `unsupported`: the resource's metadata
 * requires DPoP, and `dpop` is not set. `url_refused`: the URL, or the scopes alone,
 * would exceed 16,384 characters.
 * @see RFC 6749, section 4.1.1; RFC 7636; RFC 8707; RFC 9126; RFC 9396; RFC 9449,
 * section 10.
 *
 * @example Redirect the user of a web server, and keep the pending sign-in
 * ```ts
 * import {
 *   type AuthorizationContext,
 *   type KnownClient,
 *   startAuthorization,
 * } from "@oauth-helper/client";
 *
 * export async function login(
 *   context: AuthorizationContext,
 *   client: KnownClient,
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
 *
 * @category Sessions
 */
export async function startAuthorization(
  context: AuthorizationStart,
  options: StartAuthorizationOptions,
): Promise<{ url: URL; pending: PendingAuthorization }> {
  requireObject("context", context);
  const { client } = requireObject("options", options);
  requireObject("options.client", client);
  const clientContext = { ...sessionContextOf(options), client };
  const { session } = options;
  const sharing = options.apis as Sharing | undefined;
  const shared = sharing?.begin(clientContext, context, session as Session);
  const others = shared?.othersOf(options);
  return await startWith(
    clientContext,
    context,
    shared?.ownOf(options) ?? options,
    {
      others,
    },
  );
}

const OPENID = "openid";

/** The requested access of {@linkcode startAuthorization}. */
type Wanted = Omit<StartAuthorizationOptions, keyof GrantContext>;

/** Options that a caller of {@linkcode startAuthorization} cannot set. */
interface Starting {
  /** Whether the user may have to consent again for a refresh token. */
  readonly needsConsent?: boolean | undefined;
  /** The `state`, which must be unguessable. */
  readonly state?: string | undefined;
  /** The other APIs that share the sign-in. */
  readonly others?: Others | undefined;
}

function scopesToRequest(
  start: AuthorizationStart,
  { scopes: named, offlineAccess }: Wanted,
): string[] {
  const scopes_supported = named
    ? requireScopes("scopes", named)
    : start.scopes;
  return selectScopes({
    resourceMetadata: { scopes_supported },
    serverMetadata: start.serverMetadata,
    offlineAccess,
  }) ?? [];
}

/**
 * Returns optional parameters. A `nonce` ties an ID token to this request (OpenID
 * Connect Core 1.0, section 15.5.2).
 */
function furtherParameters(
  scopes: readonly string[],
  { dpop, needsConsent }: Pick<GrantContext, "dpop"> & Starting,
  { parameters, session }: Wanted,
): Record<string, string> {
  const asks = needsConsent && scopes.includes(OFFLINE_ACCESS);
  return {
    ...((asks || lacksRefreshToken(session)) && CONSENT),
    ...boundParameters(parameters, dpop),
    ...(scopes.includes(OPENID) &&
      { nonce: parameters?.nonce ?? createState() }),
  };
}

/** Pushes an authorization request if required, and returns its URL. */
async function authorizationUrlFor(
  context: GrantContext & { readonly client: Client },
  { serverMetadata }: AuthorizationStart,
  request: AuthorizationQuery,
  par: boolean | undefined,
): Promise<URL> {
  const { require_pushed_authorization_requests: isPushed } = serverMetadata;
  const { allowHttp } = context;
  return par ?? isPushed === true
    ? (await pushWith(context, serverMetadata, request)).url
    : buildAuthorizationUrl(serverMetadata, { ...request, allowHttp });
}

export async function startWith(
  context: GrantContext & { readonly client: Client },
  start: AuthorizationStart,
  options: Wanted,
  { needsConsent, state = createState(), others }: Starting = {},
): Promise<{ url: URL; pending: PendingAuthorization }> {
  const { serverMetadata, responseIssuer } = start;
  const { client, dpop, now } = context;
  const { redirectUri, sendRedirectUriOnRefresh, authorizationDetails } =
    options;
  requireDpop(context, start);
  const scopes = scopesToRequest(start, options);
  requireLength(context, serverMetadata, scopes.join(" ").length);
  const parameters = furtherParameters(scopes, { dpop, needsConsent }, options);
  const earliestAuthTime = earliestAuthTimeOf(parameters, now);
  const grant = grantOf(start, options, client, scopes, {
    redirectUriOnRefresh: sendRedirectUriOnRefresh
      ? String(redirectUri)
      : undefined,
    others,
  });
  const { codeVerifier, codeChallenge } = await createPkcePair();
  const request = {
    clientId: clientIdOf(client),
    redirectUri,
    state,
    codeChallenge,
    scopes: mergeScopes(scopes, others?.scopes),
    resource: resourcesOf(grant, others),
    authorizationDetails,
    parameters,
    assumePkce: options.assumePkce,
  };
  const url = await authorizationUrlFor(context, start, request, options.par);
  requireLength(context, serverMetadata, url.href.length);
  const { nonce, prompt } = parameters;
  const isChecked = nonce && scopes.includes(OPENID);
  const pending = {
    ...grant,
    state,
    codeVerifier,
    redirectUri: String(redirectUri),
    responseIssuer,
    requireIss: options.requireIss || undefined,
    prompt: prompt || undefined,
    ...(isChecked && {
      nonce,
      earliestAuthTime,
      optionalIdToken: !options.scopes?.includes(OPENID) || undefined,
    }),
  };
  // Removes undefined members.
  return { url, pending: JSON.parse(JSON.stringify(pending)) };
}

/**
 * Finishes the code flow: checks the authorization response, redeems the code, and
 * returns the session.
 *
 * If `openid` was requested, an ID token must pass its checks, with the request's
 * `nonce` and `max_age`. Without `openid` in `scopes` of
 * {@linkcode startAuthorization}, an invalid ID token is omitted instead.
 *
 * @param callback The URL that the user was redirected to, its query, or the request
 * that a server received. A `POST` (`response_mode=form_post`) may contain 16,384
 * characters. The path must be the redirect URI's: if a router or proxy removed a part,
 * pass the whole URL as a string.
 * @param pending From {@linkcode startAuthorization}; use it once, then delete it.
 * @param options The same `dpop`, and credentials that `pending` does not contain.
 * @throws {OAuthClientError} As {@linkcode parseAuthorizationResponse},
 * {@linkcode fetchToken} and {@linkcode checkIdToken}. `invalid_argument`: a member of
 * `pending` is missing.
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
 *
 * @category Sessions
 */
export async function finishAuthorization(
  callback: string | URL | URLSearchParams | Request,
  pending: PendingAuthorization,
  options?: SessionOptions,
): Promise<Session> {
  requirePending(pending);
  return await finishWith(sessionContextOf(options), callback, pending);
}

export async function finishWith(
  context: GrantContext,
  callback: string | URL | URLSearchParams | Request,
  pending: PendingAuthorization,
): Promise<Session> {
  const { redirectUri, codeVerifier } = pending;
  const { client = clientIn(pending), dpop, now, signal } = context;
  const posted = Object(callback) as Request;
  const given = await underSignal(signal, () => postedForm(posted));
  // The path of the request must be checked too.
  const response = given?.has("state")
    ? Object.assign(given, { url: posted.url })
    : callback;
  const resource = requestedResource(pending);
  const serverMetadata = serverOf(pending);
  const expected = { ...pending, resource, serverMetadata };
  const { code } = parseWith(context, response, expected);
  const body = buildAuthorizationCodeBody({
    code,
    redirectUri,
    codeVerifier,
    resource,
  });
  const clientContext = fork({ ...context, client });
  const form = withFurther(body, tokenParametersOf(pending));
  const token = await tokenWith(clientContext, serverMetadata, form);
  const checked = await withCheckedIdToken(token, pending, now);
  return newSession(pending, checked, dpop);
}
