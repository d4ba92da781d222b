import { stringMember, stringsIn } from "../../core/_members.ts";
import { OFFLINE_ACCESS } from "../../core/scopes.ts";
import { SECRET_METHODS } from "../../client/_authentication_methods.ts";
import { type Facts, list, sentence, shown } from "../_facts.ts";
import type { Exchange } from "../_recorder.ts";
import {
  liftedByTrust,
  REGISTERED_CLIENT,
  type Rule,
  type Sighting,
  withheldScopes,
} from "./_rule.ts";
import {
  failureAt,
  isPage,
  lastOf,
  responseMembersOf,
  sentMembersOf,
} from "../sign_in/_steps.ts";
import { STEPS } from "../_step_table.ts";

function attemptsOf({ exchanges }: Facts) {
  return exchanges.filter(({ name }) => name === "registration")
    .map((exchange) => ({
      exchange,
      status: exchange.response?.status ?? 0,
      sent: sentMembersOf(exchange),
      received: responseMembersOf(exchange) ?? {},
    }));
}

function registeredIn(facts: Facts) {
  return attemptsOf(facts).find(({ status, received }) =>
    status >= 200 && status < 300 && stringMember(received, "client_id")
  );
}

/** Finds a registered method without its secret. */
function withoutSecret(facts: Facts): Sighting | undefined {
  const { received = {} } = registeredIn(facts) ?? {};
  const method = stringMember(received, "token_endpoint_auth_method") ?? "";
  const lacksSecret = SECRET_METHODS.includes(method) &&
    !stringMember(received, "client_secret");
  if (!lacksSecret) return undefined;
  const { error } = failureAt(facts, "registration") ?? {};
  const isUseless = error?.code === "unsupported";
  return {
    message: `The server has registered the method ${method}, and no secret ` +
      "for it.",
    shows: ["token_endpoint_auth_method", "client_secret"],
    ...(isUseless
      ? {
        severity: "error",
        hints: [REGISTERED_CLIENT],
        options: [{ name: "client" }],
      }
      : {
        client:
          "This library sends no credentials, exactly as it has requested.",
      }),
  };
}

/** Finds a registration that was rejected with scopes, and accepted without. */
function withoutScopes(facts: Facts): Sighting | undefined {
  const [first, second] = attemptsOf(facts);
  if (!first || !second || first.status < 400) return undefined;
  const isScope = first.sent.scope !== undefined &&
    second.sent.scope === undefined;
  return !isScope || second.status >= 300 ? undefined : {
    message: "The server rejects a registration with scopes that it lists.",
    client: "This library registers without `scope` next.",
    at: first.exchange,
  };
}

/** Finds a registration that lacks the grant type of refresh tokens. */
function withoutRefresh(facts: Facts): Sighting | undefined {
  const { sent = {}, received = {} } = registeredIn(facts) ?? {};
  const grants = stringsIn(received.grant_types);
  const wanted = stringsIn(sent.grant_types)?.includes("refresh_token");
  if (!grants || !wanted || grants.includes("refresh_token")) return undefined;
  return {
    message: "The client is registered without the grant type " +
      `refresh_token, for ${list(grants) || "none"} alone.`,
    shows: ["grant_types"],
    client: "The user signs in again whenever the token expires.",
  };
}

/** Finds a page with status 403, which comes from a firewall, not from the server. */
function blockedIn({ exchanges }: Facts): Exchange | undefined {
  return exchanges.find((exchange) =>
    STEPS[exchange.name].isJson && exchange.response?.status === 403 &&
    responseMembersOf(exchange) === undefined && isPage(exchange)
  );
}

export const SIGN_IN_RULES: readonly Rule[] = [
  {
    id: "registration_differs", // mcp-use, oidc-provider, glewlwyd
    standard: "RFC 7591, sections 2 and 3.2",
    operator:
      "Register what a client requests if the metadata lists it: scopes, " +
      "grant types, and the method `none`, or one with its `client_secret`.",
    at: "registration",
    find: (facts) => [
      withoutSecret(facts),
      withoutScopes(facts),
      withoutRefresh(facts),
    ],
  },
  {
    id: "authorization_denied", // LemonLDAP
    severity: "error",
    standard: "RFC 6749, section 4.1.2.1",
    operator: "Nothing, if the user has declined.",
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
      "Send the `issuer` of the metadata as `iss`, not the `issuer` of a " +
      "server behind it, or do not promise `iss`.",
    at: "authorization",
    find(facts) {
      const failure = failureAt(facts, "authorization");
      if (failure?.error.code !== "issuer_mismatch") return undefined;
      const iss = facts.signIn?.callback?.get("iss");
      const issuer = facts.signIn?.context.issuer ?? "";
      if (!iss) {
        return "The metadata promises an iss in authorization responses, " +
          "but this one contains none.";
      }
      const message = `The iss of the authorization response is "${
        shown(iss)
      }", expected "${shown(issuer)}".`;
      return liftedByTrust({ message }, issuer, iss);
    },
  },
  {
    id: "authorization_response_state", // a trial of 1.0.0-rc.1
    severity: "error",
    standard: "RFC 6749, sections 4.1.2 and 10.12; RFC 9700, section 4.7",
    operator: "Return the `state` of the request in each authorization " +
      "response, also with an error.",
    client: "Stop and tell the operator. A response without `state` may " +
      "belong to another sign-in or another user.",
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
      "URI does not belong to the client.",
    client: "Sign in again. The page that the server showed is not known here.",
    find(facts) {
      const { callback, page } = facts.signIn ?? {};
      if (!failureAt(facts, "authorization") || callback) return undefined;
      const { status = 0 } = page?.response ?? {};
      const isRefused = status >= 400;
      return {
        message: "The user did not come back from the server." +
          (isRefused
            ? ` Without a browser, its page has status ${status}.`
            : ""),
        at: isRefused ? "authorization_endpoint" : "authorization",
        url: lastOf(facts.exchanges, "authorization")?.url ?? "",
      };
    },
  },
  {
    id: "blocked_by_firewall", // row 41
    standard: "RFC 9110, section 15.5.4",
    operator:
      "Exempt metadata, registration and token endpoints from the rules " +
      "of the firewall, also for requests without a usual `User-Agent`.",
    hints: [{ option: "userAgent", text: "set userAgent" }],
    find(facts) {
      const blocked = blockedIn(facts);
      return blocked && {
        message:
          "A request of a program gets a page with status 403, as from " +
          "a firewall.",
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
    client: "This library sends them again without the encoding.",
    hints: [{ option: "clientSecretPost", text: "use clientSecretPost" }],
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
      "This library omits the ID token, unless its caller has requested " +
      "the scope `openid`.",
    at: "token",
    find({ signIn }) {
      const { idTokenError, failure } = signIn ?? {};
      return idTokenError && {
        message: sentence(idTokenError),
        hints: idTokenError.hints,
        severity: failure?.error.code === "invalid_id_token"
          ? "error"
          : "warning",
      };
    },
  },
  {
    id: "scope_narrowed", // row 14
    standard: "RFC 6749, section 3.3",
    operator: "Grant the scopes that the resource lists, or list others there.",
    hints: [{ option: "scopes", text: "set scopes to ones that are granted" }],
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
      "`offline_access` was requested, this library then requests consent.",
    at: "token",
    find: ({ signIn }) =>
      signIn?.session && !signIn.session.token.refresh_token &&
      "The token response has no refresh token.",
  },
];
