/**
 * The diagnosis of a resource and of its authorization server.
 *
 * @module
 */

import { requireHttpUrl, requireStringMembers } from "../core/_arguments.ts";
import { transportOf } from "../http/_transport.ts";
import { type IFacts, isOpen, shown } from "./_facts.ts";
import { apply, type IRule } from "./_rules.ts";
import { CHALLENGE_RULES } from "./_rules_challenge.ts";
import { DOCUMENT_RULES } from "./_rules_documents.ts";
import { CLIENT_RULES, clientKindOf } from "./_rules_client.ts";
import { FLOW_RULES } from "./_rules_flow.ts";
import { REACH_RULES } from "./_rules_reach.ts";
import { RESOURCE_METADATA_RULES } from "./_rules_resource_metadata.ts";
import { SERVER_METADATA_RULES } from "./_rules_server_metadata.ts";
import { seal, secretsIn } from "./_seal.ts";
import { stepsOf } from "./_steps.ts";
import { takeSurvey } from "./_survey.ts";
import type {
  DiagnosisVerdict,
  IDiagnoseOptions,
  IDiagnosis,
  IDiagnosisContext,
  IFinding,
} from "./diagnosis.ts";

const RULES: readonly IRule[] = [
  ...REACH_RULES,
  ...CHALLENGE_RULES,
  ...RESOURCE_METADATA_RULES,
  ...SERVER_METADATA_RULES,
  ...DOCUMENT_RULES,
  ...FLOW_RULES,
  ...CLIENT_RULES,
];

const SEVERITIES = ["error", "warning", "info"] as const;

const isError = ({ severity }: IFinding) => severity === "error";

function findingsOf(facts: IFacts): IFinding[] {
  const found = RULES.filter(({ isFallback }) => !isFallback)
    .flatMap((rule) => apply(rule, facts));
  const fallbacks = RULES.filter(({ isFallback }) => isFallback)
    .flatMap((rule) => apply(rule, facts));
  const all = found.some(isError) ? found : [...found, ...fallbacks];
  return SEVERITIES.flatMap((severity) =>
    all.filter((finding) => finding.severity === severity)
  );
}

function contextOf(facts: IFacts): IDiagnosisContext | undefined {
  const { context } = facts;
  if (!context) return undefined;
  const { resource, issuer, source, serverMetadataUrl, scopes } = context;
  return {
    resource,
    issuer,
    source,
    ...(serverMetadataUrl !== undefined && { serverMetadataUrl }),
    ...(scopes && { scopes }),
    client: clientKindOf(context),
  };
}

function verdictOf(
  facts: IFacts,
  findings: readonly IFinding[],
): DiagnosisVerdict {
  const { probe, failure, context } = facts;
  if (findings.some(isError)) {
    const isSilent = probe.error !== undefined && failure !== undefined &&
      ["network_error", "timeout"].includes(probe.error.code);
    return isSilent ? "unreachable" : "broken";
  }
  if (isOpen(facts)) return "open";
  return context && clientKindOf(context) === "ask_user"
    ? "needs_client"
    : "ready";
}

function summaryOf(
  { target, context, registration }: IFacts,
  verdict: DiagnosisVerdict,
  [first]: readonly IFinding[],
): string {
  const issuer = shown(context?.issuer);
  switch (verdict) {
    case "ready":
      return registration?.client
        ? `A client is registered at ${issuer}; next, a user signs in.`
        : `A client can ${
          context && clientKindOf(context) === "register"
            ? "register"
            : "use its metadata document"
        } at ${issuer}, and send the user there.`;
    case "needs_client":
      return `Discovery succeeds. The operator of ${issuer} has to register ` +
        "the client.";
    case "open":
      return "No token is required at this URL.";
    case "unreachable":
      return `There is no usable response from ${shown(target.host)}.`;
    case "broken":
      return `A strict client stops. ${first?.message ?? ""}`;
  }
}

/**
 * Diagnoses why clients cannot obtain a token for a resource: requests it without a
 * token, runs {@linkcode discoverAuthorization}, and lists what the standards, or
 * other clients, object to.
 *
 * Beside the requests of discovery, the remaining well-known URLs are requested, and
 * preflight requests are made as by a web page. If the resource responds to `GET`
 * with 405 and no challenge, it receives one `POST` without `options.headers`: a
 * `ping` of the Model Context Protocol, which has no effect on a server of that
 * protocol. Without `options.register`, all other requests are `GET` and `OPTIONS`.
 * The whole takes a few times `timeoutMs` at most, as no further request is made to a
 * host that has not responded.
 *
 * `allowUrl` is called before every request; for the resource itself the purpose is
 * `resource_metadata`, and for a preflight request that of the request it precedes.
 *
 * The verdict is `broken` or `unreachable` exactly if there is a finding of severity
 * `error`; and there is one whenever discovery fails, unless the resource publishes
 * nothing and requires no token.
 *
 * All strings, those passed to `onRequest` included, are free of control characters,
 * and of values of `headers` and `additionalHeaders` with at least 8 characters: as
 * they were sent, percent-encoded, form-encoded or JSON-escaped.
 *
 * @param target URL of the resource.
 * @param options The options of discovery, and `register`.
 * @throws {OAuthClientError} `invalid_argument`: not an http or https URL, or an
 * option is not valid. Nothing that a server does is thrown.
 * @see RFC 9728, section 5; RFC 8414, section 3; Model Context Protocol 2025-11-25,
 * "Authorization".
 *
 * @example Print what is wrong with a server
 * ```ts
 * import { diagnose } from "@oauth-helper/client/doctor";
 *
 * const { verdict, findings } = await diagnose("https://api.example/mcp", {
 *   // Replaces a server that requires a token and publishes nothing.
 *   fetch: (url) =>
 *     Promise.resolve(
 *       new Response(null, { status: url.endsWith("/mcp") ? 401 : 404 }),
 *     ),
 * });
 * console.log(verdict);
 * for (const { severity, message, operator } of findings) {
 *   console.log(`${severity}: ${message} ${operator}`);
 * }
 * ```
 */
export async function diagnose(
  target: string | URL,
  options?: IDiagnoseOptions,
): Promise<IDiagnosis> {
  const transport = transportOf(options);
  const given = options ?? {};
  const url = new URL(requireHttpUrl("target", target));
  requireStringMembers("headers", given.headers);
  requireStringMembers("additionalHeaders", given.additionalHeaders);
  requireStringMembers("trustedIssuers", given.trustedIssuers);
  // A resource has no fragment (RFC 9728, section 1.2).
  url.hash = "";
  const secrets = secretsIn(given);
  const facts = await takeSurvey(url, given, { ...transport, secrets });
  const { failure, registration } = facts;
  const { client } = registration ?? {};
  const findings = findingsOf(facts);
  const verdict = verdictOf(facts, findings);
  const context = contextOf(facts);
  const method = client?.token_endpoint_auth_method;
  const diagnosis: IDiagnosis = {
    target: url.href,
    verdict,
    summary: summaryOf(facts, verdict, findings),
    ...(context && { context }),
    ...(failure && {
      failure: { code: failure.code, message: failure.message },
    }),
    ...(client && {
      registration: {
        client_id: client.client_id,
        // A server may send anything, also what is nested too deeply to be copied.
        ...(typeof method === "string" &&
          { token_endpoint_auth_method: method }),
      },
    }),
    steps: stepsOf(facts),
    findings,
  };
  return seal(diagnosis, secrets);
}
