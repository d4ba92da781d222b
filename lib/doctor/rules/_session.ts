import { findChallenges } from "../../core/challenge.ts";
import { readClaims } from "../../core/_jwt.ts";
import type { OAuthClientError } from "../../core/errors.ts";
import { rejectsToken } from "../../fetch/policy/_rejections.ts";
import { isAuthentication } from "../../client/_authentication_selection.ts";
import { failed, IN_LOG } from "./_failed_step.ts";
import {
  type Facts,
  isBlocked,
  isStillValid,
  sentence,
  shown,
} from "../_facts.ts";
import { KNOWN_SERVER, liftedBy, type Rule, type Sighting } from "./_rule.ts";

/** Checks whether an error only shows that a refresh token is invalid. */
function isInvalidGrant({ error, status = 0 }: OAuthClientError): boolean {
  return error === "invalid_grant" && status >= 400 && status < 500;
}

function challengeOf({ signIn }: Facts) {
  const value = signIn?.call?.response?.headers.get("WWW-Authenticate");
  return findChallenges(value ?? "")[0]?.params ?? {};
}

/** Checks whether the resource requires another sign-in (RFC 9470, section 3). */
const isStepUp = (facts: Facts) =>
  challengeOf(facts).error === "insufficient_user_authentication";

/** Checks whether a sign-in's tokens belong to a client without credentials. */
function isPublic({ signIn, options }: Facts): boolean {
  const { client: given } = options.signIn ?? {};
  if (given && isAuthentication(given)) return given.method === "none";
  return !signIn?.session?.client?.client_secret;
}

/**
 * Compares a JWT's issuer and audience with the issuer and the resource; returns
 * nothing for another token.
 */
function claimsIn({ signIn, context }: Facts): string {
  const { iss, aud } = readClaims(signIn?.session?.token.access_token) ?? {};
  const { issuer, resource } = context ?? {};
  const audiences = [aud].flat().filter((one) => typeof one === "string");
  const hasAudience = audiences.length > 0 && resource !== undefined;
  const differences = [
    typeof iss === "string" && iss !== issuer &&
    ` Its \`iss\` is ${shown(iss)}, and the issuer is ${shown(issuer)}.`,
    hasAudience && !audiences.includes(resource) &&
    ` Its \`aud\` is ${shown(audiences.join(", "), 300)}, and ` +
      `the resource is ${shown(resource)}.`,
  ].filter(Boolean);
  return differences.length === 0 && hasAudience && iss === issuer
    ? " Its `iss` and `aud` are the issuer and the resource."
    : differences.join("");
}

/** Describes why a flow failed, if no other finding is an error. */
function failedFlow(facts: Facts): Sighting | undefined {
  const { failure } = facts.signIn ?? {};
  if (!failure) return undefined;
  const { step, error } = failure;
  const { status = 0 } = error;
  const isFinal = status >= 400 && status < 500 &&
    ![408, 425, 429].includes(status);
  const rejectsResource = step === "authorization" &&
    error.error === "invalid_target" &&
    facts.options.signIn?.resourceIndicator !== false;
  return liftedBy(
    { ...failed(facts, step, error), isFallback: true },
    ...(step === "registration" && isFinal
      ? [{ name: "client" as const }]
      : []),
    ...(rejectsResource
      ? [{ name: "resourceIndicator" as const, value: false }]
      : []),
  );
}

/** Describes the first refresh, which failed. */
function failedRefresh(facts: Facts, error: OAuthClientError): Sighting {
  const { message, ...advice } = failed(facts, "refresh", error);
  return { ...advice, message: `The first refresh failed. ${message}` };
}

function failedCall({ signIn }: Facts): Sighting | undefined {
  const { status = 0 } = signIn?.call?.response ?? {};
  return status < 500 ? undefined : {
    message: `With the token, the status of the resource is ${status}.`,
    standard: "RFC 9110, section 15.6",
    operator: "Look for the reason in the log of the resource.",
    at: "call",
  };
}

export const SESSION_RULES: readonly Rule[] = [
  {
    id: "request_failed", // row 30, demo of the MCP SDK
    severity: "error",
    standard: "RFC 6749, section 4",
    operator: IN_LOG,
    find(facts) {
      const { refresh, revocation, deletion } = facts.signIn ?? {};
      const isRevocation = revocation?.error &&
        revocation.error.code !== "unsupported";
      return [
        failedFlow(facts),
        failedCall(facts),
        refresh?.error && failedRefresh(facts, refresh.error),
        isRevocation && {
          ...failed(facts, "revocation", revocation.error),
          severity: "warning",
        },
        deletion?.error && {
          ...failed(facts, "deregistration", deletion.error),
          severity: "warning",
        },
      ];
    },
  },
  {
    id: "discovery_failed", // row 30
    severity: "error",
    standard: "RFC 9728, section 5; RFC 8414, section 3",
    operator: "The requests show what each URL returned.",
    hints: [KNOWN_SERVER],
    find: (facts) =>
      isBlocked(facts) && facts.failure &&
      {
        message: sentence(facts.failure),
        hints: facts.failure.hints,
        isFallback: true,
      },
  },
  {
    id: "token_refused", // row 40
    severity: "error",
    standard: "RFC 6750, section 3.1; RFC 9728, section 7.4",
    operator: "Accept tokens of the authorization server in the metadata: " +
      "check their audience, their issuer and the clock.",
    hints: [{
      option: "bearer",
      value: "id_token",
      text: 'set bearer: "id_token" if the resource wants the ID token',
    }],
    at: "call",
    find(facts) {
      const { error, error_description: why } = challengeOf(facts);
      return facts.signIn?.call?.response?.status === 401 && !isStepUp(facts) &&
        "The resource rejects the token that was just issued" +
          (error
            ? `: ${shown([error, why].filter(Boolean).join(": "), 200)}.`
            : ".") +
          claimsIn(facts);
    },
  },
  {
    id: "call_forbidden", // row 68
    standard: "RFC 6750, section 3.1; RFC 9470, section 3",
    operator: "State the requirement in the challenge, or grant it at sign-in.",
    client:
      "This library signs in again for the scopes that the challenge requires.",
    at: "call",
    find(facts) {
      const params = challengeOf(facts);
      const { error, scope, acr_values: acr, max_age: age } = params;
      const { status } = facts.signIn?.call?.response ?? {};
      const required = [
        scope && shown(scope, 120),
        acr && `acr_values ${shown(acr, 120)}`,
        age && `max_age ${shown(age, 20)}`,
      ].filter(Boolean).join(" and ");
      return (status === 403 || (status === 401 && isStepUp(facts))) && {
        message: `The resource responds to the token with status ${status}` +
          (error ? `, ${shown(error, 60)}` : ", and without a reason") +
          (required ? `: it requires ${required}` : "") + ".",
        severity: required ? "warning" : "error",
      };
    },
  },
  {
    id: "dead_access_token_error", // row 95
    standard: "RFC 6750, section 3.1",
    operator:
      "Respond to an access token that is not valid with status 401 and " +
      "`invalid_token`.",
    client: "A session cannot recover after its token has expired.",
    hints: [{
      option: "fresh",
      value: true,
      text: "call signIn({ fresh: true })",
    }],
    at: "dead_call",
    find({ signIn }) {
      const { response } = signIn?.deadCall ?? {};
      return response && !response.ok && response.status !== 429 &&
        !rejectsToken(response) &&
        "The response to an access token that is not valid is status " +
          `${response.status}.`;
    },
  },
  {
    id: "refresh_token_not_rotated", // Duende, UAA: cloudfoundry/uaa#1448
    standard: "RFC 9700, section 2.2.2; OAuth 2.1, section 4.3.1",
    operator:
      "Issue a new refresh token with each refresh of a public client, " +
      "or bind the tokens to a key.",
    hints: [{ option: "dpop", text: "set dpop if the server supports it" }],
    at: "refresh",
    find(facts) {
      const { session, refresh, hasDpop } = facts.signIn ?? {};
      const token = refresh?.session?.token.refresh_token;
      return token && token === session?.token.refresh_token &&
        isPublic(facts) && !hasDpop &&
        "The server does not rotate this public client's refresh token, so a stolen one stays valid.";
    },
  },
  {
    id: "dead_refresh_token_error", // proxy of the MCP SDK
    standard: "RFC 6749, section 5.2",
    operator:
      "Respond to a refresh token that is not valid with status 400 and " +
      "`invalid_grant`.",
    client:
      "This library lets the user sign in after 500 with `server_error`; " +
      "other responses look as if the server were out of order.",
    at: "dead_refresh",
    find({ signIn }) {
      const { error } = signIn?.deadRefresh ?? {};
      return error && !isInvalidGrant(error) &&
        `The response to a refresh token that is not valid is ${
          error.status === undefined ? "missing" : `status ${error.status}`
        }${error.error ? ` with ${shown(error.error, 60)}` : ""}.`;
    },
  },
  {
    id: "no_revocation", // row 28
    standard: "RFC 7009, sections 2 to 2.2; RFC 8414, section 2",
    operator:
      "Offer a `revocation_endpoint`, so that users can sign out, and " +
      "reject a refresh token once it is revoked.",
    client: "The tokens of this diagnosis stay valid until they expire.",
    find({ signIn, server }) {
      if (signIn && isStillValid(signIn)) {
        return {
          message: "The refresh token is still accepted after its revocation.",
          at: "dead_refresh",
        };
      }
      if (signIn?.revocation?.kept) {
        return {
          message:
            "The server revokes the refresh token, and not the access token.",
          severity: "info",
          operator:
            "Nothing, if access tokens expire soon: until then, APIs accept them.",
          client:
            "The access token of this diagnosis stays valid until it expires.",
          at: "revocation",
        };
      }
      // Assumed metadata contains none.
      return server && signIn?.revocation?.error?.code === "unsupported" && {
        message: "The server has no revocation endpoint.",
        severity: "info",
        url: signIn.context.serverMetadataUrl ?? signIn.context.issuer,
        shows: ["revocation_endpoint"],
      };
    },
  },
];
