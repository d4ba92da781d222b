/**
 * Everything an OAuth client needs between a `401` and a token, as plain
 * functions over web-standard `fetch`, `URL` and `URLSearchParams`.
 *
 * The road: a resource answers `401` with a challenge.
 * {@linkcode discoverAuthorization} finds out which authorization server to ask and
 * what for; {@linkcode selectClient}, {@linkcode registerClient} and
 * {@linkcode selectClientAuthentication} make the client known there;
 * {@linkcode buildAuthorizationUrl} sends the user off,
 * {@linkcode parseAuthorizationResponse} reads what comes back, and
 * {@linkcode fetchToken} gets the token. Each of these is made of smaller functions
 * that can be used alone.
 *
 * @example From a `401` to the address for the user
 * ```ts
 * import {
 *   buildAuthorizationUrl,
 *   createPkcePair,
 *   createState,
 *   discoverAuthorization,
 *   registerClient,
 * } from "@oauth-helper/client";
 *
 * async function startAt(target: string, redirectUri: string): Promise<URL> {
 *   const { serverMetadata, resource, scopes } = await discoverAuthorization(
 *     target,
 *     { challenge: await fetch(target) },
 *   );
 *   const { client_id } = await registerClient(serverMetadata, {
 *     client_name: "My client",
 *     redirect_uris: [redirectUri],
 *   });
 *   const { codeChallenge } = await createPkcePair();
 *   return buildAuthorizationUrl(serverMetadata, {
 *     clientId: client_id,
 *     redirectUri,
 *     state: createState(),
 *     codeChallenge,
 *     scopes,
 *     resource,
 *   });
 * }
 * console.log(startAt.name);
 * ```
 *
 * @module
 */

export * from "./lib/token/authorization_request.ts";
export * from "./lib/core/challenge.ts";
export * from "./lib/client/authentication.ts";
export * from "./lib/client/selection.ts";
export * from "./lib/core/constants.ts";
export * from "./lib/token/cross_app_access.ts";
export * from "./lib/token/device_flow.ts";
export * from "./lib/discovery/discover.ts";
export * from "./lib/client/dpop.ts";
export * from "./lib/core/errors.ts";
export * from "./lib/token/grant_body.ts";
export * from "./lib/core/guards.ts";
export * from "./lib/core/jwt_claims.ts";
export * from "./lib/token/pkce.ts";
export * from "./lib/client/registration.ts";
export * from "./lib/http/request_options.ts";
export * from "./lib/discovery/resource_metadata.ts";
export * from "./lib/core/scopes.ts";
export * from "./lib/discovery/server_metadata.ts";
export * from "./lib/session/single_flight.ts";
export * from "./lib/token/id_jag_body.ts";
export * from "./lib/token/token_request.ts";
export * from "./lib/core/metadata.ts";
export * from "./lib/core/types.ts";
export {
  getAuthorizationServerMetadataUrls,
  getDefaultMetadataForUrl,
  getResourceMetadataUrls,
} from "./lib/discovery/metadata_urls.ts";
