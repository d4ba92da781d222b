/** Findings about the use of tokens: calls, refreshes, and the revocation. */

import { scopesFrom } from "../core/_scope_values.ts";
import { findChallenges } from "../core/challenge.ts";
import type { OAuthClientError } from "../core/errors.ts";
import { isAuthentication } from "../client/authentication_selection.ts";
import { type IFacts, isStillValid, list, sentence, shown } from "./_facts.ts";
import { type IRule, withheldScopes } from "./_rules.ts";

/** Checks whether an error says no more than that a refresh token is not valid. */
function isInvalidGrant({ error, status = 0 }: OAuthClientError): boolean {
  return error === "invalid_grant" && status >= 400 && status < 500;
}

/** Returns the challenge of the response to a call with the token. */
function challengeOf({ signIn }: IFacts) {
  const value = signIn?.call?.response?.headers.get("WWW-Authenticate");
  return findChallenges(value ?? "")[0]?.params;
}

/** Checks whether the tokens of a sign-in are those of a client without credentials. */
function isPublic({ signIn, options }: IFacts): boolean {
  const { client: given } = options.signIn ?? {};
  if (given && isAuthentication(given)) return given.method === "none";
  return !signIn?.session?.client.client_secret;
}

/** The findings about a session. */
export const SESSION_RULES: readonly IRule[] = [
  {
    id: "token_refused",
    severity: "error",
    standard: "RFC 6750, section 3.1; RFC 9728, section 7.4",
    operator:
      "Accept tokens of the authorization server that the metadata names: " +
      "check their audience, their issuer and the clock.",
    client:
      'With this library: `bearer: "id_token"`, if the resource wants the ' +
      "ID token.",
    find(facts) {
      const { error, error_description: why } = challengeOf(facts) ?? {};
      return facts.signIn?.call?.response?.status === 401
        ? {
          message: "The resource refuses the token that was just issued" +
            (error
              ? `: ${shown([error, why].filter(Boolean).join(": "), 200)}`
              : "") +
            ".",
          at: "call",
        }
        : undefined;
    },
  },
  {
    id: "call_forbidden",
    standard: "RFC 6750, section 3.1; RFC 9470, section 3",
    operator:
      "Name the required scopes in the challenge of the 403, or grant " +
      "them at the sign-in.",
    client: "This library signs in for the scopes that the challenge names.",
    find(facts) {
      const { error, scope } = challengeOf(facts) ?? {};
      return facts.signIn?.call?.response?.status === 403
        ? {
          message: "The resource responds to the token with status 403" +
            (error ? `, ${shown(error, 60)}` : ", and without a reason") +
            (scope ? `: it requires ${shown(scope, 120)}` : "") + ".",
          at: "call",
          severity: scope ? "warning" : "error",
        }
        : undefined;
    },
  },
  {
    id: "call_failed",
    severity: "error",
    standard: "RFC 9110, section 15.6",
    operator: "Look for the reason in the log of the resource.",
    find({ signIn }) {
      const { status = 0 } = signIn?.call?.response ?? {};
      return status >= 500
        ? {
          message: `With the token, the status of the resource is ${status}.`,
          at: "call",
        }
        : undefined;
    },
  },
  {
    id: "refresh_failed",
    severity: "error",
    standard: "RFC 6749, section 6",
    operator:
      "Accept each refresh token that was issued, from the same client.",
    client: "The user signs in again whenever the token expires.",
    find({ signIn }) {
      const { error } = signIn?.refresh ?? {};
      return error && {
        message: `The first refresh failed. ${sentence(error)}`,
        at: "refresh",
      };
    },
  },
  {
    id: "refresh_token_not_rotated",
    standard: "RFC 9700, section 2.2.2; OAuth 2.1, section 4.3.1",
    operator:
      "Issue a new refresh token with each refresh of a public client, " +
      "or bind the tokens to a key.",
    client: "With this library: `dpop`, where the server supports it.",
    find(facts) {
      const { session, refresh, hasDpop } = facts.signIn ?? {};
      const token = refresh?.session?.token.refresh_token;
      return token && token === session?.token.refresh_token &&
          isPublic(facts) && !hasDpop
        ? {
          message:
            "A public client keeps its refresh token: a stolen one stays " +
            "valid.",
          at: "refresh",
        }
        : undefined;
    },
  },
  {
    id: "refresh_scope_narrowed",
    standard: "RFC 6749, section 6",
    operator: "Grant in a refresh all scopes of the sign-in.",
    client: "With this library: `refreshScope: true`.",
    find({ signIn }) {
      const before = scopesFrom(signIn?.session?.token.scope);
      const { scope } = signIn?.refresh?.session?.token ?? {};
      const missing = withheldScopes(before, scope);
      return missing.length > 0
        ? {
          message: `The refreshed token is without ${list(missing)}.`,
          at: "refresh",
        }
        : undefined;
    },
  },
  {
    id: "old_refresh_token_accepted",
    severity: "info",
    standard: "RFC 9700, section 4.14.2",
    operator:
      "Refuse a refresh token that was replaced, after a few seconds in " +
      "which a client may repeat a lost request.",
    find: ({ signIn }) =>
      signIn?.oldRefresh && !signIn.oldRefresh.error
        ? {
          message: "The refresh token that was replaced is accepted once more.",
          at: "old_refresh",
        }
        : undefined,
  },
  {
    id: "dead_refresh_token_error",
    standard: "RFC 6749, section 5.2",
    operator:
      "Respond to a refresh token that is not valid with status 400 and " +
      "`invalid_grant`.",
    client:
      "This library has the user sign in after 500 with `server_error`; " +
      "other responses look as if the server were out of order.",
    find({ signIn }) {
      const outcome = [signIn?.oldRefresh, signIn?.deadRefresh].find((one) =>
        one?.error && !isInvalidGrant(one.error)
      );
      const { error } = outcome ?? {};
      return error && {
        message: `The response to a refresh token that is not valid is ${
          error.status === undefined ? "missing" : `status ${error.status}`
        }${error.error ? ` with ${shown(error.error, 60)}` : ""}.`,
        at: outcome === signIn?.oldRefresh ? "old_refresh" : "dead_refresh",
      };
    },
  },
  {
    id: "revocation_missing",
    severity: "info",
    standard: "RFC 7009, section 2; RFC 8414, section 2",
    operator: "Offer a `revocation_endpoint`, so that users can sign out.",
    client: "The tokens of this diagnosis stay valid until they expire.",
    find({ signIn, serverDocuments }) {
      return signIn?.revocation?.error?.code === "unsupported"
        ? {
          message: "The server has no revocation endpoint.",
          url: serverDocuments.find(({ metadata }) => metadata)?.url ??
            signIn.context.issuer,
        }
        : undefined;
    },
  },
  {
    id: "revocation_failed",
    standard: "RFC 7009, section 2.2",
    operator: "Respond to a revocation with status 200.",
    client: "The tokens of this diagnosis may stay valid until they expire.",
    find({ signIn }) {
      const { error } = signIn?.revocation ?? {};
      return error && error.code !== "unsupported"
        ? { message: sentence(error), at: "revocation" }
        : undefined;
    },
  },
  {
    id: "revocation_without_effect",
    standard: "RFC 7009, sections 2.1 and 2.2",
    operator: "Refuse a refresh token once it is revoked.",
    find: ({ signIn }) =>
      signIn && isStillValid(signIn)
        ? {
          message: "The refresh token is still accepted after its revocation.",
          at: "dead_refresh",
        }
        : undefined,
  },
  {
    id: "sign_in_failed",
    severity: "error",
    standard: "RFC 6749, section 4",
    operator: "Look for the reason in the log of the server.",
    isFallback: true,
    find({ signIn }) {
      const { failure } = signIn ?? {};
      return failure && failure.error.error !== "access_denied" &&
          failure.step !== "authorization"
        ? { message: sentence(failure.error), at: failure.step }
        : undefined;
    },
  },
];
