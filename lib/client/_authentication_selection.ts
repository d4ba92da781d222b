/**
 * The choice of an authentication method for a registered client.
 */

import type { Hint } from "../core/errors.ts";
import {
  requireArgument,
  requireNonEmptyString,
  requireObject,
} from "../core/_arguments.ts";
import { requireSameIssuer } from "../core/_issuer.ts";
import { stringsIn } from "../core/_members.ts";
import { hinted } from "../core/_hints.ts";
import { quoteJson } from "../core/_quote.ts";
import { quoteUrl } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { DEFAULT_METHOD, SECRET_METHODS } from "./_authentication_methods.ts";
import {
  type ClientAuthentication,
  clientSecretBasic,
  clientSecretPost,
  isChangedByEncoding,
  publicClient,
} from "./authentication.ts";
import type { Client, KnownClient } from "./known_client.ts";

/** For a registration that does not say how to authenticate. */
const OTHER_CLIENT: Hint = {
  option: "client",
  text: "set client to the result of clientSecretBasic, privateKeyJwt or the " +
    "like; a function that wraps a flow must have its member client",
};

/** Checks whether a client has its own authentication. */
export function isAuthentication(
  client: Client,
): client is ClientAuthentication {
  // A server may put a member of this name into a registration.
  return typeof (client as Partial<ClientAuthentication>).authenticate ===
    "function";
}

/** Returns the identifier of a client. */
export function clientIdOf(client: Client): string {
  return isAuthentication(client) ? client.clientId : client.client_id;
}

/** Clients whose server accepts their Basic credentials only unencoded. */
const unencodedClients = new WeakSet<Client>();

/** Stores whether the server of a client accepts its credentials only unencoded. */
export function noteUnencoded(client: Client, isUnencoded: boolean): void {
  if (isUnencoded) unencodedClients.add(client);
  else unencodedClients.delete(client);
}

/** Returns the registration of a client, without its authentication functions. */
export function registrationOf(client: Client, issuer: string): KnownClient {
  // Also checked when credentials are sent, but the user would have signed in by then.
  requireSameIssuer(client.issuer, issuer);
  if (!isAuthentication(client)) {
    requireBound(client);
    return { ...client, issuer };
  }
  const { clientId, method } = client;
  return { issuer, client_id: clientId, token_endpoint_auth_method: method };
}

/**
 * Fails unless a client may be used when a resource selects the server: credentials
 * without an issuer would be sent to any server.
 */
export function requireBoundClient(client: Client | undefined): void {
  if (client === undefined) return;
  requireObject("client", client);
  if (!isAuthentication(client)) return requireBound(client);
  const { method, issuer, isPortable } = client;
  requireArgument(
    method === "none" || isPortable || typeof issuer === "string",
    "client",
    // Its method is named as its function is.
    "bound to an issuer (pass { issuer } to " +
      `${method.replace(/_(.)/g, (_, letter) => letter.toUpperCase())})`,
  );
}

/** Fails if a client in plain JSON has a secret, but no issuer to send it to. */
export function requireBound({ issuer, client_secret }: KnownClient): void {
  requireArgument(
    Boolean(issuer) || !client_secret,
    "client",
    "an object with the issuer that its client_secret belongs to",
  );
}

/**
 * Returns the authentication of a client at a server. For a registration, the method is
 * the one that it names. Otherwise it is `none` without a secret; with a secret, it is
 * the first listed by the server of the methods that send it. An empty list counts as
 * absent.
 *
 * Many servers do not decode Basic credentials, although RFC 6749, section 2.3.1,
 * requires it. If the encoding would change the credentials and no method is set, they
 * are sent in the body if the server lists that method.
 *
 * `client_secret_jwt` is not supported: its signature is an HMAC with the client
 * secret, so the server has to store the secret itself instead of a hash.
 */
export function authenticationOf(
  client: Client,
  serverMetadata: ServerMetadata,
): ClientAuthentication {
  const { issuer, token_endpoint_auth_methods_supported } = serverMetadata;
  requireNonEmptyString("serverMetadata.issuer", issuer);
  requireSameIssuer(client.issuer, issuer);
  const isUnencoded = unencodedClients.has(client);
  if (isAuthentication(client)) {
    return (isUnencoded ? client.unencoded : undefined) ?? client;
  }
  requireBound(client);
  const { client_id, client_secret = "" } = client;
  const listed = stringsIn(token_endpoint_auth_methods_supported) ?? [];
  const formEncode = client.formEncode ?? (isUnencoded ? false : undefined);
  const methods = client_secret && formEncode === undefined &&
      isChangedByEncoding(client_id, client_secret)
    ? [...SECRET_METHODS].reverse()
    : SECRET_METHODS;
  const method = client.token_endpoint_auth_method ??
    (client_secret
      ? methods.find((one) => listed.includes(one)) ?? listed[0] ??
        DEFAULT_METHOD
      : "none");
  const needsSecret = SECRET_METHODS.includes(method);
  if (needsSecret && client_secret) {
    return method === DEFAULT_METHOD
      ? clientSecretBasic(client_id, client_secret, { issuer, formEncode })
      : clientSecretPost(client_id, client_secret, { issuer });
  }
  if (method === "none") return publicClient(client_id, { issuer });
  throw hinted(
    "unsupported",
    needsSecret
      ? `The client is registered at ${quoteUrl(issuer)} with the ` +
        `authentication method ${quoteJson(method)} and without a ` +
        "client_secret, which it needs"
      : `Client authentication ${quoteJson(method)} at ${quoteUrl(issuer)} ` +
        "needs more than a registration",
    [OTHER_CLIENT],
  );
}
