/** Findings about the token request and its response. */

import { stringMember } from "../core/_members.ts";
import { OFFLINE_ACCESS } from "../core/scopes.ts";
import { type IFacts, list, sentence, shown } from "./_facts.ts";
import type { IExchange } from "./_recorder.ts";
import { type IRule, withheldScopes } from "./_rules.ts";
import { failureAt, isExplained, isPage, saying } from "./_sign_in_failure.ts";
import { lastOf, responseMembersOf } from "./_sign_in_steps.ts";
import type { DiagnosisStepName } from "./diagnosis.ts";

/** The steps whose responses are JSON. */
const JSON_STEPS: readonly DiagnosisStepName[] = [
  "resource_metadata",
  "authorization_server_metadata",
  "registration",
  "pushed_authorization",
  "device_authorization",
  "token",
  "refresh",
  "old_refresh",
  "dead_refresh",
];

/** Finds a page with status 403, which is that of a firewall and not of the server. */
function blockedIn({ exchanges }: IFacts): IExchange | undefined {
  return exchanges.find((exchange) =>
    JSON_STEPS.includes(exchange.name) && exchange.response?.status === 403 &&
    responseMembersOf(exchange) === undefined && isPage(exchange)
  );
}

/** Returns the last response to a token request with a code. */
const tokenOf = (facts: IFacts) =>
  facts.signIn?.session &&
  responseMembersOf(lastOf(facts.exchanges, "token"));

/** The findings about a token request. */
export const TOKEN_RULES: readonly IRule[] = [
  {
    id: "blocked_by_firewall",
    standard: "RFC 9110, section 15.5.4",
    operator:
      "Exempt metadata, registration and token endpoints from the rules " +
      "of the firewall, also for requests without a usual `User-Agent`.",
    client: "With this library: `userAgent`. To try it here: `--user-agent`.",
    find(facts) {
      const blocked = blockedIn(facts);
      return blocked && {
        message: "A page with status 403 is the response to a request of a " +
          "program, as that of a firewall.",
        at: blocked,
        severity: blocked.name !== "registration" &&
            facts.signIn?.failure?.step === blocked.name
          ? "error"
          : "warning",
      };
    },
  },
  {
    id: "token_endpoint_html",
    severity: "error",
    standard: "RFC 6749, sections 5.1 and 5.2",
    operator: "Respond to every token request with JSON, errors included.",
    find(facts) {
      const { step } = failureAt(
        facts,
        "token",
        "pushed_authorization",
        "device_authorization",
      ) ??
        {};
      const exchange = step && lastOf(facts.exchanges, step);
      const { status, headers } = exchange?.response ?? {};
      if (!exchange || !isPage(exchange) || status === 403) return undefined;
      const type = headers?.get("Content-Type") ?? "no media type";
      return {
        message: `The ${
          step.replace("_", " ")
        } endpoint returns a page: status ${status}, ${shown(type, 60)}.`,
        at: step,
      };
    },
  },
  {
    id: "token_request_failed",
    severity: "error",
    standard: "RFC 6749, section 5.2",
    operator: "Look for the reason in the log of the token endpoint.",
    client: "The error of the server says what to change.",
    find(facts) {
      const failure = failureAt(facts, "token");
      const { code, error } = failure?.error ?? {};
      return isExplained(facts, "token") || code === "invalid_id_token" ||
          error === "access_denied"
        ? undefined
        : saying(failure);
    },
  },
  {
    id: "basic_not_decoded",
    standard: "RFC 6749, section 2.3.1 and appendix B",
    operator: "Form-decode the identifier and the secret of Basic credentials.",
    client:
      "This library sends them once more without the encoding; where it is " +
      "known, `clientSecretPost`.",
    find({ signIn, exchanges }) {
      const [before, last] = exchanges.filter(({ name }) => name === "token")
        .map(({ sent, response }) => ({
          basic: new Headers(sent?.headers).get("Authorization") ?? undefined,
          status: response?.status ?? 0,
        })).slice(-2);
      return signIn?.session && last?.basic && before?.basic &&
          before.basic !== last.basic && before.status >= 400
        ? {
          message: "The server compares Basic credentials with special " +
            "characters without decoding them.",
          at: "token",
        }
        : undefined;
    },
  },
  {
    id: "id_token_invalid",
    standard: "OpenID Connect Core 1.0, section 3.1.3.7",
    operator:
      "Issue ID tokens for the client, with the `issuer` of the metadata " +
      "and the `nonce` of the request.",
    client:
      "This library leaves the ID token out, unless `openid` is one of the " +
      "`scopes` that its caller has set.",
    find({ signIn }) {
      const { idTokenError, failure } = signIn ?? {};
      return idTokenError && {
        message: sentence(idTokenError),
        at: "token",
        severity: failure?.error.code === "invalid_id_token"
          ? "error"
          : "warning",
      };
    },
  },
  {
    id: "token_type_missing",
    standard: "RFC 6749, section 5.1",
    operator: 'Return `"token_type": "Bearer"`.',
    client: "This library assumes Bearer.",
    find(facts) {
      const token = tokenOf(facts);
      return token && !stringMember(token, "token_type")
        ? { message: "The token response has no token_type.", at: "token" }
        : undefined;
    },
  },
  {
    id: "expires_in_missing",
    severity: "info",
    standard: "RFC 6749, section 5.1",
    operator: "Return `expires_in`.",
    client: "The token counts as valid until the resource responds with 401.",
    find: ({ signIn }) =>
      signIn?.session && signIn.session.token.expires_in === undefined
        ? { message: "The token response has no expires_in.", at: "token" }
        : undefined,
  },
  {
    id: "scope_narrowed",
    standard: "RFC 6749, section 3.3",
    operator: "Grant the scopes that the resource names, or name others there.",
    client: "With this library: `scopes`, set to those that are granted.",
    find(facts) {
      const { session, requestedScopes = [] } = facts.signIn ?? {};
      const missing = withheldScopes(requestedScopes, session?.token.scope)
        .filter((scope) => scope !== OFFLINE_ACCESS && scope !== "openid");
      return missing.length > 0
        ? {
          message: `The token is issued without ${list(missing)}.`,
          at: "token",
        }
        : undefined;
    },
  },
  {
    id: "refresh_token_missing",
    standard:
      "RFC 6749, sections 5.1 and 6; OpenID Connect Core 1.0, section 11",
    operator: "Issue a refresh token to clients that are registered for it.",
    client: "The user signs in again whenever the token expires. Where " +
      "`offline_access` was requested, this library then asks for consent.",
    find: ({ signIn }) =>
      signIn?.session && !signIn.session.token.refresh_token
        ? { message: "The token response has no refresh token.", at: "token" }
        : undefined,
  },
];
