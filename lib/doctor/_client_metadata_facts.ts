import { isMembers, type Members, stringsIn } from "../core/_members.ts";
import { isLoopback, requireSafeUrl } from "../core/_url.ts";
import { OAuthClientError } from "../core/errors.ts";
import {
  isReadableKey,
  privateMembersOf,
} from "../client/_metadata_document.ts";
import { type Context, fork } from "../http/_context.ts";
import { request } from "../http/_request.ts";
import type { IResponse } from "../http/_response.ts";
import { sentence } from "./_facts.ts";
import type { Finding, FindingSeverity } from "./diagnosis.ts";

export interface ServerFacts {
  /** URL of the metadata, or of the target. */
  readonly url: string;
  readonly metadata?: Members;
  readonly problem?: string;
}

export interface ClientMetadataFacts {
  /** The URL as the caller spelled it. */
  readonly given: string;
  readonly url: URL;
  readonly response?: IResponse | undefined;
  readonly error?: OAuthClientError | undefined;
  /** The document, if it is a JSON object. */
  readonly document?: Members | undefined;
  readonly keys?: string | undefined;
  readonly server?: ServerFacts | undefined;
}

export interface ClientMetadataRule {
  readonly id: string;
  /** @default "error" */
  readonly severity?: FindingSeverity;
  readonly standard: string;
  readonly operator: string;
  readonly client?: string;
  /** Finds a problem; the document is empty if it was not read. */
  readonly find: (
    facts: ClientMetadataFacts,
    document: Members,
  ) => string | Partial<Finding> | false | undefined;
}

export const DRAFT = "OAuth Client ID Metadata Document";

/** The most keys to read; a response may contain thousands. */
const MAX_KEYS = 100;

/** Returns a client's grant types (RFC 7591, section 2). */
export function grantsOf({ grant_types }: Members): string[] {
  return stringsIn(grant_types) ?? ["authorization_code"];
}

/** Returns the error of a `GET`, unless the caller aborted it. */
async function get(
  url: string,
  context: Context,
): Promise<Pick<ClientMetadataFacts, "response" | "error">> {
  try {
    const headers = { Accept: "application/json" };
    const purpose = "client_metadata";
    const response = await request({ url, purpose, headers }, fork(context));
    return { response, error: response.failure };
  } catch (error) {
    context.signal?.throwIfAborted();
    if (error instanceof OAuthClientError) return { error };
    throw error;
  }
}

function keySetProblem(set: unknown, name: string): string | undefined {
  const keys = isMembers(set) ? set.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0) {
    return `The ${name} is not a JWK Set with keys.`;
  }
  for (const [index, key] of keys.slice(0, MAX_KEYS).entries()) {
    const what = `Key ${index + 1} of the ${name}`;
    if (!isMembers(key)) return `${what} is not a JSON object.`;
    const members = privateMembersOf(key);
    if (members.length > 0) {
      return `${what} is not public: it has ${members.join(", ")}.`;
    }
    if (!isReadableKey(key)) return `${what} cannot be read.`;
  }
  return undefined;
}

async function readKeys(
  { jwks, jwks_uri, token_endpoint_auth_method: method }: Members,
  url: URL,
  context: Context,
): Promise<string | undefined> {
  if (jwks !== undefined && jwks_uri !== undefined) {
    return "The document has both jwks and jwks_uri.";
  }
  if (jwks !== undefined) return keySetProblem(jwks, "jwks");
  if (jwks_uri === undefined) {
    return method === "private_key_jwt"
      ? "The method is private_key_jwt, and there are no keys."
      : undefined;
  }
  try {
    // The document names it: only a document on loopback may name loopback.
    const { allowHttp } = context;
    const rules = { allowHttp, allowLoopback: isLoopback(url) };
    const { href } = requireSafeUrl("the jwks_uri", jwks_uri, rules);
    const { response, error } = await get(href, context);
    if (error) throw error;
    return response?.status === 200
      ? keySetProblem(response.json, "jwks_uri")
      : `The jwks_uri responds with status ${response?.status}.`;
  } catch (error) {
    if (!(error instanceof OAuthClientError)) throw error;
    return sentence(error);
  }
}

export async function readClientMetadata(
  given: string,
  url: URL,
  context: Context,
): Promise<ClientMetadataFacts> {
  const { response, error } = await get(url.href, context);
  const json = response?.status === 200 && !error ? response.json : undefined;
  const document = isMembers(json) ? json : undefined;
  const keys = document && await readKeys(document, url, context);
  return { given, url, response, error, document, keys };
}

export function urlsIn(
  document: Members,
  names: readonly string[],
): [name: string, text: string][] {
  return names.flatMap((name) => {
    const texts = stringsIn([document[name]].flat()) ?? [];
    return texts.map((text): [string, string] => [name, text]);
  });
}

/** Describes the first problem, and their number. */
export function firstOf(problems: readonly string[]): string | undefined {
  const [first, ...more] = problems;
  return first && first + (more.length > 0 ? ` (${more.length} more)` : "");
}
