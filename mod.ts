/**
 * Everything an OAuth client needs between a `401` and a token, as plain
 * functions over web-standard `fetch`, `URL` and `URLSearchParams`.
 *
 * The road: a resource answers `401` with a challenge;
 * {@linkcode parseWWWAuthenticateHeader} reads it;
 * {@linkcode fetchResourceMetadata} asks the resource who its authorization
 * server is; {@linkcode fetchAuthorizationServerMetadata} asks that server where
 * its endpoints are; {@linkcode fetchDynamicRegistration} makes the client known
 * there.
 *
 * @example From a challenge to a client
 * ```ts
 * import {
 *   fetchAuthorizationServerMetadata,
 *   fetchDynamicRegistration,
 *   fetchResourceMetadata,
 *   parseWWWAuthenticateHeader,
 * } from "@oauth-helper/client";
 *
 * async function registerFor(target: string): Promise<string> {
 *   const { headers } = await fetch(target);
 *   const challenge = parseWWWAuthenticateHeader(
 *     headers.get("WWW-Authenticate") ?? "",
 *   ).find(({ scheme }) => scheme.toLowerCase() === "bearer");
 *
 *   const resource = await fetchResourceMetadata(
 *     target,
 *     challenge?.params.resource_metadata,
 *   );
 *   const server = await fetchAuthorizationServerMetadata(
 *     resource.metadata.authorization_servers?.[0] ?? new URL(target).origin,
 *   );
 *   const client = await fetchDynamicRegistration(server.metadata, "My client");
 *   return client.client_id;
 * }
 * console.log(registerFor.name);
 * ```
 *
 * @module
 */

export * from "./lib/challenge.ts";
export * from "./lib/constants.ts";
export {
  type IOAuthClientErrorDetails,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "./lib/errors.ts";
export * from "./lib/guards.ts";
export * from "./lib/jwt_claims.ts";
export * from "./lib/registration.ts";
export * from "./lib/request_options.ts";
export * from "./lib/resource_metadata.ts";
export * from "./lib/scopes.ts";
export * from "./lib/server_metadata.ts";
export * from "./lib/token_body.ts";
export * from "./lib/types.ts";
export { getDefaultMetadataForUrl } from "./lib/well_known.ts";
