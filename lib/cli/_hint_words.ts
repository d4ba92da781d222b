/** The hints of errors in the words of the command. */

import type { Hint, HintOption } from "../core/errors.ts";

/**
 * The hints of the library, in the words of the command; undefined for those that it
 * cannot cause.
 */
export const HINT_WORDS: Readonly<Record<HintOption, string | undefined>> = {
  allowHttp: "use --allow-http to allow it",
  assumePkce: "use --assume-pkce if it is known to support PKCE",
  authorizationServer:
    "use --server-metadata of the right server, and --resource if a gateway gives the API another name",
  client: "use --client-id with an existing client",
  clientSecretBasic: "client_secret was in the body: omit --client-secret-post",
  clientSecretPost: "client_secret was in the header: try --client-secret-post",
  codeFlow: "omit --device",
  dpop: "only the library supports DPoP",
  formEncode: "servers differ in how they decode such credentials",
  key: "pass the --key-command that it was saved with, or none",
  now: "correct the clock",
  port: "use --redirect-uri with a port that the client is registered with",
  initialAccessToken:
    "the server may require an initial access token, which may " +
    "have expired: use --initial-access-token-file",
  resourceIndicator:
    "if the server rejects the parameter resource, use --resource=false",
  scopes: "use --scope",
  serverMetadata: "use --server-metadata with what its docs say",
  trustedIssuers:
    "this could be an attack: use --trusted-issuer only if both are " +
    "the same server",
  // It registers its client itself, unless the server does not.
  clientMetadata: undefined,
  clientMetadataUrl: undefined,
  // It always has a flow, and pushes the request where the server has an endpoint.
  flow: undefined,
  par: undefined,
  // Its client is public, or has a secret, and its grants are others.
  assumeProfile: undefined,
  privateKeyJwt: undefined,
  registrationEndpoint: undefined,
};

/** Returns the hints of an error as a user of the command reads them, each once. */
export function wordsOfHints(hints: readonly Hint[] = []): string[] {
  return [...new Set(hints.flatMap(({ option }) => HINT_WORDS[option] ?? []))];
}
