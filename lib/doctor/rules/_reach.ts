import { describeReason } from "../../core/_quote.ts";
import { isLoopback, parseUrl } from "../../core/_url.ts";
import type { OAuthClientError } from "../../core/errors.ts";
import {
  allDocuments,
  describeSeconds,
  type Facts,
  isAssumed,
  isLost,
  isOpen,
  isPublished,
  severityAt,
  shown,
} from "../_facts.ts";
import type { Exchange } from "../_recorder.ts";
import { liftedBy, type Rule, type Sighting } from "./_rule.ts";
import type { FindingHint, FindingSeverity } from "../diagnosis.ts";

/** The allowed clock difference; many servers allow no more for DPoP proofs. */
const MAX_SKEW_MS = 30_000;

/** Returns how long caches have kept a response (RFC 9111, section 5.1). */
function ageMsOf({ response }: Exchange): number {
  const age = response?.headers?.get("Age") ?? "";
  return /^\d{1,9}$/.test(age) ? Number(age) * 1_000 : 0;
}

/**
 * Returns how far a host's clock is ahead, by the best response: not every cache
 * reports a response's age.
 */
function skewOf(exchanges: readonly Exchange[]): number {
  const all = exchanges.flatMap((exchange) => {
    const { at, ms = 0, response } = exchange;
    const date = Date.parse(response?.headers?.get("Date") ?? "") +
      ageMsOf(exchange);
    if (Number.isNaN(date)) return [];
    return date > at + ms ? [date - at - ms] : [Math.min(0, date + 999 - at)];
  });
  return all.sort((a, b) => Math.abs(a) - Math.abs(b))[0] ?? 0;
}

/** Returns the URLs of failed requests, each with its error and severity. */
function failuresOf(facts: Facts) {
  const { probe, target, isServer, signIn } = facts;
  const { failure, call } = signIn ?? {};
  // Users may leave the page for unrelated reasons.
  const ofFlow = failure?.step === "authorization" ? undefined : failure?.error;
  const at = (
    url: string | undefined,
    error: OAuthClientError | undefined,
    severity: FindingSeverity = "error",
  ) => url && error ? [{ url, error, severity }] : [];
  // The resource comes first: each cause is one finding.
  return [
    ...at(target.href, probe.error, isServer ? "warning" : "error"),
    ...allDocuments(facts).flatMap((document) =>
      at(document.url, document.error, severityAt(facts, document))
    ),
    ...at(ofFlow?.url, ofFlow),
    ...at(call?.error?.url, call?.error),
  ];
}

/** The advice for operator and client, by the reason of a missing response. */
const REASONS: Readonly<
  Record<string, [operator: string, client: string | FindingHint]>
> = {
  host_not_found: [
    "Check the host name and its DNS records.",
    "Check the host name of the URL, and the network of this machine.",
  ],
  connection_refused: [
    "Start the server, and open its port in the firewall.",
    "Check the host and the port of the URL.",
  ],
  certificate: [
    "Install a certificate for this host name from a public authority, with " +
    "its intermediate certificates.",
    "Make the runtime trust the authority.",
  ],
  certificate_expired: [
    "Renew the certificate, and have it renewed automatically.",
    "Check the clock of this machine; otherwise wait for the operator.",
  ],
  network_error: [
    "Check that the server completes its responses.",
    "Check the network, and whether a proxy is needed.",
  ],
  timeout: [
    "Send a complete response at once, also without a token.",
    { option: "timeoutMs", text: "set a larger timeoutMs" },
  ],
};

/** Returns one sighting for each reason: the worst, or the first. */
function missingResponses(facts: Facts): Sighting[] {
  const failures = failuresOf(facts);
  return Object.entries(REASONS).flatMap(([reason, [operator, client]]) => {
    const found = failures.filter(({ error }) =>
      (error.networkReason ?? error.code) === reason
    );
    const worst = found.find(({ severity }) => severity === "error") ??
      found[0];
    if (!worst) return [];
    const { url, severity, error } = worst;
    const host = shown(new URL(url).host);
    const message = error.networkReason
      ? `${describeReason(error.networkReason, host)}.`
      : reason === "timeout"
      ? `There is no complete response of ${host} in time.`
      : `The connection to ${host} failed, or broke off.`;
    const advice = typeof client === "string"
      ? { client }
      : { hints: [client] };
    return [{ message, operator, ...advice, url, severity }];
  });
}

/** Returns a resource's status, unless it responds without a token. */
function statusUnlessOpen(facts: Facts): number {
  const { probe, isServer } = facts;
  return isServer || isOpen(facts) ? 0 : probe.response?.status ?? 0;
}

/** Checks whether metadata of exactly this resource is published. */
function isKnown({ resourceDocuments, target }: Facts): boolean {
  const pathOf = (path: string) => path.replace(/\/$/, "");
  return resourceDocuments.some(({ metadata }) =>
    metadata !== undefined &&
    pathOf(parseUrl(metadata.resource)?.pathname ?? "") ===
      pathOf(target.pathname)
  );
}

/** Checks whether a client knows where to obtain a token. */
function hasServer(facts: Facts): boolean {
  return facts.context !== undefined && !isAssumed(facts);
}

/**
 * Checks whether an API may hide the resource from requests without a token: the
 * resource's metadata is published, the caller knows the server, or nothing is
 * published and the API itself returns 404 as JSON.
 */
function mayBeHidden(facts: Facts): boolean {
  const { options: { serverMetadata }, probe: { response } } = facts;
  const isJson = /\bjson\b/i.test(response?.headers.get("Content-Type") ?? "");
  return statusUnlessOpen(facts) === 404 &&
    (isKnown(facts) || serverMetadata !== undefined ||
      (isJson && facts.context !== undefined && !hasServer(facts)));
}

const REQUIRED = {
  options: [{ name: "tokenRequired" as const, value: true }],
};

/**
 * Returns the options of a client that obtains a token first. Without a challenge and
 * metadata, it assumes no endpoints.
 */
function requiredBy(facts: Facts): Pick<Sighting, "options"> {
  const isUnknown = isAssumed(facts) && facts.challenges.length === 0;
  return isUnknown
    ? { options: [...REQUIRED.options, { name: "serverMetadata" }] }
    : REQUIRED;
}

const BEFORE: FindingHint = {
  option: "tokenRequired",
  value: true,
  text: "set tokenRequired: true, because no 401 starts the sign-in",
};

export const REACH_RULES: readonly Rule[] = [
  {
    id: "target_not_https", // row 67
    severity: "error",
    standard: "RFC 9728, section 1.2; RFC 6750, section 5.3",
    operator: "Serve the resource over https, and redirect nothing to http.",
    hints: [{
      option: "allowHttp",
      value: true,
      text: "set allowHttp: true on a network that no one else can read",
    }],
    about: "resource",
    find: ({ target, options }) =>
      target.protocol === "http:" && !isLoopback(target) &&
      liftedBy({
        message: "The URL is http, where a token can be read.",
        severity: options.allowHttp ? "warning" : "error",
      }, { name: "allowHttp", value: true }),
  },
  {
    id: "no_response", // rows 8 and 76
    standard: "RFC 9110, section 4.3",
    operator: "",
    find: missingResponses,
  },
  {
    id: "clock_differs", // row 62
    standard: "RFC 9110, section 6.6.1; RFC 9449, section 11.1",
    operator: "Synchronize the clock of the server.",
    client: "Synchronize the clock of this machine. DPoP proofs, client " +
      "assertions and ID tokens are rejected otherwise.",
    find({ exchanges }) {
      const hostOf = ({ url }: Exchange) => parseUrl(url)?.host;
      const skewAt = (one: Exchange) =>
        skewOf(exchanges.filter((other) => hostOf(other) === hostOf(one)));
      const at = exchanges.find((one) => Math.abs(skewAt(one)) > MAX_SKEW_MS);
      if (!at) return undefined;
      const skew = skewAt(at);
      const message = `The clock of ${shown(hostOf(at))} is ${
        describeSeconds(Math.abs(skew) / 1_000)
      } ${skew > 0 ? "ahead of" : "behind"} the clock of this machine.`;
      return { message, url: at.url, at };
    },
  },
  {
    id: "target_not_found", // row 30
    severity: "error",
    standard: "RFC 9110, section 15.5.5",
    operator: "Give users the URL of the resource itself.",
    client:
      "Check the path of the URL. For an API with many URLs, use one that " +
      "responds. An API may also hide its resources from requests without a " +
      "token.",
    hints: [
      {
        option: "tokenRequired",
        value: true,
        text: "set tokenRequired: true if the API hides its resources",
      },
      {
        option: "authorizationServer",
        text: "set authorizationServer too, if the API publishes no metadata",
      },
    ],
    about: "resource",
    find(facts) {
      const status = statusUnlessOpen(facts);
      return ((status === 404 && !mayBeHidden(facts)) || status === 410) &&
        `There is no resource at this URL: status ${status}.`;
    },
  },
  {
    id: "no_401", // rows 9, 68 and 93, Hugging Face
    standard: "RFC 6750, section 3; RFC 9728, section 5",
    operator: "Respond with 401 and `WWW-Authenticate` if a required token " +
      "is missing, not with a redirect to a login.",
    hints: [BEFORE],
    about: "resource",
    find(facts) {
      if (isOpen(facts)) {
        return isPublished(facts) && {
          message: "The resource responds without a token, although it " +
            "publishes metadata.",
          severity: "info",
          ...(hasServer(facts) && REQUIRED),
        };
      }
      const status = statusUnlessOpen(facts);
      if (status >= 300 && status < 400) {
        const to = facts.probe.response?.headers.get("Location");
        return {
          message: "The resource redirects a request without a token to " +
            `${shown(to ?? "an unknown URL")}.`,
          client: "Use the URL that the redirect points to, if that is the " +
            "resource.",
          hints: [],
        };
      }
      const isHidden = mayBeHidden(facts);
      const isOther = status >= 400 && ![401, 404, 410].includes(status);
      // Other statuses concern the request rather than its token.
      const isForbidden = status === 403 && (hasServer(facts) || isLost(facts));
      // OAuth::Lite2 sends a challenge with 400.
      const isChallenge = facts.challenges.length > 0 && status < 500;
      const isTurned = facts.signIn?.call?.response?.ok === true;
      return (isHidden || isOther) && {
        message: `The status without a token is ${status}` +
          (isHidden && !isKnown(facts)
            ? ": there is nothing at this URL, or the API hides it."
            : ", where clients wait for 401."),
        severity: status >= 500 ? "error" : "warning",
        ...(isHidden && { client: "Check the path of the URL." }),
        ...((isHidden || isForbidden || isChallenge || isTurned) &&
          requiredBy(facts)),
      };
    },
  },
];
