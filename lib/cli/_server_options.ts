/** The options of the fetch for the authorization server and the client. */

import { isSameIssuer } from "../core/_issuer.ts";
import { isMembers } from "../core/_members.ts";
import { quoteUrl } from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { publicClient } from "../client/authentication.ts";
import type { Client } from "../client/known_client.ts";
import type { SigningKey } from "../client/signing_key.ts";
import { readTextFile } from "../native/_text_file.ts";
import { type Arguments, readHeaders } from "./_arguments.ts";
import { ExitCode, Failure, usageError } from "./_failure.ts";
import { VERSION } from "./_version.ts";

export const USER_AGENT = `oauth-helper/${VERSION}`;

/** Reads a file that an option names. */
async function readOptionFile(option: string, path: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (error) {
    const { message } = error as Error;
    throw new Failure(ExitCode.Failed, `--${option}: ${message}`);
  }
}

/** Reads server metadata that the user has written, as JSON (RFC 8414). */
export async function serverMetadataOf(
  { serverMetadata: path }: Arguments,
): Promise<ServerMetadata | undefined> {
  if (path === undefined) return undefined;
  const text = await readOptionFile("server-metadata", path);
  let metadata: unknown;
  try {
    metadata = JSON.parse(text);
  } catch {
    // Not an object either.
  }
  if (isMembers(metadata) && typeof metadata.issuer === "string") {
    return metadata as unknown as ServerMetadata;
  }
  throw new Failure(
    ExitCode.Failed,
    `--server-metadata: ${path} has no JSON object with an issuer`,
    'For example {"issuer": …, "authorization_endpoint": …, "token_endpoint": …}.',
  );
}

/** Returns the arguments' header fields, and those in their file. */
export async function headersOf(
  { headers, headerFile: path }: Arguments,
): Promise<Record<string, string>> {
  const option = "header-file";
  const text = path === undefined ? "" : await readOptionFile(option, path);
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  return { ...headers, ...readHeaders(option, lines) };
}

/** The secret may not be empty. */
async function readSecret(option: string, path: string): Promise<string> {
  const secret = await readOptionFile(option, path);
  if (secret !== "") return secret;
  throw new Failure(ExitCode.Failed, `--${option}: ${path} is empty`);
}

/** Returns the initial access token, only for the arguments' issuer. */
export async function initialAccessTokenOf(
  { initialAccessTokenFile: path, issuer = "" }: Arguments,
): Promise<((server: string) => string) | undefined> {
  if (path === undefined) return undefined;
  const token = await readSecret("initial-access-token-file", path);
  return (server) => {
    if (isSameIssuer(server, issuer)) return token;
    throw new Failure(
      ExitCode.Failed,
      `The initial access token for ${quoteUrl(issuer)} must not be sent to ` +
        quoteUrl(server),
    );
  };
}

/** Reads a private key: a JWK, or PEM. */
function readKey(text: string): SigningKey {
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message could repeat a part of the key.
    throw new Failure(ExitCode.Failed, "--key-file: the JWK is not valid JSON");
  }
}

export async function clientOf(
  { clientId, clientSecretFile, clientSecretPost, issuer, keyFile }: Arguments,
  serverMetadata: ServerMetadata | undefined,
): Promise<Client | undefined> {
  if (clientId === undefined) return undefined;
  const registeredWith = issuer ?? serverMetadata?.issuer;
  const name = keyFile === undefined ? "client-secret-file" : "key-file";
  const path = keyFile ?? clientSecretFile;
  if (path === undefined) {
    return publicClient(clientId, { issuer: registeredWith });
  }
  if (registeredWith === undefined) {
    // Otherwise, the resource would select the server that receives the secret.
    throw usageError(`--${name} requires --issuer, the server of the secret`);
  }
  const secret = await readSecret(name, path);
  if (keyFile !== undefined) {
    const { privateKeyJwt } = await import("../client/private_key_jwt.ts");
    return privateKeyJwt(clientId, readKey(secret), { issuer: registeredWith });
  }
  return {
    ...{ issuer: registeredWith, client_id: clientId, client_secret: secret },
    ...(clientSecretPost &&
      { token_endpoint_auth_method: "client_secret_post" }),
  };
}

export async function namedServerOf(given: Arguments): Promise<{
  readonly client: Client | undefined;
  readonly serverMetadata: ServerMetadata | undefined;
}> {
  const serverMetadata = await serverMetadataOf(given);
  return { client: await clientOf(given, serverMetadata), serverMetadata };
}
