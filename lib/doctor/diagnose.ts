/**
 * The diagnosis of a resource and of its authorization server.
 *
 * @module
 */

import { requireHttpUrl, requireNames } from "../core/_arguments.ts";
import { contextOf as transportOf } from "../http/_context.ts";
import { isMembers, type Members } from "../core/_members.ts";
import { givenOptions, mayBeChosen } from "./_chosen_options.ts";
import { webPagesOf } from "./_cors.ts";
import { clientKindOf, type IFacts } from "./_facts.ts";
import { applyAll, type IRule } from "./rules/_rule.ts";
import { CHALLENGE_RULES } from "./rules/_challenge.ts";
import { DOCUMENT_RULES } from "./rules/_documents.ts";
import { IDENTIFIER_RULES } from "./rules/_identifiers.ts";
import { REACH_RULES } from "./rules/_reach.ts";
import { SERVER_RULES } from "./rules/_server.ts";
import { SESSION_RULES } from "./rules/_session.ts";
import { SIGN_IN_RULES } from "./rules/_sign_in.ts";
import { seal, secretsIn } from "./_seal.ts";
import { secretsOfSignIn } from "./sign_in/_steps.ts";
import { describeSignIn, requireSignIn } from "./sign_in/_result.ts";
import { DIAGNOSE_OPTIONS } from "./_option_names.ts";
import { stepsOf } from "./_steps.ts";
import type { ISurvey } from "./_probe.ts";
import { signIn } from "./sign_in/_sign_in.ts";
import { type Remedies, requireOptions, retry, takeSurvey } from "./_survey.ts";
import {
  isError,
  isStopping,
  notTriedOf,
  optionsOf,
  summaryOf,
  verdictOf,
} from "./_verdict.ts";
import type {
  DiagnosisIss,
  IDiagnoseOptions,
  IDiagnosis,
  IDiagnosisContext,
  IDiagnosisOption,
  IFinding,
} from "./diagnosis.ts";

const RULES: readonly IRule[] = [
  ...REACH_RULES,
  ...CHALLENGE_RULES,
  ...DOCUMENT_RULES,
  ...IDENTIFIER_RULES,
  ...SERVER_RULES,
  ...SIGN_IN_RULES,
  ...SESSION_RULES,
];

const SEVERITIES = ["error", "warning", "info"] as const;

/** Sorts findings by severity; errors that no option lifts come first. */
function sorted(findings: readonly IFinding[]): IFinding[] {
  const rank = ({ severity, options }: IFinding) =>
    severity === "error" && !options ? -1 : SEVERITIES.indexOf(severity);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

const findingsOf = (facts: IFacts) => sorted(applyAll(RULES, facts));

/**
 * Adds findings that appear with options of a client. Without a request, discovery may
 * fail then for that reason alone.
 */
function joined(
  findings: readonly IFinding[],
  later: readonly IFinding[],
): IFinding[] {
  const keyOf = ({ id, url }: IFinding) => `${id} ${url}`;
  const known = findings.map(keyOf);
  const further = later.filter((one) =>
    !known.includes(keyOf(one)) && one.id !== "discovery_failed"
  );
  return sorted([...findings, ...further]);
}

/** Returns whether authorization responses name their issuer. */
function issOf({ context, signIn }: IFacts): DiagnosisIss | undefined {
  const server: Members = { ...context?.serverMetadata };
  if (!server.authorization_endpoint) return undefined;
  if (server.authorization_response_iss_parameter_supported === true) {
    return "promised";
  }
  const { callback } = signIn ?? {};
  return callback ? callback.has("iss") ? "sent" : "missing" : "unpromised";
}

function contextOf(facts: IFacts): IDiagnosisContext | undefined {
  const { context, isServer } = facts;
  const iss = issOf(facts);
  const webPages = webPagesOf(facts);
  if (!context) return undefined;
  const { resource, issuer, source, serverMetadataUrl, scopes } = context;
  return {
    ...(!isServer && { resource }),
    issuer,
    source: isServer ? "target" : source,
    ...(serverMetadataUrl !== undefined && { serverMetadataUrl }),
    ...(scopes && { scopes }),
    client: clientKindOf(facts),
    ...(iss && { iss }),
    ...(webPages !== undefined && { webPages }),
  };
}

/** The options that a diagnosis can try by itself. */
function remediesOf(
  given: IDiagnoseOptions,
  options: readonly IDiagnosisOption[],
): Remedies {
  const remedies: Remedies = {};
  for (const { name, value } of options) {
    if (name === "allowHttp" || name === "assumePkce") remedies[name] = true;
    if (name === "trustedIssuers" && isMembers(value)) {
      remedies[name] = { ...given[name], ...value } as Record<string, string>;
    }
  }
  return remedies;
}

/** The errors that stop a client, and the options with which it continues. */
interface IPrognosis {
  /** The facts with the options; without them if they do not help. */
  readonly facts: IFacts;
  readonly findings: readonly IFinding[];
  /** The errors that remain. */
  readonly errors: readonly IFinding[];
  readonly options: IDiagnosisOption[];
  /** Whether the sign-in is skipped, because only the caller may set its options. */
  readonly isLeftOut?: boolean;
}

/**
 * Runs discovery again, with the options of the errors: one error can hide another
 * one, which has its own option.
 */
async function prognosisOf(
  survey: ISurvey,
  facts: IFacts,
): Promise<IPrognosis> {
  let findings = findingsOf(facts);
  const own = findings.filter(isError).filter(({ options }) => !options);
  if (own.length > 0) return { facts, findings, errors: own, options: [] };
  let options = optionsOf(facts, findings);
  if (!findings.some(isStopping)) {
    return { facts, findings, errors: [], options };
  }
  for (let tries = 0; tries < 3; tries++) {
    const remedies = remediesOf(facts.options, options);
    const later = await retry(survey, facts, remedies);
    const left = findingsOf(later);
    const known = options.length;
    findings = joined(findings, left);
    options = optionsOf(later, left, options);
    if (!left.some(isStopping)) {
      return { facts: later, findings, errors: [], options };
    }
    if (options.length === known) break;
  }
  return { facts, findings, errors: findings.filter(isError), options: [] };
}

/** Signs a user in if no error stops a client before, and adds the findings. */
async function withSignIn(
  survey: ISurvey,
  first: IFacts,
  prognosis: IPrognosis,
): Promise<IPrognosis> {
  const { signIn: wanted } = first.options;
  if (!wanted || prognosis.errors.length > 0) return prognosis;
  if (!mayBeChosen(first, prognosis.facts)) {
    return { ...prognosis, isLeftOut: true };
  }
  const record = await signIn(
    { ...survey, options: prognosis.facts.options },
    prognosis.facts,
    prognosis.options,
  );
  if (!record) return prognosis;
  const facts = { ...prognosis.facts, signIn: record };
  const found = findingsOf(facts);
  const errors = found.filter(isError).filter(({ options }) => !options);
  return {
    facts,
    findings: joined(findingsOf({ ...first, signIn: record }), found),
    errors,
    options: errors.length > 0
      ? []
      : optionsOf(facts, found, prognosis.options),
  };
}

/**
 * Diagnoses why clients cannot obtain a token for a resource. It requests the resource
 * without a token, runs {@linkcode discoverAuthorization}, and lists what violates the
 * standards or stops some clients.
 *
 * It reads the documents that discovery requests. With `browser`, it also makes
 * preflight requests as a web page does. The resource receives one `POST` without
 * `options.headers` if it responds to `GET` without a challenge and with a redirect, a
 * page, or an error other than 401 and 429. This `POST` is a `ping` of the Model
 * Context Protocol, which has no effect on a server of that protocol. Without
 * `options.signIn`, all other requests are `GET` and `OPTIONS`. A diagnosis takes at
 * most a few times `timeoutMs`, as a host that has not responded receives no more
 * request.
 *
 * `allowUrl` is called before every request. For the resource itself the purpose is
 * `resource_metadata`; a preflight request has the purpose of the request that it
 * precedes.
 *
 * A finding of severity `error` stops a client that sets no options. There is at least
 * one if discovery fails, unless the resource publishes nothing and requires no token.
 * If the errors list options, discovery runs again with these options, and requests
 * what it has not read before. With `allowHttp`, which only the caller sets, it
 * requests nothing. If nothing else stops a client then, the verdict is `needs_option`
 * instead of `broken`.
 *
 * A target that is not a resource is diagnosed as an authorization server if it
 * publishes server metadata at its own well-known URLs.
 *
 * With `options.signIn`, a user signs in by the library's own flow. `assumePkce`,
 * `resource` and `dpop` are set where the verdict lists them. `trustedIssuers` is set
 * only if all endpoints are on the origin of the claimed issuer, and `signIn.client`
 * does not belong to another issuer; `allowHttp` never is. If the sign-in needs one of
 * these two, it is tried only if the caller sets it. The token is used for a call and a
 * refresh, changed for a call and a refresh that have to fail, and then revoked, also
 * if `signal` aborts. The call repeats the request that was made without the token; a
 * server of the Model Context Protocol that requires a session receives `initialize` as
 * well. A client that the diagnosis registered is deleted if the server supports that
 * (RFC 7592). The result contains no tokens, codes or secrets.
 *
 * No string, including those passed to `onRequest`, contains control characters. None
 * contains a value of `headers` or `additionalHeaders` with at least 8 characters,
 * whether as it was sent, percent-encoded, form-encoded or JSON-escaped.
 *
 * @param target URL of the resource.
 * @param options The options of discovery, and `signIn`.
 * @throws {OAuthClientError} `invalid_argument`: not an http or https URL, or an option
 * is not valid. Nothing that a server does is thrown. Errors of `signIn.visit` and
 * `signIn.show` are thrown, unless they are errors of this library.
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
  const place = "it in signIn, or ";
  requireNames(given, DIAGNOSE_OPTIONS, "diagnose", place);
  requireOptions(given);
  // A resource has no fragment (RFC 9728, section 1.2).
  url.hash = "";
  requireSignIn(given.signIn);
  const { userAgent = transport.userAgent, now = Date.now } = given;
  const date = new Date(now()).toISOString();
  const sent = secretsIn(given);
  const { survey, facts: first } = await takeSurvey(url, given, {
    ...transport,
    sent,
    userAgent,
  });
  const { failure } = first;
  const { facts, findings, errors, options: needed, isLeftOut = false } =
    await withSignIn(survey, first, await prognosisOf(survey, first));
  const secrets = [...sent, ...secretsOfSignIn(facts.exchanges)];
  const set = givenOptions(given);
  const verdict = verdictOf(facts, errors, needed);
  const context = contextOf(facts);
  const notTried = notTriedOf(facts);
  const words = { errors, options: needed, notTried, isLeftOut };
  const diagnosis: IDiagnosis = {
    target: url.href,
    date,
    verdict,
    summary: summaryOf(facts, verdict, words),
    ...(needed.length > 0 && { options: needed }),
    ...(set.length > 0 && { given: set }),
    ...(notTried && { notTried }),
    ...(context && { context }),
    ...(failure && {
      failure: { code: failure.code, message: failure.message },
    }),
    ...(facts.signIn && { signIn: describeSignIn(facts, facts.signIn) }),
    steps: stepsOf({
      ...facts,
      // What a client without options makes of a document comes first.
      resourceDocuments: [
        ...first.resourceDocuments,
        ...facts.resourceDocuments,
      ],
      serverDocuments: [
        ...first.serverDocuments,
        ...facts.serverDocuments,
      ],
    }),
    findings: [...findings],
  };
  return seal(diagnosis, secrets);
}
