/**
 * The diagnosis of a client metadata document.
 *
 * @module
 */

import { requireHttpUrl, requireNames } from "../core/_arguments.ts";
import { contextOf as transportOf } from "../http/_context.ts";
import {
  type ClientMetadataFacts,
  type ClientMetadataRule,
  readClientMetadata,
  type ServerFacts,
} from "./_client_metadata_facts.ts";
import { type Facts, sentence } from "./_facts.ts";
import {
  CLIENT_METADATA_RULES,
  CLIENT_TARGET_RULES,
  DOCUMENT_RESPONSE_RULES,
} from "./rules/_client_metadata.ts";
import { CLIENT_METADATA_OPTIONS } from "./_option_names.ts";
import { seal, secretsIn } from "./_seal.ts";
import { requireOptions, takeSurvey } from "./_survey.ts";
import {
  type DiagnoseOptions,
  type Finding,
  FindingSeverity,
} from "./diagnosis.ts";

/** Options of {@linkcode diagnoseClientMetadata}. */
export interface DiagnoseClientMetadataOptions extends
  Omit<
    DiagnoseOptions,
    | "assumePkce"
    | "browser"
    | "offlineAccess"
    | "onRequest"
    | "signIn"
  > {
  /**
   * URL of a resource or an authorization server to check the document against. Its
   * metadata is read as in {@linkcode diagnose}, without a sign-in.
   */
  target?: string | URL | undefined;
}

/** The result of {@linkcode diagnoseClientMetadata}: plain JSON. */
export interface ClientMetadataDiagnosis {
  /** URL of the document. */
  url: string;
  /** The findings, errors first. */
  findings: Finding[];
}

/** Returns the metadata of the server of a target, or why it is not known. */
function serverOf(
  { context, failure, target: { href } }: Facts,
): ServerFacts {
  if (context) {
    const { serverMetadata, serverMetadataUrl: url = href } = context;
    return { metadata: { ...serverMetadata }, url };
  }
  const problem = failure
    ? sentence(failure)
    : "The target lists no authorization server.";
  return { problem, url: href };
}

/** Applies all rules; errors come first. */
function findingsOf(facts: ClientMetadataFacts): Finding[] {
  const { document = {}, server, url } = facts;
  const find = (
    rules: readonly ClientMetadataRule[],
    url: string | URL | undefined,
  ) =>
    rules.flatMap(({ find, ...about }): Finding[] => {
      const found = find(facts, document);
      const seen = typeof found === "string" ? { message: found } : found;
      const base = { severity: "error" as const, message: "", ...about };
      return seen && found ? [{ ...base, ...seen, url: String(url) }] : [];
    });
  const found = [
    ...find(DOCUMENT_RESPONSE_RULES, url),
    ...find(facts.document ? CLIENT_METADATA_RULES : [], url),
    ...find(CLIENT_TARGET_RULES, server?.url),
  ];
  return Object.values(FindingSeverity).flatMap((one) =>
    found.filter(({ severity }) => severity === one)
  );
}

/**
 * Diagnoses a client metadata document as authorization servers read it. It requests
 * the document, and its keys if it contains a `jwks_uri`, and lists what violates the
 * draft or fails at some servers. With `target`, it also lists why that server could
 * not use the document: the server does not accept documents, or has no authentication
 * method or grant type in common with it.
 *
 * The severity `error` means that servers that follow the draft reject the document,
 * `warning` that some servers do; an `info` is worth knowing.
 *
 * The requests are `GET`. A `jwks_uri` on loopback is requested only if the document is
 * on loopback too. A target receives the requests of {@linkcode diagnose}. `allowUrl`
 * is called before each request; for the document and its keys the purpose is
 * `client_metadata`.
 *
 * No string contains control characters, or values of `headers` and
 * `serverMetadataHeaders`, which are sent to the target only.
 *
 * @param url URL of the document, which is the `client_id`.
 * @param options The target, and the options of every request.
 * @throws {OAuthClientError} `invalid_argument`: `url` or `target` is not an http or
 * https URL, or an option is not valid. Nothing that a server does is thrown.
 * @see draft-ietf-oauth-client-id-metadata-document-02. {@linkcode buildClientMetadata}
 * of the main module builds a document.
 *
 * @example Print what is wrong with a document
 * ```ts
 * import { diagnoseClientMetadata } from "@oauth-helper/client/doctor";
 * import { assertEquals } from "@std/assert";
 *
 * const url = "https://tool.example/client.json";
 * const { findings } = await diagnoseClientMetadata(url, {
 *   // Replaces the server of the document.
 *   fetch: () =>
 *     Promise.resolve(
 *       Response.json({
 *         client_id: "https://www.tool.example/client.json",
 *         client_name: "My tool",
 *         redirect_uris: ["http://127.0.0.1/callback"],
 *         token_endpoint_auth_method: "none",
 *       }),
 *     ),
 * });
 * assertEquals(findings.map(({ id }) => id), ["client_id_differs"]);
 * ```
 */
export async function diagnoseClientMetadata(
  url: string | URL,
  options?: DiagnoseClientMetadataOptions,
): Promise<ClientMetadataDiagnosis> {
  const transport = transportOf(options);
  const given = options ?? {};
  const document = new URL(requireHttpUrl("url", url));
  requireNames(given, CLIENT_METADATA_OPTIONS, "diagnoseClientMetadata");
  requireOptions(given);
  document.hash = "";
  const target = given.target === undefined
    ? undefined
    : requireHttpUrl("target", given.target);
  const { userAgent = transport.userAgent } = given;
  const context = { ...transport, userAgent };
  const facts = await readClientMetadata(String(url), document, context);
  const sent = secretsIn(given);
  const survey = target &&
    await takeSurvey(new URL(target), given, { ...context, sent });
  const server = survey && serverOf(survey.facts);
  const findings = findingsOf({ ...facts, server });
  return seal({ url: document.href, findings }, sent);
}
