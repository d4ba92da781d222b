/**
 * The diagnosis as a function, without the command.
 *
 * @module
 */

export * from "./diagnose.ts";
export * from "./diagnosis.ts";
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
