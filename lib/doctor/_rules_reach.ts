/** Findings about the response of the resource, and about missing responses. */

import { describeReason } from "../core/_quote.ts";
import { isLoopback, parseUrl } from "../core/_url.ts";
import type { OAuthClientError } from "../core/errors.ts";
import {
  allDocuments,
  type AnyDocument,
  type IFacts,
  isAssumed,
  isOpen,
  isPublished,
  severityAt,
  shown,
} from "./_facts.ts";
import type { IExchange } from "./_recorder.ts";
import { type IRule, type ISighting, liftedBy } from "./_rules.ts";
import { describeSeconds } from "./_sign_in_words.ts";

/** How far a clock may be off; many servers accept no more for DPoP proofs. */
const MAX_SKEW_MS = 30_000;

/**
 * Returns how far the clock of a host is ahead, by the response that agrees best: a
 * cache may have kept another one.
 */
function skewOf(exchanges: readonly IExchange[]): number {
  const all = exchanges.flatMap(({ at, ms = 0, response }) => {
    const date = Date.parse(response?.headers?.get("Date") ?? "");
    if (Number.isNaN(date)) return [];
    return date > at + ms ? [date - at - ms] : [Math.min(0, date + 999 - at)];
  });
  return all.sort((a, b) => Math.abs(a) - Math.abs(b))[0] ?? 0;
}

/** A URL where a request failed. */
interface IFailure {
  url: string;
  error: OAuthClientError;
  severity: "error" | "warning";
}

function failuresOf(facts: IFacts): IFailure[] {
  const { probe, target, isServer, signIn } = facts;
  const severity = isServer ? "warning" : "error";
  const atTarget = probe.error
    ? [{ url: target.href, error: probe.error, severity } as const]
    : [];
  const others = allDocuments(facts).flatMap((document: AnyDocument) =>
    document.error
      ? [{
        url: document.url,
        error: document.error,
        severity: severityAt(facts, document),
      }]
      : []
  );
  const { failure, call } = signIn ?? {};
  const errors = [
    // A user may leave the page for reasons that are not those of the server.
    failure?.step === "authorization" ? undefined : failure?.error,
    call?.error,
  ];
  const later = errors.flatMap((error) =>
    error?.url === undefined
      ? []
      : [{ url: error.url, error, severity: "error" } as const]
  );
  // `findFailure` makes one finding of each cause. The resource comes first.
  return [...atTarget, ...others, ...later];
}

function findFailure(
  facts: IFacts,
  test: (error: OAuthClientError) => boolean,
  message: (host: string) => string,
): ISighting | undefined {
  const found = failuresOf(facts).filter(({ error }) => test(error));
  const worst = found.find(({ severity }) => severity === "error") ?? found[0];
  return worst && {
    message: message(shown(new URL(worst.url).host)),
    url: worst.url,
    severity: worst.severity,
  };
}

/** Returns the status of a resource, unless it responds without a token. */
function statusUnlessOpen(facts: IFacts): number | undefined {
  const { probe, isServer } = facts;
  return isServer || isOpen(facts) ? undefined : probe.response?.status;
}

/** Checks whether metadata of exactly this resource is published. */
function isKnown({ resourceDocuments, target }: IFacts): boolean {
  const pathOf = (path: string) => path.replace(/\/$/, "");
  return resourceDocuments.some(({ metadata }) =>
    metadata !== undefined &&
    pathOf(parseUrl(metadata.resource)?.pathname ?? "") ===
      pathOf(target.pathname)
  );
}

/** The option of a client that receives no 401. */
const TOKEN_REQUIRED = [{ name: "tokenRequired", value: true }] as const;

const BEFORE =
  "With this library: `tokenRequired: true`, as no 401 starts the sign-in.";

/** Checks whether a client knows where to obtain a token. */
function hasServer(facts: IFacts): boolean {
  return facts.context !== undefined && !isAssumed(facts);
}

/** The findings about the response of the resource. */
export const REACH_RULES: readonly IRule[] = [
  {
    id: "target_not_https",
    severity: "error",
    standard: "RFC 9728, section 1.2; RFC 6750, section 5.3",
    operator: "Serve the resource over https, and redirect nothing to http.",
    client: "With this library: `allowHttp: true`, on a network that no one " +
      "else can read.",
    find({ target, options }) {
      if (target.protocol !== "http:" || isLoopback(target)) return undefined;
      return liftedBy({
        message: "The URL is http, where a token can be read.",
        url: target.href,
        severity: options.allowHttp ? "warning" : "error",
      }, { name: "allowHttp", value: true });
    },
  },
  {
    id: "host_not_found",
    standard: "RFC 9110, section 4.3.3",
    operator: "Check the host name and its DNS records.",
    client: "Check the host name of the URL, and the network of this machine.",
    find: (facts) =>
      findFailure(
        facts,
        ({ reason }) => reason === "host_not_found",
        (host) => `${describeReason("host_not_found", host)}.`,
      ),
  },
  {
    id: "connection_refused",
    standard: "RFC 9110, section 4.3.3",
    operator: "Start the server, and open its port in the firewall.",
    client: "Check the host and the port of the URL.",
    find: (facts) =>
      findFailure(
        facts,
        ({ reason }) => reason === "connection_refused",
        (host) => `${describeReason("connection_refused", host)}.`,
      ),
  },
  {
    id: "certificate_rejected",
    standard: "RFC 9110, section 4.3.4; RFC 9728, section 7.1",
    operator:
      "Install a certificate for this host name from a public authority, with " +
      "its intermediate certificates.",
    client: "Add the authority to those that the runtime trusts.",
    find: (facts) =>
      findFailure(
        facts,
        ({ reason }) => reason === "certificate",
        (host) => `${describeReason("certificate", host)}.`,
      ),
  },
  {
    id: "certificate_expired",
    standard: "RFC 9110, section 4.3.4; RFC 9728, section 7.1",
    operator: "Renew the certificate, and have it renewed automatically.",
    client: "Check the clock of this machine; otherwise wait for the operator.",
    find: (facts) =>
      findFailure(
        facts,
        ({ reason }) => reason === "certificate_expired",
        (host) => `${describeReason("certificate_expired", host)}.`,
      ),
  },
  {
    id: "connection_failed",
    standard: "RFC 9110, section 4.3.3",
    operator: "Check that the server completes its responses.",
    client: "Check the network, and whether a proxy is needed.",
    find: (facts) =>
      findFailure(
        facts,
        ({ code, reason }) => code === "network_error" && !reason,
        (host) => `The connection to ${host} failed, or broke off.`,
      ),
  },
  {
    id: "clock_differs",
    standard: "RFC 9110, section 6.6.1; RFC 9449, section 11.1",
    operator: "Synchronize the clock of the server.",
    client: "Synchronize the clock of this machine. DPoP proofs, client " +
      "assertions and ID tokens are refused otherwise.",
    find({ exchanges }) {
      const hostOf = ({ url }: IExchange) => parseUrl(url)?.host;
      const skewAt = (one: IExchange) =>
        skewOf(exchanges.filter((other) => hostOf(other) === hostOf(one)));
      const at = exchanges.find((one) => Math.abs(skewAt(one)) > MAX_SKEW_MS);
      const skew = at ? skewAt(at) : 0;
      return at && {
        message: `The clock of ${shown(hostOf(at))} is ${
          describeSeconds(Math.abs(skew) / 1_000)
        } ${skew > 0 ? "ahead of" : "behind"} that of this machine.`,
        url: at.url,
        at,
      };
    },
  },
  {
    id: "timeout",
    standard: "RFC 9110, section 15.5.9",
    operator: "Send a complete response at once, also without a token.",
    client: "With this library: a larger `timeoutMs`.",
    find: (facts) =>
      findFailure(
        facts,
        ({ code }) => code === "timeout",
        (host) => `There is no complete response of ${host} in time.`,
      ),
  },
  {
    id: "target_not_found",
    severity: "error",
    standard: "RFC 9110, section 15.5.5",
    operator: "Give users the URL of the resource itself.",
    client:
      "Check the path of the URL. For an API with many URLs, use one that " +
      "responds.",
    find(facts) {
      const status = statusUnlessOpen(facts);
      return (status === 404 && !isKnown(facts)) || status === 410
        ? {
          message: `There is no resource at this URL: status ${status}.`,
          url: facts.target.href,
        }
        : undefined;
    },
  },
  {
    id: "target_redirected",
    standard: "RFC 6750, section 3; RFC 9728, section 5",
    operator:
      "Respond with 401 and `WWW-Authenticate`, not with a redirect to a login.",
    client: "Use the URL that the redirect leads to, if that is the resource.",
    find(facts) {
      const { response } = facts.probe;
      const location = response?.headers.get("Location");
      const status = statusUnlessOpen(facts) ?? 0;
      return status >= 300 && status < 400
        ? {
          message: "The resource redirects a request without a token to " +
            `${shown(location ?? "an unknown URL")}.`,
          url: facts.target.href,
        }
        : undefined;
    },
  },
  {
    id: "no_401",
    standard: "RFC 6750, section 3; RFC 9728, section 5",
    operator: "Respond with 401 and `WWW-Authenticate` if there is no token.",
    client: BEFORE,
    find(facts) {
      const status = statusUnlessOpen(facts) ?? 0;
      const isOther = status >= 400 && ![401, 404, 410].includes(status) ||
        (status === 404 && isKnown(facts));
      // Other statuses are about the request rather than about its token.
      const isForbidden = status === 404 ||
        (status === 403 && hasServer(facts));
      return isOther
        ? {
          message:
            `The status without a token is ${status}, where clients wait for 401.`,
          url: facts.target.href,
          severity: status >= 500 ? "error" : "warning",
          ...(isForbidden && { options: [...TOKEN_REQUIRED] }),
        }
        : undefined;
    },
  },
  {
    id: "token_optional",
    severity: "info",
    standard: "RFC 9728, section 5",
    operator: "Respond with 401 where a token is required.",
    client: BEFORE,
    find: (facts) =>
      isOpen(facts) && isPublished(facts)
        ? {
          message: "The resource responds without a token, although it " +
            "publishes metadata.",
          url: facts.target.href,
          ...(hasServer(facts) && { options: [...TOKEN_REQUIRED] }),
        }
        : undefined,
  },
];
