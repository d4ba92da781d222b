/**
 * An OAuth client: everything that a program needs between a `401` and a `200`, as
 * plain functions over web-standard `fetch`, `URL` and `URLSearchParams`.
 *
 * Most programs need one function. {@linkcode createAuthorizedFetch} returns a `fetch`
 * for one resource. It obtains a token when the resource responds with `401`, and
 * refreshes it. The option `authorize` determines how a token is obtained, and `store`
 * where the session is kept.
 *
 * - A program on the user's machine signs the user in with {@linkcode codeFlow} or
 *   {@linkcode deviceFlow}; see the module `./native`. With the MCP SDK, pass the
 *   authorized fetch as the `fetch` of the transport.
 * - A web page uses {@linkcode codeFlow} with a receiver of the module `./browser`.
 * - A service acts on its own behalf, with {@linkcode clientCredentialsFlow}.
 * - A web server uses `createWebSignIn` of the module `./web`. With routes of its own,
 *   it starts a sign-in in one request, with {@linkcode startAuthorization}, and
 *   finishes it in another, with the member `finish` of the fetch. It needs one store
 *   for each user, and no `authorize`: if the user is signed out, the fetch returns the
 *   `401`.
 *
 * Each message of the protocol also has its own function.
 * {@linkcode discoverAuthorization} discovers the authorization server of a resource
 * that responds with `401`. {@linkcode selectClient} and {@linkcode registerClient}
 * provide a client for that server. {@linkcode buildAuthorizationUrl} builds the URL
 * for the user, {@linkcode parseAuthorizationResponse} parses the callback, and
 * {@linkcode fetchToken} fetches the token.
 *
 * @example A program that signs its user in with the browser
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 * import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";
 *
 * export const api = createAuthorizedFetch("https://api.example/mcp", {
 *   store: fileStore("session.json"),
 *   authorize: codeFlow({
 *     ...createLoopbackReceiver({ title: "My program" }),
 *     clientMetadata: { client_name: "My program" },
 *   }),
 * });
 * // const response = await api("https://api.example/mcp");
 * ```
 *
 * @example A service that acts for itself
 * ```ts
 * import { clientCredentialsFlow, createAuthorizedFetch } from "@oauth-helper/client";
 *
 * const issuer = "https://as.example";
 * export const reports = createAuthorizedFetch("https://api.example/reports", {
 *   authorize: clientCredentialsFlow({
 *     client: { issuer, client_id: "service", client_secret: "s3cret" },
 *     scopes: ["reports:read"],
 *   }),
 * });
 * ```
 *
 * @example The two requests of a web server
 * ```ts
 * import {
 *   createAuthorizedFetch,
 *   discoverAuthorization,
 *   type IPendingAuthorization,
 *   type ISessionStore,
 *   startAuthorization,
 * } from "@oauth-helper/client";
 *
 * const resource = "https://api.example/mcp";
 * const redirectUri = "https://app.example/callback";
 * const client = {
 *   issuer: "https://as.example",
 *   client_id: "my-app",
 *   client_secret: "s3cret",
 * };
 *
 * // Keep `pending` in an encrypted cookie, or with the session of the user's browser.
 * export async function login() {
 *   // Some servers publish the URL of their metadata only in the challenge.
 *   const challenge = await fetch(resource);
 *   const context = await discoverAuthorization(resource, { challenge });
 *   const options = { client, redirectUri, offlineAccess: true };
 *   return await startAuthorization(context, options); // { url, pending }
 * }
 *
 * // The user has come back. Without a session, `api` would return the `401`.
 * export async function callback(
 *   request: Request,
 *   pending: IPendingAuthorization,
 *   store: ISessionStore, // of this user
 * ) {
 *   const api = createAuthorizedFetch(resource, { client, store });
 *   await api.finish(request, pending);
 *   return await api(resource);
 * }
 * ```
 *
 * @module
 */

// Sessions: what most programs need.

export { createAuthorizedFetch } from "./lib/fetch/authorized_fetch.ts";
export { sharedSignIn } from "./lib/fetch/shared_sign_in.ts";
export type { ISharedApi, ISharedSignIn } from "./lib/flows/shared_apis.ts";
export type {
  IAuthorizedFetch,
  IAuthorizedFetchOptions,
  IAuthorizedFetchSignal,
  IAuthorizedFetchSignIn,
} from "./lib/fetch/authorized_fetch_options.ts";
export type { AuthorizedFetchEvent, OnEvent } from "./lib/http/events.ts";
export type {
  Authorize,
  IAuthorizeRequest,
  IFlowOptions,
} from "./lib/flows/flow.ts";
export { codeFlow } from "./lib/flows/code_flow.ts";
export type {
  ICodeFlowOptions,
  IRedirectUriRequest,
  IVisit,
} from "./lib/flows/code_flow_options.ts";
export {
  deviceFlow,
  type IDeviceFlowOptions,
} from "./lib/flows/device_flow.ts";
export { cibaFlow, type ICibaFlowOptions } from "./lib/flows/ciba_flow.ts";
export type {
  IBackchannelPrompt,
  ILoginHint,
  ILoginHintRequest,
} from "./lib/flows/login_hint.ts";
export {
  clientCredentialsFlow,
  type IClientCredentialsFlowOptions,
} from "./lib/flows/client_credentials_flow.ts";
export {
  assertionFlow,
  type IAssertionFlowOptions,
  type IAssertionRequest,
} from "./lib/flows/assertion_flow.ts";
export {
  exchangeFlow,
  type IExchangeFlowOptions,
} from "./lib/flows/exchange_flow.ts";
export { type IPerCallerOptions, perCaller } from "./lib/flows/per_caller.ts";
export {
  crossAppFlow,
  type ICrossAppFlowOptions,
  type IdentityProviderMetadata,
} from "./lib/flows/cross_app_flow.ts";
export type {
  ISubjectToken,
  ISubjectTokenRequest,
} from "./lib/flows/subject_token.ts";
export {
  type AuthorizationStart,
  finishAuthorization,
  type IPendingAuthorization,
  startAuthorization,
} from "./lib/flows/sign_in.ts";
export type { IStartAuthorizationOptions } from "./lib/flows/sign_in_options.ts";
export {
  type ISession,
  type ISessionApi,
  type ISessionOptions,
  refreshSession,
  revokeSession,
  type SessionServerMetadata,
} from "./lib/session/session.ts";
export {
  buildEndSessionUrl,
  type IBuildEndSessionUrlOptions,
} from "./lib/session/end_session.ts";
export { type ISessionStore, memoryStore } from "./lib/session/store.ts";
export {
  type ClientServerMetadata,
  ensureClient,
  type IEnsureClientOptions,
} from "./lib/flows/ensure_client.ts";
export type { RegistrationToken } from "./lib/flows/registration_token.ts";

// The client, its key, and errors: for sessions and single messages.

export {
  clientSecretBasic,
  clientSecretPost,
  type IAuthenticatedRequest,
  type IClientAuthentication,
  type IClientAuthenticationOptions,
  type IClientSecretBasicOptions,
  publicClient,
} from "./lib/client/authentication.ts";
export {
  clientAssertion,
  type IAssertionAudience,
} from "./lib/client/client_assertion.ts";
export {
  type IPrivateKeyJwtOptions,
  privateKeyJwt,
} from "./lib/client/private_key_jwt.ts";
export type { IPrivateJwk, SigningKey } from "./lib/client/signing_key.ts";
export type { Client, IKnownClient } from "./lib/client/known_client.ts";
export {
  createDpop,
  type ICreateDpopOptions,
  type IDpop,
  type IDpopRequest,
  type IDpopResponse,
} from "./lib/client/dpop.ts";
export type {
  IFetch,
  IFetchInit,
  IFetchResponse,
  IRequestOptions,
  RequestPurpose,
} from "./lib/http/request_options.ts";
export {
  type IDiscoveryAttempt,
  type IOAuthClientErrorDetails,
  isOAuthClientError,
  OAuthClientError,
  type OAuthClientErrorCode,
  type OAuthClientErrorReason,
  type OAuthClientErrorRequest,
  type OAuthClientErrorWith,
  type SignInReason,
} from "./lib/core/errors.ts";
export {
  type AdviceAction,
  adviceFor,
  type IAdvice,
} from "./lib/core/advice.ts";

// Single messages of the protocol, in the order in which they are exchanged.

export {
  findChallenge,
  findChallenges,
  type IChallengeHeaders,
  parseWWWAuthenticateHeader,
} from "./lib/core/challenge.ts";
export {
  discoverAuthorization,
  type IAuthorizationContext,
  type IDiscoverAuthorizationOptions,
} from "./lib/discovery/discover.ts";
export type { KnownServerMetadata } from "./lib/discovery/unpublished_metadata.ts";
export {
  discoverAuthorizationServer,
  type IAuthorizationServer,
  type IDiscoverAuthorizationServerOptions,
} from "./lib/discovery/discover_server.ts";
export {
  type ISelectScopesOptions,
  mergeScopes,
  missingScopes,
  scopesMatch,
  selectScopes,
} from "./lib/core/scopes.ts";
export {
  type ClientSelection,
  type ISelectClientOptions,
  selectClient,
} from "./lib/client/selection.ts";
export {
  buildClientMetadata,
  type IBuildClientMetadataOptions,
  type IClientMetadataDocument,
} from "./lib/client/client_metadata.ts";
export {
  fetchDynamicRegistration,
  type IFetchDynamicRegistrationOptions,
  type IRegisterClientOptions,
  registerClient,
} from "./lib/client/registration.ts";
export {
  deleteRegistration,
  type IDeleteRegistrationOptions,
} from "./lib/client/client_configuration.ts";
export {
  type IIsClientKnownOptions,
  isClientKnown,
} from "./lib/token/client_check.ts";
export {
  createPkcePair,
  createState,
  type IPkcePair,
} from "./lib/token/pkce.ts";
export type { IAuthorizationParameters } from "./lib/token/authorization_parameters.ts";
export {
  buildAuthorizationUrl,
  type IBuildAuthorizationUrlOptions,
} from "./lib/token/authorization_url.ts";
export {
  type IPushAuthorizationRequestOptions,
  type IPushedAuthorization,
  pushAuthorizationRequest,
} from "./lib/token/pushed_authorization.ts";
export {
  type IExpectedAuthorizationResponse,
  parseAuthorizationResponse,
} from "./lib/token/authorization_response.ts";
export {
  buildAuthorizationCodeBody,
  buildClientCredentialsBody,
  buildDeviceTokenBody,
  buildJwtBearerBody,
  buildRefreshTokenBody,
  buildTokenExchangeBody,
  type IBuildAuthorizationCodeBodyOptions,
  type IBuildDeviceTokenBodyOptions,
  type IBuildJwtBearerBodyOptions,
  type IBuildRefreshTokenBodyOptions,
  type IBuildTokenExchangeBodyOptions,
  type ITokenBodyOptions,
} from "./lib/token/grant_body.ts";
export type { IFormRequestOptions } from "./lib/token/form_options.ts";
export {
  fetchToken,
  type IFetchTokenOptions,
  type IRefreshTokenOptions,
  type IToken,
  refreshToken,
} from "./lib/token/token.ts";
export {
  type IIsTokenExpiredOptions,
  isTokenExpired,
} from "./lib/token/token_expiry.ts";
export {
  checkIdToken,
  type ICheckIdTokenOptions,
  type IIdTokenClaims,
} from "./lib/token/id_token.ts";
export {
  fetchDeviceAuthorization,
  type IDeviceAuthorization,
  type IFetchDeviceAuthorizationOptions,
  type IPollDeviceTokenOptions,
  pollDeviceToken,
} from "./lib/token/device_grant.ts";
export {
  type IBackchannelAuthentication,
  type IRequestBackchannelAuthenticationOptions,
  requestBackchannelAuthentication,
} from "./lib/token/backchannel_authentication.ts";
export {
  type IPollBackchannelTokenOptions,
  pollBackchannelToken,
} from "./lib/token/backchannel_token.ts";
export type {
  IDevicePollProgress,
  IPollOptions,
} from "./lib/token/poll_options.ts";
export {
  fetchIdJag,
  type IFetchIdJagOptions,
  type IIdJag,
  type IIdJagClaims,
  type IRedeemIdJagOptions,
  redeemIdJag,
} from "./lib/token/cross_app_access.ts";
export {
  exchangeToken,
  type IExchangedToken,
  type IExchangeTokenOptions,
} from "./lib/token/token_exchange.ts";
export {
  type IRevokeTokenOptions,
  revokeToken,
} from "./lib/token/revocation.ts";

// The literal layer: the operations, guards, types and constants of a fixed contract.

export {
  fetchResourceMetadata,
  type IFetchResourceMetadataOptions,
} from "./lib/discovery/resource_metadata.ts";
export {
  fetchAuthorizationServerMetadata,
  type IFetchAuthorizationServerMetadataOptions,
} from "./lib/discovery/server_metadata.ts";
export { getDefaultMetadataForUrl } from "./lib/discovery/metadata_urls.ts";
export { getClaimsFromJWT } from "./lib/core/jwt_claims.ts";
export {
  buildIdJagExchangeBody,
  buildResourceRedemptionBody,
} from "./lib/token/id_jag_body.ts";
export {
  isAuthorizationAuthorizeResponse,
  isAuthorizationDeviceResponse,
  isAuthorizationDynamicClientRegistrationResponse,
  isAuthorizationErrorResponse,
  isAuthorizationProtectedResourceMetadata,
  isAuthorizationRegistrationErrorResponse,
  isAuthorizationServerMetadata,
  isAuthorizationTokenResponse,
} from "./lib/core/guards.ts";
export type {
  IAuthorizationProtectedResourceMetadata,
  IAuthorizationServerMetadata,
} from "./lib/core/metadata.ts";
export type {
  IAuthenticationChallenge,
  IAuthorizationAuthorizeErrorResponse,
  IAuthorizationAuthorizeResponse,
  IAuthorizationDetail,
  IAuthorizationDeviceResponse,
  IAuthorizationDeviceTokenErrorResponse,
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationErrorResponse,
  IAuthorizationJWTClaims,
  IAuthorizationRegistrationErrorResponse,
  IAuthorizationTokenErrorResponse,
  IAuthorizationTokenResponse,
  IDiscoveryResult,
  WebCryptoKey,
} from "./lib/core/types.ts";
export {
  AUTH_PROTECTED_RESOURCE_METADATA_DISCOVERY_PATH,
  AUTH_SCOPE_SEPARATOR,
  AUTH_SERVER_METADATA_DISCOVERY_PATH,
  AuthorizationDeviceCodeErrorType,
  AuthorizationErrorType,
  AuthorizationRegistrationErrorType,
  DEFAULT_AUTH_FLOW_PORT,
  DEFAULT_CLIENT_URI,
  DEFAULT_REDIRECT_URIS,
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
  OPENID_CONNECT_DISCOVERY_PATH,
  TOKEN_TYPE_ACCESS_TOKEN,
  TOKEN_TYPE_ID_JAG,
  TOKEN_TYPE_ID_TOKEN,
  TOKEN_TYPE_REFRESH_TOKEN,
  TOKEN_TYPE_SAML2,
} from "./lib/core/constants.ts";
