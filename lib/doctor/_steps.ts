/** A diagnosis's requests, each with a short description of its response. */

import {
  type NetworkReason,
  OAuthClientError,
  type OAuthClientErrorCode,
} from "../core/errors.ts";
import {
  documentOf,
  type Facts,
  isFound,
  membersOf,
  type Probe,
  shown,
} from "./_facts.ts";
import { isAllowed } from "./_cors.ts";
import type { Exchange } from "./_recorder.ts";
import { describeSignIn, publicPartsOf } from "./sign_in/_steps.ts";
import { STEPS } from "./_step_table.ts";
import type { DiagnosisStep } from "./diagnosis.ts";

const FIELDS = [
  "access-control-allow-origin",
  "cache-control",
  "content-type",
  "location",
  "retry-after",
  "www-authenticate",
];

function headersOf({ response }: Exchange): Record<string, string> {
  return Object.fromEntries(FIELDS.flatMap((name) => {
    const value = response?.headers?.get(name);
    return typeof value === "string" ? [[name, shown(value, 1_000)]] : [];
  }));
}

const WORDS: Partial<Record<OAuthClientErrorCode, string>> = {
  identifier_mismatch: "mismatch",
  invalid_metadata: "no metadata",
  network_error: "broken off",
  oauth_error: "refused",
  redirect_refused: "redirect",
  response_too_large: "too large",
  timeout: "timeout",
  unexpected_status: "no metadata",
  url_refused: "URL refused",
};

const REASONS: Record<NetworkReason, string> = {
  certificate: "certificate",
  certificate_expired: "cert. expired",
  connection_refused: "no connection",
  host_not_found: "unknown host",
};

function describeError(
  { code, networkReason: reason, status }: OAuthClientError,
): string {
  if (reason) return REASONS[reason];
  return code === "network_error" && status === undefined
    ? "no response"
    : WORDS[code] ?? "failed";
}

function describeProbe(facts: Facts, { response, error }: Probe): string {
  if (error) return describeError(error);
  if (response?.failure) return describeError(response.failure);
  const { challenges, challengeHeader } = facts;
  if (response?.status !== 401) return "no 401";
  if (challenges.length > 0) return "challenge";
  return challengeHeader === "" ? "no challenge" : "other scheme";
}

function describe(facts: Facts, exchange: Exchange): string {
  const { name, url, response } = exchange;
  const signIn = describeSignIn(exchange);
  if (signIn !== undefined) return signIn;
  const { status = 0 } = response ?? {};
  if (name === "resource") {
    return exchange.method === facts.probe.method &&
        !(status >= 300 && status < 400)
      ? describeProbe(facts, facts.probe)
      : "no 401";
  }
  if (name === "cors") {
    const made = facts.corsProbes.find((probe) =>
      probe.url === url && probe.method === exchange.method
    );
    if (made?.error) return describeError(made.error);
    return made && isAllowed(made) ? "allowed" : "not allowed";
  }
  if (name === "authorization_endpoint" || name === "registration_endpoint") {
    return response && isFound({ response }) ? "found" : "not found";
  }
  if (status >= 300 && status < 400) return "redirect";
  if (url === facts.appended?.url) return "at wrong path";
  const isMissing = status === 404 || status === 410;
  const document = documentOf(facts, exchange);
  if (document?.metadata) return "metadata";
  if (isMissing) return "not published";
  if (!document?.error) return response ? "not used" : "no response";
  const { cause } = document.error;
  return membersOf(document) || !(cause instanceof OAuthClientError)
    ? describeError(document.error)
    : describeError(cause);
}

export function stepsOf(facts: Facts): DiagnosisStep[] {
  return facts.exchanges.map((exchange): DiagnosisStep => {
    const { name, isExtra, method, url, ms = 0, response } = exchange;
    return {
      name,
      isExtra,
      method,
      // An authorization request contains its state in the query.
      url: shown(
        name === "authorization_endpoint" ? url.replace(/\?.*/s, "") : url,
        2_000,
      ),
      ...(response && { status: response.status }),
      ms,
      result: describe(facts, exchange),
      headers: headersOf(exchange),
      standard: STEPS[name].standard,
      ...publicPartsOf(exchange),
    };
  });
}
