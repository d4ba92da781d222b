/** What several test files share: servers, metadata, responses, assertions. */

import {
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { SignJWT } from "jose";
import { encodeBase64Url } from "../../lib/core/_base64.ts";
import {
  type AuthorizationContext,
  type IAuthorizationServerMetadata,
  OAuthClientError,
} from "../../mod.ts";
import { pinMessage } from "./pin_message.ts";
import { type Answer, json, untyped } from "./stub_fetch.ts";

export const API = "https://api.example";
export const MCP = `${API}/mcp`;
/** Where the protected resource metadata (RFC 9728) of the origin stands. */
export const PRM = `${API}/.well-known/oauth-protected-resource`;

export const AS = "https://as.example";
/** Where its metadata (RFC 8414) stands. */
export const OAUTH = `${AS}/.well-known/oauth-authorization-server`;
/** Where its metadata stands by OpenID Connect Discovery. */
export const OPENID = `${AS}/.well-known/openid-configuration`;
/** Its token endpoint, and the ones for registration and for devices. */
export const TOKEN_ENDPOINT = `${AS}/token`;
export const REGISTRATION_ENDPOINT = `${AS}/register`;
export const DEVICE_AUTHORIZATION_ENDPOINT = `${AS}/device`;

/** Where the authorization server redirects the user back to. */
export const REDIRECT_URI = "http://127.0.0.1:8123/callback";

/** The issuer of the identity provider in cross-app access. */
export const IDP = "https://idp.example";

/** The metadata of an authorization server, with these members as well. */
export function metadataOf(
  issuer: string,
  members: Partial<IAuthorizationServerMetadata> = {},
): IAuthorizationServerMetadata {
  return {
    issuer,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    device_authorization_endpoint: `${issuer}/device`,
    response_types_supported: ["code"],
    ...members,
  };
}

export const SERVER: IAuthorizationServerMetadata = metadataOf(AS);

/** Its metadata with the endpoints of a code flow. */
export const CODE_SERVER = metadataOf(AS, {
  authorization_endpoint: `${AS}/authorize`,
  pushed_authorization_request_endpoint: `${AS}/par`,
  revocation_endpoint: `${AS}/revoke`,
  code_challenge_methods_supported: ["S256"],
});

export const REGISTERED_MEMBERS = [
  ...["redirect_uris", "grant_types", "response_types", "client_secret"],
  ...["client_secret_expires_at", "token_endpoint_auth_method", "formEncode"],
];

/** What a discovery of the resource found: a server with this metadata. */
export function contextOf(
  serverMetadata: IAuthorizationServerMetadata,
): AuthorizationContext {
  const { issuer } = serverMetadata;
  const source = "resource_metadata";
  return { issuer, resource: MCP, serverMetadata, source, attempts: [] };
}

/** What a discovery of the resource found. */
export const CONTEXT = contextOf(CODE_SERVER);

/** Sends the user back from a URL at once, with a code or these parameters. */
export function comeBack(
  url: URL,
  back: Record<string, string> = { code: "c0de" },
): Promise<URLSearchParams> {
  const state = url.searchParams.get("state") ?? "";
  return Promise.resolve(new URLSearchParams({ ...back, state }));
}

/** A device authorization response with the required members alone. */
export const DEVICE_AUTHORIZATION = {
  device_code: "d1",
  user_code: "WDJB-MJHT",
  verification_uri: `${AS}/activate`,
  expires_in: 600,
};

export const ID_JAG_TYPE = "urn:ietf:params:oauth:token-type:id-jag";
/** The time, in seconds, at which `ID_JAG_CLAIMS` hold. */
export const NOW = 1_000;
/** The claims of an ID-JAG that the identity provider gives for the server. */
export const ID_JAG_CLAIMS = {
  iss: IDP,
  sub: "u1",
  aud: AS,
  client_id: "c-at-as",
  jti: "j1",
  iat: NOW - 5,
  exp: NOW + 300,
};

/** Signs an ID-JAG; claims that are undefined are left out. */
export async function signIdJag(
  claims: Record<string, unknown> = {},
  typ: string | undefined = "oauth-id-jag+jwt",
): Promise<string> {
  return await new SignJWT({ ...ID_JAG_CLAIMS, ...claims })
    .setProtectedHeader({ alg: "HS256", typ: typ || untyped(undefined) })
    .sign(new TextEncoder().encode("k".repeat(32)));
}

/** The identity provider's response with this ID-JAG. */
export function idJagReply(
  access_token: string,
  members: Record<string, unknown> = {},
): Answer {
  return json({
    access_token,
    issued_token_type: ID_JAG_TYPE,
    token_type: "N_A",
    ...members,
  });
}

/** A JWT with these claims, whose signature nobody checks. */
export function unverifiedJwt(
  claims: Record<string, unknown>,
  alg = "ES256",
): string {
  return [{ alg }, claims]
    .map((part) => encodeBase64Url(JSON.stringify(part))).join(".") + ".c2ln";
}

/** A new key pair for ES256, of which the private key stays where it is. */
export async function createSigningKeys(): Promise<CryptoKeyPair> {
  return await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    false,
    ["sign", "verify"],
  );
}

/** Fails unless an error has this code and these members; returns it. */
function checkError(
  error: OAuthClientError,
  code: string,
  members: object,
): OAuthClientError {
  assertEquals(String(error.code), code, error.message);
  assertEquals({ ...error, ...members }, { ...error });
  return error;
}

/** Fails unless a call throws an error of this code, with these members; returns it. */
export function assertThrowsCode(
  call: () => unknown,
  code: string,
  members: object = {},
): OAuthClientError {
  return checkError(assertThrows(call, OAuthClientError), code, members);
}

/** As `assertThrowsCode()`, for a call that rejects. */
export async function assertRejectsCode(
  call: () => Promise<unknown>,
  code: string,
  members: object = {},
): Promise<OAuthClientError> {
  const error = await assertRejects(call, OAuthClientError);
  return checkError(error, code, members);
}

/** As `assertThrowsCode()`; the message is in `tests/messages/`. */
export function pinThrown(
  ...args: Parameters<typeof assertThrowsCode>
): OAuthClientError {
  return pinMessage(assertThrowsCode(...args));
}

/** As `assertRejectsCode()`; the message is in `tests/messages/`. */
export async function pinRejected(
  ...args: Parameters<typeof assertRejectsCode>
): Promise<OAuthClientError> {
  return pinMessage(await assertRejectsCode(...args));
}

/** Fails unless a call rejects the argument of this name; returns the error. */
export async function assertInvalidArgument(
  call: () => Promise<unknown>,
  name: string,
): Promise<OAuthClientError> {
  const error = await assertRejectsCode(call, "invalid_argument");
  assertStringIncludes(error.message, name);
  return error;
}
