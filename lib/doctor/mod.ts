/**
 * Diagnoses an OAuth server: why a client cannot obtain a token, and what the operator
 * of the server and the client can do. On the command line, run `oauth-helper doctor
 * URL`.
 *
 * @module
 */

export * from "./client_metadata.ts";
export * from "./diagnose.ts";
export * from "./diagnosis.ts";
export * from "./report/report_html.ts";
export * from "./sign_in/sign_in.ts";
export type { OAuthClientErrorCode } from "../core/errors.ts";
export type { IAuthorizationServerMetadata } from "../core/metadata.ts";
export type { IChallengeHeaders } from "../core/challenge.ts";
export type { IDiscoverAuthorizationOptions } from "../discovery/discover.ts";
export type { KnownServerMetadata } from "../discovery/unpublished_metadata.ts";
export type { IDiscoverAuthorizationServerOptions } from "../discovery/discover_server.ts";
export type {
  IFetch,
  IFetchInit,
  IFetchResponse,
  IRequestOptions,
  RequestPurpose,
} from "../http/request_options.ts";
export type {
  IAuthorizationDetail,
  IAuthorizationDeviceResponse,
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationTokenResponse,
} from "../core/types.ts";
export type {
  IAuthenticatedRequest,
  IClientAuthentication,
} from "../client/authentication.ts";
export type { Client, IKnownClient } from "../client/known_client.ts";
export type { IVisit } from "../flows/code_flow_options.ts";
export type { IPendingAuthorization } from "../flows/sign_in.ts";
export type {
  ISession,
  ISessionApi,
  SessionServerMetadata,
} from "../session/session.ts";
export type { IDeviceAuthorization } from "../token/device_grant.ts";
export type { IToken } from "../token/token.ts";
