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
export type { ChallengeHeaders } from "../core/challenge.ts";
export type { DiscoverAuthorizationOptions } from "../discovery/discover.ts";
export type { ServerMetadata } from "../core/metadata.ts";
export type { DiscoverAuthorizationServerOptions } from "../discovery/discover_server.ts";
export type {
  FetchInit,
  FetchLike,
  FetchResponse,
  RequestOptions,
  RequestPurpose,
} from "../http/request_options.ts";
export type {
  AuthorizationDetail,
  IAuthorizationDeviceResponse,
  IAuthorizationDynamicClientRegistrationRequest,
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationTokenResponse,
} from "../core/types.ts";
export type {
  AuthenticatedRequest,
  ClientAuthentication,
} from "../client/authentication.ts";
export type { Client, KnownClient } from "../client/known_client.ts";
export type { Visit } from "../flows/code_flow_options.ts";
export type { PendingAuthorization } from "../flows/sign_in.ts";
export type {
  Session,
  SessionApi,
  SessionServerMetadata,
} from "../session/session.ts";
export type { DeviceAuthorization } from "../token/device_grant.ts";
export type { Token } from "../token/token.ts";
