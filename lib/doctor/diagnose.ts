/**
 * The diagnosis of a resource and of its authorization server.
 *
 * @module
 */

import { requireHttpUrl, requireNames } from "../core/_arguments.ts";
import { contextOf as transportOf } from "../http/_context.ts";
import type { Members } from "../core/_members.ts";
import { givenOptions, mayBeChosen } from "./_chosen_options.ts";
import { webPagesOf } from "./_cors.ts";
import { clientKindOf, type Facts } from "./_facts.ts";
import { seal, secretsIn } from "./_seal.ts";
import { secretsOfSignIn } from "./sign_in/_steps.ts";
import { describeSignIn, requireSignIn } from "./sign_in/_result.ts";
import { DIAGNOSE_OPTIONS } from "./_option_names.ts";
import { stepsOf } from "./_steps.ts";
import type { Survey } from "./_probe.ts";
import { signIn } from "./sign_in/_sign_in.ts";
import {
  findingsOf,
  joined,
  type Prognosis,
  prognosisOf,
  withFindings,
} from "./_prognosis.ts";
import { requireOptions, takeSurvey } from "./_survey.ts";
import {
  isError,
  notTriedOf,
  optionsOf,
  summaryOf,
  verdictOf,
} from "./_verdict.ts";
import type {
  DiagnoseOptions,
  Diagnosis,
  DiagnosisContext,
  DiagnosisIss,
} from "./diagnosis.ts";

/** Returns whether authorization responses name their issuer. */
function issOf({ context, signIn }: Facts): DiagnosisIss | undefined {
  const server: Members = { ...context?.serverMetadata };
  if (!server.authorization_endpoint) return undefined;
  if (server.authorization_response_iss_parameter_supported === true) {
    return "promised";
  }
  const { callback } = signIn ?? {};
  return callback ? callback.has("iss") ? "sent" : "missing" : "unpromised";
}

function contextOf(facts: Facts): DiagnosisContext | undefined {
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

/** Signs a user in if no error stops a client before, and adds the findings. */
async function withSignIn(
  survey: Survey,
  first: Facts,
  prognosis: Prognosis,
): Promise<Prognosis> {
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
  const all = joined(findingsOf({ ...first, signIn: record }), found);
  return {
    ...prognosis,
    facts,
    findings: withFindings(prognosis, all),
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
 * After an error, discovery runs again as if that were fixed, and requests documents
 * that it has not read before: with the options that the errors list, and with a
 * document that has another `resource`, or is where no client looks for it. So one
 * diagnosis lists all faults; a finding that rests on assumptions states these in
 * `assumed`. With `allowHttp`, which only the caller sets, it requests nothing. If
 * nothing stops a client with the options, the verdict is `needs_option` instead of
 * `broken`.
 *
 * A target that is not a resource is diagnosed as an authorization server if it
 * publishes server metadata at its own well-known URLs.
 *
 * With `options.signIn`, a user signs in by the library's own flow. `assumePkce`,
 * `resourceIndicator` and `dpop` are set where the verdict lists them. `trustedIssuers` is set
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
 * contains a value of `headers` or `serverMetadataHeaders` with at least 8 characters,
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
  options?: DiagnoseOptions,
): Promise<Diagnosis> {
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
  const prognosis = await prognosisOf(survey, first);
  const { last, assumed } = prognosis;
  const { facts, findings, errors, options: needed, isLeftOut = false } =
    await withSignIn(survey, first, prognosis);
  const secrets = [...sent, ...secretsOfSignIn(facts.exchanges)];
  const set = givenOptions(given);
  const verdict = verdictOf(facts, errors, needed);
  const context = contextOf(facts);
  const notTried = notTriedOf(facts);
  const words = { errors, assumed, options: needed, notTried, isLeftOut };
  const diagnosis: Diagnosis = {
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
      corsProbes: last.corsProbes,
      // What a client without options makes of a document comes first.
      resourceDocuments: [
        ...first.resourceDocuments,
        ...last.resourceDocuments,
      ],
      serverDocuments: [
        ...first.serverDocuments,
        ...last.serverDocuments,
      ],
    }),
    findings: [...findings],
  };
  return seal(diagnosis, secrets);
}
