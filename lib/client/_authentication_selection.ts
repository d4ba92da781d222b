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

/** For a registration without an authentication method. */
const OTHER_CLIENT: Hint = {
  option: "client",
  text: "set client to the result of clientSecretBasic, privateKeyJwt or the " +
    "like; a function that wraps a flow must have its member client",
};

export function isAuthentication(
  client: Client,
): client is ClientAuthentication {
  // A server may add a member with this name to a registration.
  return typeof (client as Partial<ClientAuthentication>).authenticate ===
    "function";
}

export function clientIdOf(client: Client): string {
  return isAuthentication(client) ? client.clientId : client.client_id;
}

/** Clients whose server accepts Basic credentials only unencoded. */
const unencodedClients = new WeakSet<Client>();

export function noteUnencoded(client: Client, isUnencoded: boolean): void {
  if (isUnencoded) unencodedClients.add(client);
  else unencodedClients.delete(client);
}

export function registrationOf(client: Client, issuer: string): KnownClient {
  // Credentials are checked again when sent, but by then the user has signed in.
  requireSameIssuer(client.issuer, issuer);
  if (!isAuthentication(client)) {
    requireBound(client);
    return { ...client, issuer };
  }
  const { clientId, method } = client;
  return { issuer, client_id: clientId, token_endpoint_auth_method: method };
}

/**
 * Fails unless a client may be used at a server that a resource selects: any server
 * would receive credentials without an issuer.
 */
export function requireBoundClient(client: Client | undefined): void {
  if (client === undefined) return;
  requireObject("client", client);
  if (!isAuthentication(client)) return requireBound(client);
  const { method, issuer, isPortable } = client;
  requireArgument(
    method === "none" || isPortable || typeof issuer === "string",
    "client",
    // The function is named like its method.
    "bound to an issuer (pass { issuer } to " +
      `${method.replace(/_(.)/g, (_, letter) => letter.toUpperCase())})`,
  );
}

/** Fails if a client in plain JSON contains a secret but no issuer. */
export function requireBound({ issuer, client_secret }: KnownClient): void {
  requireArgument(
    Boolean(issuer) || !client_secret,
    "client",
    "an object with the issuer that its client_secret belongs to",
  );
}

/**
 * Returns a client's authentication at a server. A registration's own method counts
 * first. Without a secret, the method is `none`; otherwise the first listed one that
 * sends the secret. An empty list counts as absent.
 *
 * Many servers do not decode Basic credentials, although RFC 6749, section 2.3.1,
 * requires it. If encoding would change them and no method is set, they are sent in the
 * body if the server lists that method.
 *
 * `client_secret_jwt` is not supported: the server would have to store the secret
 * itself, not a hash.
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
