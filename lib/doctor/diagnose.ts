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

/** Signs a user in unless an earlier error stops a client, and adds the findings. */
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
 * Diagnoses why clients cannot obtain a token for a resource or from an authorization
 * server.
 *
 * It makes a client's requests, and lists faults. With `signIn`, a user signs in too.
 * `docs/diagnose.md` in the package specifies every request, and the redacted values.
 *
 * @throws {OAuthClientError} `invalid_argument`. Servers cannot cause errors; errors of
 * `signIn.visit` and `signIn.show` are thrown, unless they are errors of this library.
 * @see RFC 9728, section 5; RFC 8414, section 3; Model Context Protocol 2025-11-25.
 * @example Print the faults of a server
 * ```ts
 * import { diagnose } from "@oauth-helper/client/doctor";
 *
 * // Replaces a server that requires a token and publishes nothing.
 * const fetch = () => Promise.resolve(new Response(null, { status: 401 }));
 * const { findings } = await diagnose("https://api.example/mcp", { fetch });
 * for (const { message, operator } of findings) console.log(message, operator);
 * ```
 */
export async function diagnose(
  target: string | URL,
  options?: DiagnoseOptions,
): Promise<Diagnosis> {
  const transport = transportOf(options);
  const given = options ?? {};
  const url = new URL(requireHttpUrl("target", target));
  const place = "it in signIn; here, use ";
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
      // The view of a client without options comes first.
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
