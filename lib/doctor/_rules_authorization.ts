/** Findings about the authorization request and its response. */

import { shown } from "./_facts.ts";
import { type IRule, liftedBy } from "./_rules.ts";
import { failureAt, isExplained, saying } from "./_sign_in_failure.ts";
import { lastOf } from "./_sign_in_steps.ts";

/** The findings about an authorization. */
export const AUTHORIZATION_RULES: readonly IRule[] = [
  {
    id: "authorization_denied",
    severity: "info",
    standard: "RFC 6749, section 4.1.2.1",
    operator: "Nothing, if the user has refused.",
    client: "Sign in again, and consent.",
    find: (facts) =>
      failureAt(facts, "authorization", "token")?.error.error ===
          "access_denied"
        ? {
          message: "The user, or the server, has denied access.",
          at: "authorization",
        }
        : undefined,
  },
  {
    id: "authorization_failed",
    severity: "error",
    standard: "RFC 6749, section 4.1.2.1; RFC 8707, section 2",
    operator:
      "Accept the parameters of the request, or list what is supported.",
    client:
      "With this library: `scopes`, `parameters` or `resource: false`, as " +
      "the error says.",
    find(facts) {
      const failure = failureAt(facts, "authorization");
      const { error } = failure?.error ?? {};
      if (!error || error === "access_denied") return undefined;
      const isTarget = error === "invalid_target" &&
        facts.options.signIn?.resource !== false;
      return liftedBy(
        saying(failure),
        ...(isTarget ? [{ name: "resource" as const, value: false }] : []),
      );
    },
  },
  {
    id: "authorization_response_issuer",
    severity: "error",
    standard: "RFC 9207, sections 2 and 2.4",
    operator:
      "Send as `iss` the `issuer` of the metadata, not that of a server behind it.",
    find(facts) {
      const { signIn } = facts;
      const iss = signIn?.callback?.get("iss");
      const failure = failureAt(facts, "authorization");
      if (failure?.error.code !== "issuer_mismatch" || !iss) return undefined;
      const issuer = signIn?.context.issuer ?? "";
      const isPlain = [issuer, iss].every((one) => shown(one, 500) === one);
      return liftedBy(
        {
          message: `The iss of the authorization response is "${
            shown(iss)
          }", and the issuer is "${shown(issuer)}".`,
          at: "authorization",
          client: "With this library, if both are known to be one server: " +
            `\`trustedIssuers: { "${shown(issuer)}": "${shown(iss)}" }\`.`,
        },
        ...(isPlain
          ? [{ name: "trustedIssuers" as const, value: { [issuer]: iss } }]
          : []),
      );
    },
  },
  {
    id: "authorization_response_without_iss",
    severity: "error",
    standard: "RFC 9207, sections 2 and 2.4",
    operator: "Send `iss`, or do not publish " +
      "`authorization_response_iss_parameter_supported`.",
    find: (facts) =>
      failureAt(facts, "authorization")?.error.code === "issuer_mismatch" &&
        !facts.signIn?.callback?.get("iss")
        ? {
          message: "The metadata promises an iss in authorization responses, " +
            "and this one has none.",
          at: "authorization",
        }
        : undefined,
  },
  {
    id: "authorization_response_invalid",
    severity: "error",
    standard: "RFC 6749, section 4.1.2",
    operator: "Send `code` and the `state` of the request, each once.",
    find: (facts) =>
      failureAt(facts, "authorization")?.error.code ===
          "invalid_authorization_response"
        ? saying(failureAt(facts, "authorization"))
        : undefined,
  },
  {
    id: "authorization_without_response",
    standard: "RFC 6749, section 4.1.2",
    operator:
      "Redirect the user back, also with an error, unless the redirect " +
      "URI is not that of the client.",
    client:
      "Sign in again. What the page of the server says is not known here.",
    find(facts) {
      const { callback, page } = facts.signIn ?? {};
      const failure = failureAt(facts, "authorization");
      if (!failure || callback) return undefined;
      const { status = 0 } = page?.response ?? {};
      return {
        message: "The user did not come back from the server." +
          (status >= 400
            ? ` Without a browser, its page has status ${status}.`
            : ""),
        at: status >= 400 ? "authorization_endpoint" : "authorization",
        url: lastOf(facts.exchanges, "authorization")?.url ?? "",
        severity: status >= 400 ? "error" : "warning",
      };
    },
  },
  {
    id: "pushed_request_failed",
    severity: "error",
    standard: "RFC 9126, section 2.3",
    operator: "Accept the authorization request as it would be in the browser.",
    find: (facts) =>
      isExplained(facts, "pushed_authorization")
        ? undefined
        : saying(failureAt(facts, "pushed_authorization")),
  },
  {
    id: "device_authorization_failed",
    severity: "error",
    standard: "RFC 8628, section 3.2",
    operator: "Accept the device flow of every client that may sign in.",
    find: (facts) =>
      isExplained(facts, "device_authorization")
        ? undefined
        : saying(failureAt(facts, "device_authorization")),
  },
];
