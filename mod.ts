/**
 * An OAuth client: everything that a program needs between a `401` and a `200`.
 *
 * {@linkcode createAuthorizedFetch} returns a `fetch` for one API. Its option `flow`
 * obtains a token, and `store` keeps the session. The modules `./native`, `./browser`
 * and `./web` are for programs, pages and web servers. Other functions exchange single
 * messages of the protocol.
 *
 * @module
 */

// Sessions: most programs need only these.

export { createAuthorizedFetch } from "./lib/fetch/authorized_fetch.ts";
export { sharedSignIn } from "./lib/fetch/shared_sign_in.ts";
export type { SharedApi, SharedSignIn } from "./lib/flows/shared_apis.ts";
export type {
  AuthorizedFetch,
  AuthorizedFetchOptions,
  SignalOptions,
  SignInOptions,
} from "./lib/fetch/authorized_fetch_options.ts";
export type { AuthorizedFetchEvent, OnEvent } from "./lib/http/events.ts";
export type { Flow, FlowOptions, FlowRequest } from "./lib/flows/flow.ts";
export { codeFlow } from "./lib/flows/code_flow.ts";
export type {
  CodeFlowOptions,
  RedirectUriRequest,
  Visit,
} from "./lib/flows/code_flow_options.ts";
export { deviceFlow, type DeviceFlowOptions } from "./lib/flows/device_flow.ts";
export { cibaFlow, type CibaFlowOptions } from "./lib/flows/ciba_flow.ts";
export type {
  BackchannelPrompt,
  LoginHint,
  LoginHintRequest,
} from "./lib/flows/login_hint.ts";
export {
  clientCredentialsFlow,
  type ClientCredentialsFlowOptions,
} from "./lib/flows/client_credentials_flow.ts";
export {
  assertionFlow,
  type AssertionFlowOptions,
  type AssertionRequest,
} from "./lib/flows/assertion_flow.ts";
export {
  exchangeFlow,
  type ExchangeFlowOptions,
} from "./lib/flows/exchange_flow.ts";
export { perCaller, type PerCallerOptions } from "./lib/flows/per_caller.ts";
export {
  crossAppFlow,
  type CrossAppFlowOptions,
} from "./lib/flows/cross_app_flow.ts";
export type {
  SubjectToken,
  SubjectTokenRequest,
} from "./lib/flows/subject_token.ts";
export {
  type AuthorizationStart,
  finishAuthorization,
  type PendingAuthorization,
  startAuthorization,
} from "./lib/flows/sign_in.ts";
export type { StartAuthorizationOptions } from "./lib/flows/sign_in_options.ts";
export {
  refreshSession,
  revokeSession,
  type Session,
  type SessionApi,
  type SessionOptions,
  type SessionServer,
  type StoredSession,
} from "./lib/session/session.ts";
export {
  buildEndSessionUrl,
  type BuildEndSessionUrlOptions,
} from "./lib/session/end_session.ts";
export { memoryStore, type SessionStore } from "./lib/session/store.ts";
export {
  ensureClient,
  type EnsureClientOptions,
} from "./lib/flows/ensure_client.ts";
export type { InitialAccessToken } from "./lib/flows/initial_access_token.ts";

// The server, the client, its key, and errors: for sessions and single messages.

export type { ServerMetadata } from "./lib/core/metadata.ts";
export type { AuthorizationDetail, WebCryptoKey } from "./lib/core/types.ts";
export {
  type AuthenticatedRequest,
  type ClientAuthentication,
  type ClientAuthenticationOptions,
  clientSecretBasic,
  type ClientSecretBasicOptions,
  clientSecretPost,
  publicClient,
} from "./lib/client/authentication.ts";
export {
  type AssertionAudience,
  clientAssertion,
} from "./lib/client/client_assertion.ts";
export {
  privateKeyJwt,
  type PrivateKeyJwtOptions,
} from "./lib/client/private_key_jwt.ts";
export type { PrivateJwk, SigningKey } from "./lib/client/signing_key.ts";
export type { Client, KnownClient } from "./lib/client/known_client.ts";
export {
  createDpop,
  type CreateDpopOptions,
  type Dpop,
  type DpopRequest,
  type DpopResponse,
} from "./lib/client/dpop.ts";
export type {
  FetchInit,
  FetchLike,
  FetchResponse,
  RequestOptions,
  RequestPurpose,
} from "./lib/http/request_options.ts";
export {
  type DiscoveryAttempt,
  type Hint,
  type HintOption,
  isOAuthClientError,
  type NetworkReason,
  OAuthClientError,
  type OAuthClientErrorCode,
  type OAuthClientErrorDetails,
  type OAuthClientErrorRequest,
  type SignInReason,
} from "./lib/core/errors.ts";
export {
  type Advice,
  type AdviceAction,
  adviceFor,
} from "./lib/core/advice.ts";

// Single messages of the protocol, in the order in which they are exchanged.

export {
  type ChallengeHeaders,
  findChallenge,
  findChallenges,
} from "./lib/core/challenge.ts";
export {
  type AuthorizationContext,
  discoverAuthorization,
  type DiscoverAuthorizationOptions,
} from "./lib/discovery/discover.ts";
export {
  type AuthorizationServer,
  discoverAuthorizationServer,
  type DiscoverAuthorizationServerOptions,
} from "./lib/discovery/discover_server.ts";
export {
  mergeScopes,
  missingScopes,
  scopesMatch,
  selectScopes,
  type SelectScopesOptions,
} from "./lib/core/scopes.ts";
export {
  type ClientSelection,
  selectClient,
  type SelectClientOptions,
} from "./lib/client/selection.ts";
export {
  buildClientMetadata,
  type BuildClientMetadataOptions,
  type ClientMetadataDocument,
} from "./lib/client/client_metadata.ts";
export {
  registerClient,
  type RegisterClientOptions,
} from "./lib/client/registration.ts";
export {
  deleteRegistration,
  type DeleteRegistrationOptions,
} from "./lib/client/client_configuration.ts";
export {
  isClientKnown,
  type IsClientKnownOptions,
} from "./lib/token/client_check.ts";
export {
  createPkcePair,
  createState,
  type PkcePair,
} from "./lib/token/pkce.ts";
export type { AuthorizationParameters } from "./lib/token/authorization_parameters.ts";
export {
  buildAuthorizationUrl,
  type BuildAuthorizationUrlOptions,
} from "./lib/token/authorization_url.ts";
export {
  pushAuthorizationRequest,
  type PushAuthorizationRequestOptions,
  type PushedAuthorization,
} from "./lib/token/pushed_authorization.ts";
export {
  type ExpectedAuthorizationResponse,
  parseAuthorizationResponse,
} from "./lib/token/authorization_response.ts";
export {
  buildAuthorizationCodeBody,
  type BuildAuthorizationCodeBodyOptions,
  buildClientCredentialsBody,
  buildDeviceTokenBody,
  type BuildDeviceTokenBodyOptions,
  buildJwtBearerBody,
  type BuildJwtBearerBodyOptions,
  buildRefreshTokenBody,
  type BuildRefreshTokenBodyOptions,
  buildTokenExchangeBody,
  type BuildTokenExchangeBodyOptions,
  type TokenBodyOptions,
} from "./lib/token/grant_body.ts";
export type { FormRequestOptions } from "./lib/token/form_options.ts";
export {
  fetchToken,
  type FetchTokenOptions,
  refreshToken,
  type RefreshTokenOptions,
  type Token,
} from "./lib/token/token.ts";
export {
  isTokenExpired,
  type IsTokenExpiredOptions,
} from "./lib/token/token_expiry.ts";
export {
  checkIdToken,
  type CheckIdTokenOptions,
  type IdTokenClaims,
} from "./lib/token/id_token.ts";
export {
  type DeviceAuthorization,
  fetchDeviceAuthorization,
  type FetchDeviceAuthorizationOptions,
  pollDeviceToken,
  type PollDeviceTokenOptions,
} from "./lib/token/device_grant.ts";
export {
  type BackchannelAuthentication,
  requestBackchannelAuthentication,
  type RequestBackchannelAuthenticationOptions,
} from "./lib/token/backchannel_authentication.ts";
export {
  pollBackchannelToken,
  type PollBackchannelTokenOptions,
} from "./lib/token/backchannel_token.ts";
export type {
  DevicePollProgress,
  PollOptions,
} from "./lib/token/poll_options.ts";
export {
  fetchIdJag,
  type FetchIdJagOptions,
  type IdJag,
  type IdJagClaims,
  redeemIdJag,
  type RedeemIdJagOptions,
} from "./lib/token/cross_app_access.ts";
export {
  type ExchangedToken,
  exchangeToken,
  type ExchangeTokenOptions,
} from "./lib/token/token_exchange.ts";
export {
  revokeToken,
  type RevokeTokenOptions,
} from "./lib/token/revocation.ts";

// The literal layer: operations, guards, types and constants of a fixed contract.

export { parseWWWAuthenticateHeader } from "./lib/core/challenge.ts";
export {
  fetchResourceMetadata,
  type IFetchResourceMetadataOptions,
} from "./lib/discovery/resource_metadata.ts";
export {
  fetchAuthorizationServerMetadata,
  type IFetchAuthorizationServerMetadataOptions,
} from "./lib/discovery/server_metadata.ts";
export { getDefaultMetadataForUrl } from "./lib/discovery/metadata_urls.ts";
export {
  fetchDynamicRegistration,
  type FetchDynamicRegistrationOptions,
} from "./lib/client/registration.ts";
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
  DiscoveryResult,
  IAuthenticationChallenge,
  IAuthorizationAuthorizeErrorResponse,
  IAuthorizationAuthorizeResponse,
  IAuthorizationDeviceResponse,
  IAuthorizationDeviceTokenErrorResponse,
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationErrorResponse,
  IAuthorizationJWTClaims,
  IAuthorizationRegistrationErrorResponse,
  IAuthorizationTokenErrorResponse,
  IAuthorizationTokenResponse,
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
