/** Findings about a registration, the authorization, and the token that it brings. */

import { stringMember, stringsIn } from "../core/_members.ts";
import { OFFLINE_ACCESS } from "../core/scopes.ts";
import { SECRET_METHODS } from "../client/_authentication_methods.ts";
import { type IFacts, list, sentence, shown } from "./_facts.ts";
import type { IExchange } from "./_recorder.ts";
import { type IRule, liftedByTrust, withheldScopes } from "./_rules.ts";
import {
  failureAt,
  isPage,
  lastOf,
  responseMembersOf,
  sentMembersOf,
} from "./_sign_in_steps.ts";
import { STEPS } from "./_step_table.ts";

/** The requests for a registration, with their members. */
function attemptsOf({ exchanges }: IFacts) {
  return exchanges.filter(({ name }) => name === "registration")
    .map((exchange) => ({
      exchange,
      status: exchange.response?.status ?? 0,
      sent: sentMembersOf(exchange),
      received: responseMembersOf(exchange) ?? {},
    }));
}

/** The registration that succeeded. */
function registeredIn(facts: IFacts) {
  return attemptsOf(facts).find(({ status, received }) =>
    status >= 200 && status < 300 && stringMember(received, "client_id")
  );
}

/** Returns the method of a registration that lacks the secret that it needs. */
export function methodWithoutSecret(facts: IFacts): string | undefined {
  const { received = {} } = registeredIn(facts) ?? {};
  const method = stringMember(received, "token_endpoint_auth_method") ?? "";
  const lacksSecret = SECRET_METHODS.includes(method) &&
    !stringMember(received, "client_secret");
  return lacksSecret ? method : undefined;
}

/** Finds a page with status 403, which is that of a firewall and not of the server. */
function blockedIn({ exchanges }: IFacts): IExchange | undefined {
  return exchanges.find((exchange) =>
    STEPS[exchange.name].isJson && exchange.response?.status === 403 &&
    responseMembersOf(exchange) === undefined && isPage(exchange)
  );
}

/** Returns the last response to a token request with a code. */
const tokenOf = (facts: IFacts) =>
  facts.signIn?.session &&
  responseMembersOf(lastOf(facts.exchanges, "token"));

/** The findings about a sign-in. */
export const SIGN_IN_RULES: readonly IRule[] = [
  {
    id: "registration_without_secret", // mcp-use
    severity: "error",
    standard: "RFC 7591, section 3.2.1",
    operator: "Return a `client_secret` with each method that needs one, or " +
      "register the method `none` that was requested.",
    client: "With this library: `client`, set to one that the operator has " +
      "registered.",
    at: "registration",
    shows: ["token_endpoint_auth_method", "client_secret"],
    find(facts) {
      const method = methodWithoutSecret(facts);
      const isUseless = facts.registration?.error?.code === "unsupported";
      return method !== undefined && {
        message: `The server has registered the method ${method}, and no ` +
          "secret for it.",
        ...(isUseless ? { options: [{ name: "client" }] } : {
          severity: "warning",
          client: "This library sends no credentials, as it has requested.",
        }),
      };
    },
  },
  {
    id: "registration_scope_refused", // oidc-provider
    standard: "RFC 7591, sections 2 and 3.2.2",
    operator: "Accept a `scope` of the scopes that the metadata lists, or " +
      "ignore it.",
    client: "This library registers without `scope` next.",
    find(facts) {
      const [first, second] = attemptsOf(facts);
      return first && second && first.status >= 400 && second.status < 300 &&
        first.sent.scope !== undefined && second.sent.scope === undefined && {
        message: "The server refuses a registration with scopes that it lists.",
        at: first.exchange,
      };
    },
  },
  {
    id: "refresh_grant_not_registered", // glewlwyd
    standard: "RFC 7591, sections 2 and 3.2.1",
    operator: "Register the grant type `refresh_token` where it is requested.",
    client: "The user signs in again whenever the token expires.",
    at: "registration",
    shows: ["grant_types"],
    find(facts) {
      const { sent = {}, received = {} } = registeredIn(facts) ?? {};
      const grants = stringsIn(received.grant_types);
      return grants && !grants.includes("refresh_token") &&
        stringsIn(sent.grant_types)?.includes("refresh_token") &&
        `The client is registered without the grant type refresh_token, for ${
          list(grants) || "none"
        } alone.`;
    },
  },
  {
    id: "authorization_denied", // LemonLDAP
    severity: "error",
    standard: "RFC 6749, section 4.1.2.1",
    operator: "Nothing, if the user has refused.",
    client: "Sign in again, and consent.",
    at: "authorization",
    find: (facts) =>
      failureAt(facts, "authorization", "token")?.error.error ===
        "access_denied" &&
      "The user, or the server, has denied access.",
  },
  {
    id: "authorization_response_issuer", // proxy of the MCP SDK
    severity: "error",
    standard: "RFC 9207, sections 2 and 2.4; RFC 9700, section 4.4",
    operator:
      "Send as `iss` the `issuer` of the metadata, not that of a server " +
      "behind it, or do not promise it.",
    at: "authorization",
    find(facts) {
      const failure = failureAt(facts, "authorization");
      if (failure?.error.code !== "issuer_mismatch") return undefined;
      const iss = facts.signIn?.callback?.get("iss");
      const issuer = facts.signIn?.context.issuer ?? "";
      if (!iss) {
        return "The metadata promises an iss in authorization responses, " +
          "and this one has none.";
      }
      const message = `The iss of the authorization response is "${
        shown(iss)
      }", and the issuer is "${shown(issuer)}".`;
      return liftedByTrust({ message }, issuer, iss);
    },
  },
  {
    id: "authorization_response_state", // a trial of 1.0.0-rc.1
    severity: "error",
    standard: "RFC 6749, sections 4.1.2 and 10.12; RFC 9700, section 4.7",
    operator: "Return the `state` of the request in each authorization " +
      "response, also with an error.",
    client:
      "Stop, and tell the operator. Without a `state`, a response may be " +
      "that of another sign-in, or of another person.",
    at: "authorization",
    find: (facts) =>
      failureAt(facts, "authorization") &&
      facts.signIn?.callback?.has("state") === false &&
      "The authorization response has no state.",
  },
  {
    id: "authorization_without_response", // fastmcp
    severity: "error",
    standard: "RFC 6749, section 4.1.2",
    operator:
      "Redirect the user back, also with an error, unless the redirect " +
      "URI is not that of the client.",
    client:
      "Sign in again. What the page of the server says is not known here.",
    find(facts) {
      const { callback, page } = facts.signIn ?? {};
      if (!failureAt(facts, "authorization") || callback) return undefined;
      const { status = 0 } = page?.response ?? {};
      const url = lastOf(facts.exchanges, "authorization")?.url ?? "";
      const message = "The user did not come back from the server.";
      return status >= 400
        ? {
          message: `${message} Without a browser, its page has status ` +
            `${status}.`,
          at: "authorization_endpoint",
          url,
        }
        : { message, at: "authorization", url };
    },
  },
  {
    id: "blocked_by_firewall", // row 41
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
    id: "basic_not_decoded", // Doorkeeper
    standard: "RFC 6749, section 2.3.1 and appendix B",
    operator: "Form-decode the identifier and the secret of Basic credentials.",
    client:
      "This library sends them once more without the encoding; where it is " +
      "known, `clientSecretPost`.",
    at: "token",
    find({ signIn, exchanges }) {
      const [before, last] = exchanges.filter(({ name }) => name === "token")
        .map(({ sent, response }) => ({
          basic: new Headers(sent?.headers).get("Authorization") ?? undefined,
          status: response?.status ?? 0,
        })).slice(-2);
      return signIn?.session && last?.basic && before?.basic &&
        before.basic !== last.basic && before.status >= 400 &&
        "The server compares Basic credentials with special characters without " +
          "decoding them.";
    },
  },
  {
    id: "id_token_invalid", // better-auth
    standard: "OpenID Connect Core 1.0, section 3.1.3.7",
    operator:
      "Issue ID tokens for the client, with the `issuer` of the metadata " +
      "and the `nonce` of the request.",
    client:
      "This library leaves the ID token out, unless `openid` is one of the " +
      "`scopes` that its caller has set.",
    at: "token",
    find({ signIn }) {
      const { idTokenError, failure } = signIn ?? {};
      return idTokenError && {
        message: sentence(idTokenError),
        severity: failure?.error.code === "invalid_id_token"
          ? "error"
          : "warning",
      };
    },
  },
  {
    id: "token_type_missing", // LinkedIn
    standard: "RFC 6749, section 5.1",
    operator: 'Return `"token_type": "Bearer"`.',
    client: "This library assumes Bearer.",
    at: "token",
    find(facts) {
      const token = tokenOf(facts);
      return token && !stringMember(token, "token_type") &&
        "The token response has no token_type.";
    },
  },
  {
    id: "scope_narrowed", // row 14
    standard: "RFC 6749, section 3.3",
    operator: "Grant the scopes that the resource names, or name others there.",
    client: "With this library: `scopes`, set to those that are granted.",
    at: "token",
    find(facts) {
      const { session, requestedScopes = [] } = facts.signIn ?? {};
      const missing = withheldScopes(requestedScopes, session?.token.scope)
        .filter((scope) => scope !== OFFLINE_ACCESS && scope !== "openid");
      return missing.length > 0 &&
        `The token is issued without ${list(missing)}.`;
    },
  },
  {
    id: "refresh_token_missing", // oidc-provider
    standard:
      "RFC 6749, sections 5.1 and 6; OpenID Connect Core 1.0, section 11",
    operator: "Issue a refresh token to clients that are registered for it.",
    client: "The user signs in again whenever the token expires. Where " +
      "`offline_access` was requested, this library then asks for consent.",
    at: "token",
    find: ({ signIn }) =>
      signIn?.session && !signIn.session.token.refresh_token &&
      "The token response has no refresh token.",
  },
];
