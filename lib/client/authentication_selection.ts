/**
 * The choice of an authentication method for a registered client.
 *
 * @module
 */

import { requireNonEmptyString } from "../core/_arguments.ts";
import { stringsIn } from "../core/_members.ts";
import { quoteJson } from "../core/_quote.ts";
import { quoteUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IAuthorizationServerMetadata } from "../core/metadata.ts";
import type { IAuthorizationDynamicClientRegistrationResponse } from "../core/types.ts";
import { requireSameIssuer } from "./_issuer.ts";
import {
  clientSecretBasic,
  clientSecretPost,
  type IClientAuthentication,
  publicClient,
} from "./authentication.ts";

/** The members of a registration that {@linkcode selectClientAuthentication} reads. */
export interface IClientCredentials extends
  Pick<
    IAuthorizationDynamicClientRegistrationResponse,
    "client_id" | "client_secret" | "token_endpoint_auth_method"
  > {
  /** Issuer that the client is registered with, if it is known. */
  issuer?: string | undefined;
}

/** Selects a method that the server lists, for a client with a secret. */
function selectMethod(listed: string[] = []): string {
  // The default of RFC 8414, section 2.
  const preferred = ["client_secret_basic", "client_secret_post"];
  return preferred.find((method) => listed.includes(method)) ??
    listed[0] ?? "client_secret_basic";
}

/**
 * Selects the authentication of a registered client, bound to the issuer of the
 * server.
 *
 * The method is the one that the registration names. Else it is `none` for a client
 * without a secret, and for a client with one the first that the server lists of
 * `client_secret_basic` and `client_secret_post`. An empty list counts as none.
 *
 * `client_secret_jwt` is not supported: its signature is an HMAC with the client secret,
 * so that the server has to store the secret itself and not only a hash of it. Where a
 * secret must not be sent, {@linkcode privateKeyJwt} is the better choice.
 *
 * @param serverMetadata Metadata of the server.
 * @param registration The registration, for example an {@linkcode IKnownClient}.
 * @throws {OAuthClientError} `unsupported`: the method needs more than a
 * registration; use {@linkcode privateKeyJwt} or {@linkcode clientAssertion}.
 * `issuer_mismatch`: the client is registered with another issuer.
 * `invalid_argument`: an argument is not valid, or the method needs a secret
 * and there is none.
 * @see RFC 8414, section 2 (`token_endpoint_auth_methods_supported`).
 *
 * @example Request a token with a stored registration
 * ```ts
 * import {
 *   buildClientCredentialsBody,
 *   fetchToken,
 *   selectClientAuthentication,
 * } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const serverMetadata = {
 *   issuer: "https://as.example",
 *   token_endpoint: "https://as.example/token",
 *   token_endpoint_auth_methods_supported: ["client_secret_post"],
 * };
 * const stored = {
 *   issuer: "https://as.example",
 *   client_id: "c1",
 *   client_secret: "s3cret",
 * };
 * const { access_token } = await fetchToken(
 *   serverMetadata,
 *   buildClientCredentialsBody(),
 *   {
 *     client: selectClientAuthentication(serverMetadata, stored),
 *     // Replaces the server.
 *     fetch: (_url, { body }) =>
 *       Promise.resolve(
 *         new URLSearchParams(body).get("client_secret") === "s3cret"
 *           ? Response.json({ access_token: "t0ken", token_type: "Bearer" })
 *           : Response.json({ error: "invalid_client" }, { status: 401 }),
 *       ),
 *   },
 * );
 * assertEquals(access_token, "t0ken");
 * ```
 */
export function selectClientAuthentication(
  serverMetadata: Pick<
    IAuthorizationServerMetadata,
    "issuer" | "token_endpoint_auth_methods_supported"
  >,
  registration: IClientCredentials,
): IClientAuthentication {
  const { issuer, token_endpoint_auth_methods_supported } = serverMetadata;
  const { client_id, client_secret = "" } = registration;
  requireNonEmptyString("serverMetadata.issuer", issuer);
  requireSameIssuer(registration.issuer, issuer);
  const method = registration.token_endpoint_auth_method ??
    (client_secret
      ? selectMethod(stringsIn(token_endpoint_auth_methods_supported))
      : "none");
  switch (method) {
    case "none":
      return publicClient(client_id, { issuer });
    case "client_secret_basic":
      return clientSecretBasic(client_id, client_secret, { issuer });
    case "client_secret_post":
      return clientSecretPost(client_id, client_secret, { issuer });
  }
  throw new OAuthClientError(
    "unsupported",
    `Client authentication ${quoteJson(method)} at ${quoteUrl(issuer)} needs ` +
      "more than a registration: use privateKeyJwt or clientAssertion",
  );
}
