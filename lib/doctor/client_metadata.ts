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

/** Returns the metadata of a target's server, or why it is unknown. */
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

/** Errors come first. */
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
 * Diagnoses a client metadata document as authorization servers read it.
 *
 * Requests the document, and its keys if it contains a `jwks_uri`, and lists problems
 * with the draft or with some servers. With `target`, it also checks that this server
 * accepts documents, and shares an authentication method and a grant type.
 *
 * With the severity `error`, servers that follow the draft reject the document; with
 * `warning`, some servers do. A `jwks_uri` on loopback is requested only for a document
 * on loopback. All requests are `GET`; {@linkcode diagnose} makes the target's.
 * The `allowUrl` purpose for the document and its keys is `client_metadata`. No string
 * contains control characters, or values of `headers` and `serverMetadataHeaders`,
 * which only the target receives.
 *
 * @param url URL of the document, which is the `client_id`.
 * @param options The target, and the options of every request.
 * @throws {OAuthClientError} `invalid_argument`: `url` or `target` is not an http or
 * https URL, or an option is invalid. No server can cause an error.
 * @see draft-ietf-oauth-client-id-metadata-document-02. {@linkcode buildClientMetadata}
 * of the main module builds a document.
 *
 * @example Print the problems of a document
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
