/**
 * Everything an OAuth client needs between a `401` and a token, as plain functions
 * over web-standard `fetch`, `URL` and `URLSearchParams`.
 *
 * {@linkcode discoverAuthorization} discovers the authorization server of a resource
 * that answers with `401`. {@linkcode selectClient}, {@linkcode registerClient} and
 * {@linkcode selectClientAuthentication} provide a client for it.
 * {@linkcode buildAuthorizationUrl} builds the URL for the user,
 * {@linkcode parseAuthorizationResponse} parses the callback, and
 * {@linkcode fetchToken} fetches the token. Each of them can be used alone.
 *
 * @example From a `401` to the URL for the user
 * ```ts
 * import {
 *   buildAuthorizationUrl,
 *   createPkcePair,
 *   createState,
 *   discoverAuthorization,
 *   registerClient,
 * } from "@oauth-helper/client";
 *
 * export async function startLogin(target: string, redirectUri: string) {
 *   const { serverMetadata, resource, scopes } = await discoverAuthorization(
 *     target,
 *     { challenge: await fetch(target) },
 *   );
 *   const { client_id } = await registerClient(serverMetadata, {
 *     client_name: "My client",
 *     redirect_uris: [redirectUri],
 *   });
 *   const state = createState();
 *   const { codeVerifier, codeChallenge } = await createPkcePair();
 *   const url = buildAuthorizationUrl(serverMetadata, {
 *     clientId: client_id,
 *     redirectUri,
 *     state,
 *     codeChallenge,
 *     scopes,
 *     resource,
 *   });
 *   return { url, state, codeVerifier };
 * }
 * ```
 *
 * @module
 */

export * from "./lib/core/advice.ts";
export * from "./lib/core/challenge.ts";
export * from "./lib/core/constants.ts";
export * from "./lib/core/errors.ts";
export * from "./lib/core/guards.ts";
export * from "./lib/core/jwt_claims.ts";
export * from "./lib/core/metadata.ts";
export * from "./lib/core/scopes.ts";
export * from "./lib/core/step_up.ts";
export * from "./lib/core/types.ts";
export * from "./lib/http/request_options.ts";
export * from "./lib/discovery/discover.ts";
export * from "./lib/discovery/discover_server.ts";
export * from "./lib/discovery/metadata_urls.ts";
export * from "./lib/discovery/resource_metadata.ts";
export * from "./lib/discovery/server_metadata.ts";
export * from "./lib/client/authentication.ts";
export * from "./lib/client/authentication_selection.ts";
export * from "./lib/client/client_assertion.ts";
export * from "./lib/client/dpop.ts";
export * from "./lib/client/private_key_jwt.ts";
export * from "./lib/client/known_client.ts";
export * from "./lib/client/registration.ts";
export * from "./lib/client/signing_key.ts";
export * from "./lib/client/selection.ts";
export * from "./lib/token/authorization_parameters.ts";
export * from "./lib/token/authorization_response.ts";
export * from "./lib/token/authorization_url.ts";
export * from "./lib/token/client_check.ts";
export * from "./lib/token/cross_app_access.ts";
export * from "./lib/token/device_grant.ts";
export * from "./lib/token/form_options.ts";
export * from "./lib/token/grant_body.ts";
export * from "./lib/token/id_jag_body.ts";
export * from "./lib/token/id_token.ts";
export * from "./lib/token/pkce.ts";
export * from "./lib/token/pushed_authorization.ts";
export * from "./lib/token/revocation.ts";
export * from "./lib/token/token_exchange.ts";
export * from "./lib/token/token.ts";
export * from "./lib/session/sign_in.ts";
export * from "./lib/session/flow.ts";
export * from "./lib/session/authorized_fetch.ts";
export * from "./lib/session/client_credentials_flow.ts";
export * from "./lib/session/code_flow.ts";
export * from "./lib/session/device_flow.ts";
export * from "./lib/session/ensure_client.ts";
export * from "./lib/session/session.ts";
export * from "./lib/session/single_flight.ts";
export * from "./lib/session/store.ts";
