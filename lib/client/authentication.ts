/**
 * How a client shows a token endpoint who it is (RFC 6749, section 2.3).
 *
 * @module
 */

import {
  requireArgument,
  requireObject,
  requireText,
  textsIn,
} from "../core/_arguments.ts";
import { encodeBase64 } from "../core/_base64.ts";
import { signJwt } from "./_jws.ts";
import type { IDpop } from "./dpop.ts";
import { OAuthClientError } from "../core/errors.ts";
import type { IRequestOptions } from "../http/request_options.ts";
import type {
  IAuthorizationDynamicClientRegistrationResponse,
  IAuthorizationServerMetadata,
  WebCryptoKey,
} from "../core/types.ts";

const CLIENT_ASSERTION_TYPE =
  "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** A client and its way of authenticating; made by the functions of this file. */
export interface ClientAuthentication {
  /** Identifier of the client. */
  readonly clientId: string;
  /** The method's name in `token_endpoint_auth_methods_supported`. */
  readonly method: string;
  /** The only issuer that these credentials are for; any when undefined. */
  readonly issuer?: string | undefined;
  /** Puts the credentials into a request that is about to be sent. */
  authenticate(
    request: IAuthenticatedRequest,
  ): void | Promise<void>;
}

/** A request to a token or device authorization endpoint, still unsent. */
export interface IAuthenticatedRequest {
  /** The server that it goes to. */
  readonly serverMetadata: IAuthorizationServerMetadata;
  /** The form in its body. */
  readonly body: URLSearchParams;
  /** Its header fields. */
  readonly headers: Record<string, string>;
}

/** Options of every request to a token or device authorization endpoint. */
export interface IFormRequestOptions extends IRequestOptions {
  /** The client and its credentials; none when the body holds them already. */
  client?: ClientAuthentication | undefined;
  /** Binds the token to a key. */
  dpop?: IDpop | undefined;
  /** Takes an http endpoint that is not on loopback. */
  allowHttp?: boolean | undefined;
}

/** Options of the client authentications. */
export interface IClientAuthenticationOptions {
  /**
   * Issuer that the client is registered with. A request to any other server
   * then fails with `issuer_mismatch` before it is made.
   */
  issuer?: string | undefined;
}

/**
 * Names the client in a body and takes out what another method has put there: a
 * request carries no more than one (RFC 6749, section 2.3).
 */
function identify(body: URLSearchParams, clientId: string | undefined): void {
  for (
    const name of [
      "client_id",
      "client_secret",
      "client_assertion",
      "client_assertion_type",
    ]
  ) body.delete(name);
  if (clientId !== undefined) body.set("client_id", clientId);
}

/**
 * A public client: `client_id` in the body and nothing secret.
 *
 * @param clientId Identifier of the client.
 * @throws {OAuthClientError} `invalid_argument`: no identifier.
 * @see RFC 6749, section 3.2.1; RFC 7591, section 2 (`none`).
 *
 * @example A client that registered without a secret
 * ```ts
 * import { publicClient } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const client = publicClient("c1", { issuer: "https://as.example" });
 * assertEquals(client.method, "none");
 * ```
 */
export function publicClient(
  clientId: string,
  options: IClientAuthenticationOptions = {},
): ClientAuthentication {
  const { issuer } = requireObject("options", options);
  requireText("clientId", clientId);
  return {
    clientId,
    method: "none",
    issuer,
    authenticate: ({ body }) => identify(body, clientId),
  };
}

/**
 * A client that sends `client_id` and `client_secret` in the body.
 *
 * @throws {OAuthClientError} `invalid_argument`: no identifier or no secret.
 * @see RFC 6749, section 2.3.1.
 *
 * @example A server that lists client_secret_post only
 * ```ts
 * import { clientSecretPost } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const client = clientSecretPost("c1", "s3cret");
 * assertEquals(client.method, "client_secret_post");
 * ```
 */
export function clientSecretPost(
  clientId: string,
  clientSecret: string,
  options: IClientAuthenticationOptions = {},
): ClientAuthentication {
  const { issuer } = requireObject("options", options);
  requireText("clientId", clientId);
  requireText("clientSecret", clientSecret);
  return {
    clientId,
    method: "client_secret_post",
    issuer,
    authenticate({ body }) {
      identify(body, clientId);
      body.set("client_secret", clientSecret);
    },
  };
}

/** Options of {@linkcode clientSecretBasic}. */
export interface IClientSecretBasicOptions
  extends IClientAuthenticationOptions {
  /**
   * Whether identifier and secret are form-encoded before they are joined, as
   * the standard says; some servers expect them as they are. True when absent.
   */
  formEncode?: boolean | undefined;
}

/**
 * A client that sends its credentials in the `Authorization` header, scheme
 * `Basic`, and none of them in the body.
 *
 * @throws {OAuthClientError} `invalid_argument`: no identifier or no secret.
 * @see RFC 6749, section 2.3.1; RFC 7617.
 *
 * @example What most servers expect of a client with a secret
 * ```ts
 * import { clientSecretBasic } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const client = clientSecretBasic("c1", "s3cret");
 * assertEquals(client.method, "client_secret_basic");
 * ```
 */
export function clientSecretBasic(
  clientId: string,
  clientSecret: string,
  options: IClientSecretBasicOptions = {},
): ClientAuthentication {
  const { issuer, formEncode = true } = requireObject("options", options);
  requireArgument(
    formEncode || !String(clientId).includes(":"),
    "clientId",
    "without a colon where it is not form-encoded (RFC 7617, section 2)",
  );
  const encode = (text: string) =>
    formEncode ? new URLSearchParams({ "": text }).toString().slice(1) : text;
  const pair = `${encode(requireText("clientId", clientId))}:${
    encode(requireText("clientSecret", clientSecret))
  }`;
  const credentials = encodeBase64(new TextEncoder().encode(pair));
  return {
    clientId,
    method: "client_secret_basic",
    issuer,
    authenticate({ body, headers }) {
      identify(body, undefined);
      headers.Authorization = `Basic ${credentials}`;
    },
  };
}

/** Options of {@linkcode privateKeyJwt}. */
export interface IPrivateKeyJwtOptions extends IClientAuthenticationOptions {
  /** `kid` of the key, as in the client's JWK Set. */
  keyId?: string | undefined;
  /** `aud` of the assertion; the server's issuer identifier when absent. */
  audience?: string | undefined;
  /** Seconds that an assertion is valid for; 60 when absent. */
  lifetime?: number | undefined;
  /** The time in milliseconds since the Unix epoch; `Date.now` when absent. */
  now?: (() => number) | undefined;
}

/**
 * A client that signs a fresh assertion for every request. The key may be, and
 * better is, non-extractable; `alg` follows from it: ES256, ES384, ES512, EdDSA,
 * RS256 to RS512, PS256 to PS512.
 *
 * @param clientId Identifier of the client.
 * @param key Private key for `sign`.
 * @throws {OAuthClientError} `invalid_argument`: no identifier, or the key is not
 * for signing.
 * @see RFC 7523, sections 2.2 and 3; OpenID Connect Core 1.0, section 9.
 *
 * @example Sign with a key made here
 * ```ts
 * import { privateKeyJwt } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { privateKey } = await crypto.subtle.generateKey(
 *   { name: "ECDSA", namedCurve: "P-256" },
 *   false,
 *   ["sign", "verify"],
 * );
 * const client = privateKeyJwt("c1", privateKey, { keyId: "k1" });
 * assertEquals(client.method, "private_key_jwt");
 * ```
 */
export function privateKeyJwt(
  clientId: string,
  key: WebCryptoKey,
  options: IPrivateKeyJwtOptions = {},
): ClientAuthentication {
  const { issuer, keyId, audience, lifetime = 60, now = Date.now } =
    requireObject("options", options);
  requireArgument(
    Number.isFinite(lifetime) && lifetime > 0,
    "lifetime",
    "a positive number of seconds",
  );
  requireText("clientId", clientId);
  requireArgument(
    key?.type === "private" && key.usages.includes("sign"),
    "key",
    "a private CryptoKey for signing",
  );
  return {
    clientId,
    method: "private_key_jwt",
    issuer,
    async authenticate({ body, serverMetadata }) {
      const iat = Math.floor(now() / 1000);
      const assertion = await signJwt(
        { typ: "JWT", ...(keyId && { kid: keyId }) },
        {
          iss: clientId,
          sub: clientId,
          aud: audience ?? serverMetadata.issuer,
          jti: crypto.randomUUID(),
          iat,
          exp: iat + lifetime,
        },
        key,
      );
      identify(body, clientId);
      body.set("client_assertion_type", CLIENT_ASSERTION_TYPE);
      body.set("client_assertion", assertion);
    },
  };
}

/** What {@linkcode selectClientAuthentication} needs of a registration. */
export interface IClientCredentials extends
  Pick<
    IAuthorizationDynamicClientRegistrationResponse,
    "client_id" | "client_secret" | "token_endpoint_auth_method"
  > {
  /** Issuer that the client is registered with, where it is known. */
  issuer?: string;
}

/**
 * The client authentication for a registered client, bound to this server's
 * issuer: the method of the registration; else, with a secret, the header where
 * the server takes it, the body where it takes that, and the first method that it
 * lists where it takes neither; else none.
 *
 * @throws {OAuthClientError} `unsupported`: the method is none of `none`,
 * `client_secret_basic` and `client_secret_post`; for `private_key_jwt` call
 * {@linkcode privateKeyJwt}. `issuer_mismatch`: the registration names another
 * issuer. `invalid_argument`: the method needs a secret and there is none.
 * @see RFC 8414, section 2 (`token_endpoint_auth_methods_supported`).
 *
 * @example A client with a secret, a server that wants it in the body
 * ```ts
 * import { selectClientAuthentication } from "@oauth-helper/client";
 * import { assertEquals } from "@std/assert";
 *
 * const { method } = selectClientAuthentication(
 *   {
 *     issuer: "https://as.example",
 *     response_types_supported: ["code"],
 *     token_endpoint_auth_methods_supported: ["client_secret_post", "none"],
 *   },
 *   { client_id: "c1", client_secret: "s3cret" },
 * );
 * assertEquals(method, "client_secret_post");
 * ```
 */
export function selectClientAuthentication(
  serverMetadata: IAuthorizationServerMetadata,
  registration: IClientCredentials,
): ClientAuthentication {
  const { client_id, client_secret } = requireObject(
    "registration",
    registration,
  );
  const { issuer } = requireObject("serverMetadata", serverMetadata);
  if (registration.issuer !== undefined && registration.issuer !== issuer) {
    throw new OAuthClientError(
      "issuer_mismatch",
      `The client of ${registration.issuer} is not used at ${issuer}`,
    );
  }
  const listed =
    textsIn(serverMetadata.token_endpoint_auth_methods_supported) ??
      ["client_secret_basic"];
  const method = registration.token_endpoint_auth_method ??
    (!client_secret
      ? "none"
      : listed.includes("client_secret_basic")
      ? "client_secret_basic"
      : listed.includes("client_secret_post")
      ? "client_secret_post"
      : listed[0] ?? "none");
  switch (method) {
    case "none":
      return publicClient(client_id, { issuer });
    case "client_secret_basic":
      return clientSecretBasic(client_id, client_secret ?? "", { issuer });
    case "client_secret_post":
      return clientSecretPost(client_id, client_secret ?? "", { issuer });
  }
  // Servers register what they please, in a member that is to be a text.
  const shown = typeof method === "string" ? ` ${method}` : "";
  throw new OAuthClientError(
    "unsupported",
    `Client authentication${shown} needs more than a registration, ` +
      `for ${issuer}`,
  );
}
