/** Findings about the challenge of the resource. */

import { stringsIn } from "../core/_members.ts";
import { scopesFrom } from "../core/_scope_values.ts";
import { resourceMetadataUrls } from "../discovery/metadata_urls.ts";
import { type IFacts, isBlocked, list, ODD_SCOPES, shown } from "./_facts.ts";
import { challengeProblem } from "./_challenge_grammar.ts";
import type { IRule } from "./_rules.ts";

const is401 = (facts: IFacts) => facts.probe.response?.status === 401;

/** Returns the scopes that the server lists; undefined if it lists none. */
function listed(facts: IFacts): ReadonlySet<string> | undefined {
  const { scopes_supported: scopes } = facts.server ?? {};
  return stringsIn(scopes)?.length ? new Set(scopesFrom(scopes)) : undefined;
}

/** Checks whether the metadata of the resource was read, or is known to be absent. */
function wasRead({ resourceDocuments }: IFacts): boolean {
  return resourceDocuments.some(({ metadata }) => metadata) ||
    (resourceDocuments.length > 0 &&
      resourceDocuments.every(({ error }) =>
        [404, 405, 410].includes(error?.status ?? 0)
      ));
}

/** The findings about the challenge. */
export const CHALLENGE_RULES: readonly IRule[] = [
  {
    id: "no_challenge",
    standard: "RFC 9110, section 15.5.2; RFC 6750, section 3",
    operator:
      'Send `WWW-Authenticate: Bearer resource_metadata="..."` with the 401.',
    client: "This library requests the well-known URLs instead.",
    find: (facts) =>
      is401(facts) && facts.challengeHeader === ""
        ? {
          message: "The 401 has no `WWW-Authenticate` header field.",
          url: facts.target.href,
        }
        : undefined,
  },
  {
    id: "challenge_other_scheme",
    standard: "RFC 6750, section 3; RFC 9449, section 7.1",
    operator: "Add a Bearer challenge.",
    client: "This library requests the well-known URLs instead.",
    find: ({ challengeHeader, challenges, target }) =>
      challengeHeader !== "" && challenges.length === 0
        ? {
          message: "`WWW-Authenticate` has neither a Bearer nor a DPoP " +
            `challenge: "${shown(challengeHeader)}".`,
          url: target.href,
        }
        : undefined,
  },
  {
    id: "challenge_malformed",
    standard: "RFC 9110, section 11.6.1",
    operator: "Put parameter values in quotes, with commas between parameters.",
    client: "This library reads it; other clients may not.",
    find({ challengeHeader, target }) {
      const problem = challengeProblem(challengeHeader);
      return problem === undefined ? undefined : {
        message: `\`WWW-Authenticate\` is malformed: ${shown(problem)}.`,
        url: target.href,
      };
    },
  },
  {
    id: "several_challenges",
    severity: "info",
    standard: "RFC 9110, section 11.6.1",
    operator: "Send the Bearer challenge with `resource_metadata` first.",
    client: "This library uses the first with `resource_metadata`.",
    find: ({ challenges, target }) =>
      challenges.length > 1
        ? {
          message: `There are ${challenges.length} challenges (${
            list(challenges.map(({ scheme }) => scheme))
          }), of which some clients read the first.`,
          url: target.href,
        }
        : undefined,
  },
  {
    id: "challenge_without_metadata_url",
    severity: "info",
    standard: "RFC 9728, section 5.1",
    operator: "Add `resource_metadata` to the challenge.",
    client: "This library requests the well-known URLs instead.",
    find: ({ challenges, challenge, target }) =>
      challenges.length > 0 && !challenge?.params.resource_metadata
        ? {
          message: "The challenge has no `resource_metadata`.",
          url: target.href,
        }
        : undefined,
  },
  {
    id: "challenge_error_code",
    severity: "info",
    standard: "RFC 6750, section 3.1",
    operator: "Leave `error` out if the request has no token.",
    find({ challenge, target, options }) {
      const { error } = challenge?.params ?? {};
      const hasToken = Object.keys(options.headers ?? {})
        .some((name) => /^authorization$/i.test(name));
      return error !== undefined && !hasToken
        ? {
          message:
            `The challenge has the error "${shown(error, 40)}", although ` +
            "no token was sent.",
          url: target.href,
        }
        : undefined;
    },
  },
  {
    id: "challenge_scope_malformed",
    standard: "RFC 6749, section 3.3; RFC 6750, section 3",
    operator: "Separate scope values by one space each, without commas.",
    client: "This library leaves out values that cannot be requested.",
    find({ challenge, target }) {
      const { scope } = challenge?.params ?? {};
      const isMalformed = scope !== undefined &&
        (/,/.test(scope) || scopesFrom(scope).join(" ") !== scope);
      return isMalformed
        ? {
          message: `The scope of the challenge is malformed: "${
            shown(scope, 60)
          }".`,
          url: target.href,
        }
        : undefined;
    },
  },
  {
    id: "scope_not_listed",
    standard: "RFC 8414, section 2; RFC 9728, section 2",
    operator: "List every scope of the challenge in `scopes_supported`.",
    client: "With this library: `scopes`, set to those that the server lists.",
    find(facts) {
      const { challenge, resource } = facts;
      const known = listed(facts);
      const wanted = challenge?.params.scope === undefined
        // Odd scopes of a resource are a finding of their own.
        ? scopesFrom(resource?.scopes_supported)
          .filter((scope) => !ODD_SCOPES.includes(scope))
        : scopesFrom(challenge.params.scope);
      const missing = wanted.filter((scope) => !(known?.has(scope) ?? true));
      return missing.length > 0
        ? {
          message: `The authorization server does not list ${
            missing.length === 1 ? "the scope" : "the scopes"
          } ${list(missing)}, which the resource requires.`,
          url: facts.target.href,
        }
        : undefined;
    },
  },
  {
    id: "no_scopes",
    severity: "info",
    standard: "RFC 6749, section 3.3; RFC 9728, section 2",
    operator: "Name scopes in the challenge or in `scopes_supported`.",
    client: "With this library: `scopes`, if the server refuses a request " +
      "without any.",
    find(facts) {
      const { context, challenge, resource, target } = facts;
      const isUnnamed = context?.serverMetadataUrl && !context.scopes &&
        is401(facts) && !challenge?.params.scope &&
        // An empty list has a finding of its own.
        resource?.scopes_supported === undefined && wasRead(facts);
      if (!isUnnamed) return undefined;
      const known = listed(facts);
      return {
        message:
          "Neither the challenge nor the metadata of the resource names " +
          "a scope" +
          (known
            ? `, so a client requests none of those that the server lists: ${
              list([...known])
            }.`
            : "."),
        url: target.href,
      };
    },
  },
  {
    id: "challenge_for_post_only",
    severity: "info",
    standard: "RFC 9728, section 5.1; RFC 6750, section 3",
    operator: "Send the challenge with the response to `GET` as well.",
    client:
      "With this library: the first call starts the sign-in; `authorize()` " +
      "before it looks for the challenge by GET.",
    find({ probe, challenge, context, target }) {
      const { scope, resource_metadata: url } = challenge?.params ?? {};
      const isLost = scope !== undefined ||
        (url !== undefined && context?.source === "resource_metadata" &&
          !resourceMetadataUrls(target).includes(url));
      return probe.method === "POST" && isLost
        ? {
          message: "Only a POST receives the challenge, which has more than " +
            "the well-known URLs.",
          url: target.href,
        }
        : undefined;
    },
  },
  {
    id: "discovery_failed",
    isFallback: true,
    severity: "error",
    standard: "RFC 9728, section 5; RFC 8414, section 3",
    operator: "See the requests for what each URL returned.",
    client: "With this library: `authorizationServer`, if it is known.",
    find: (facts) =>
      isBlocked(facts)
        ? { message: shown(facts.failure?.message, 300) }
        : undefined,
  },
];
