/** Findings about the registration of a client. */

import { stringMember, stringsIn } from "../core/_members.ts";
import { SECRET_METHODS } from "../client/_authentication_methods.ts";
import { type IFacts, list } from "./_facts.ts";
import { type IRule, withheldScopes } from "./_rules.ts";
import { responseMembersOf, sentMembersOf } from "./_sign_in_steps.ts";

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

const methodIn = (members: Record<string, unknown>) =>
  stringMember(members, "token_endpoint_auth_method");

/** The findings about the registration of a client. */
export const REGISTRATION_RULES: readonly IRule[] = [
  {
    id: "registration_without_secret",
    severity: "error",
    standard: "RFC 7591, section 3.2.1",
    operator: "Return a `client_secret` with each method that needs one, or " +
      "register the method `none` that was requested.",
    client: "With this library: `client`, set to one that the operator has " +
      "registered.",
    find(facts) {
      const { received } = registeredIn(facts) ?? {};
      const method = received && methodIn(received);
      if (
        !method || !SECRET_METHODS.includes(method) ||
        stringMember(received, "client_secret")
      ) {
        return undefined;
      }
      const isUseless = facts.registration?.error?.code === "unsupported";
      return {
        message: `The server has registered the method ${method}, and no ` +
          "secret for it.",
        at: "registration",
        ...(isUseless ? { options: [{ name: "client" }] } : {
          severity: "warning",
          client: "This library sends no credentials, as it has requested.",
        }),
      };
    },
  },
  {
    id: "registration_secret_unrequested",
    severity: "info",
    standard: "RFC 7591, section 3.2.1; RFC 8252, section 8.5",
    operator:
      "Register the method `none` for a native client that requests it.",
    client: "This library uses the secret.",
    find(facts) {
      const { sent = {}, received = {} } = registeredIn(facts) ?? {};
      return methodIn(sent) === "none" && methodIn(received) !== "none" &&
          stringMember(received, "client_secret")
        ? {
          message:
            "The server has registered a secret for a client without one.",
          at: "registration",
        }
        : undefined;
    },
  },
  {
    id: "registration_scope_refused",
    standard: "RFC 7591, sections 2 and 3.2.2",
    operator: "Accept a `scope` of the scopes that the metadata lists, or " +
      "ignore it.",
    client: "This library registers without `scope` next.",
    find(facts) {
      const [first, second] = attemptsOf(facts);
      return first && second && first.status >= 400 && second.status < 300 &&
          first.sent.scope !== undefined && second.sent.scope === undefined
        ? {
          message:
            "The server refuses a registration with scopes that it lists.",
          at: first.exchange,
        }
        : undefined;
    },
  },
  {
    id: "registration_scope_narrowed",
    standard: "RFC 7591, section 3.2.1",
    operator: "Register the scopes that clients of this resource request.",
    client: "With this library: `scopes`, set to those that were registered.",
    find(facts) {
      const { received } = registeredIn(facts) ?? {};
      const wanted = facts.signIn?.requestedScopes ?? facts.context?.scopes ??
        [];
      const missing = withheldScopes(wanted, received?.scope);
      return missing.length > 0
        ? {
          message: `The client is registered without ${
            list(missing)
          }, which it will request.`,
          at: "registration",
        }
        : undefined;
    },
  },
  {
    id: "refresh_grant_not_registered",
    standard: "RFC 7591, sections 2 and 3.2.1",
    operator: "Register the grant type `refresh_token` where it is requested.",
    client: "The user signs in again whenever the token expires.",
    find(facts) {
      const { sent = {}, received = {} } = registeredIn(facts) ?? {};
      const grants = stringsIn(received.grant_types);
      return grants && !grants.includes("refresh_token") &&
          stringsIn(sent.grant_types)?.includes("refresh_token")
        ? {
          message: `The client is registered without the grant type ` +
            `refresh_token, for ${list(grants) || "none"} alone.`,
          at: "registration",
        }
        : undefined;
    },
  },
];
