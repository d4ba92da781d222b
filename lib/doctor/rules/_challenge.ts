import { stringsIn } from "../../core/_members.ts";
import { scopesFrom } from "../../core/_scope_values.ts";
import { resourceMetadataUrls } from "../../discovery/metadata_urls.ts";
import { hiddenParts, isAllowed, webPagesOf } from "../_cors.ts";
import {
  acceptedOf,
  type Facts,
  list,
  membersOf,
  NOT_FOUND,
  sentence,
  shown,
} from "../_facts.ts";
import type { Rule } from "./_rule.ts";
import { needsDpop } from "../sign_in/_steps.ts";

/** Returns undefined if the server lists no scopes. */
function listed({ server }: Facts): ReadonlySet<string> | undefined {
  const { scopes_supported: scopes } = server ?? {};
  return stringsIn(scopes)?.length ? new Set(scopesFrom(scopes)) : undefined;
}

/** Checks whether the resource's metadata was read, or is known to be absent. */
function wasRead({ resourceDocuments }: Facts): boolean {
  return resourceDocuments.length > 0 &&
    (acceptedOf(resourceDocuments) !== undefined ||
      resourceDocuments.every(({ error }) =>
        NOT_FOUND.includes(error?.status ?? 0)
      ));
}

export const CHALLENGE_RULES: readonly Rule[] = [
  {
    id: "no_challenge", // Plaid, row 7
    standard: "RFC 9110, section 15.5.2; RFC 6750, section 3",
    operator:
      'Send `WWW-Authenticate: Bearer resource_metadata="..."` with the 401.',
    client: "This library requests the well-known URLs instead.",
    about: "resource",
    find({ probe, challengeHeader, challenges }) {
      if (challenges.length > 0) return undefined;
      if (challengeHeader !== "") {
        return "`WWW-Authenticate` has neither a Bearer nor a DPoP " +
          `challenge: "${shown(challengeHeader)}".`;
      }
      return probe.response?.status === 401 &&
        "The 401 has no `WWW-Authenticate` header field.";
    },
  },
  {
    id: "challenge_for_post_only", // row 79
    severity: "info",
    standard: "RFC 9728, section 5.1; RFC 6750, section 3",
    operator: "Send the challenge with the response to `GET` as well.",
    client: "This library starts the sign-in at the first call. An earlier " +
      "sign-in looks for the challenge by GET.",
    about: "resource",
    find({ probe, challenge, context, target }) {
      const { scope, resource_metadata: url } = challenge?.params ?? {};
      const isLost = scope !== undefined ||
        (url !== undefined && context?.source === "resource_metadata" &&
          !resourceMetadataUrls(target).includes(url));
      return probe.method === "POST" && isLost &&
        "Only a POST receives the challenge, which has more than the " +
          "well-known URLs.";
    },
  },
  {
    id: "scope_not_listed", // MCP SDK up to 1.21, Salesforce
    standard: "RFC 8414, section 2; RFC 9728, section 2",
    operator: "List every scope of the challenge in `scopes_supported`.",
    hints: [{
      option: "scopes",
      text: "set scopes to ones that the server lists",
    }],
    about: "resource",
    find(facts) {
      const { challenge, resource } = facts;
      const known = listed(facts);
      const wanted = scopesFrom(
        challenge?.params.scope ?? resource?.scopes_supported,
      );
      const missing = wanted.filter((scope) => !(known?.has(scope) ?? true));
      return missing.length > 0 &&
        `The authorization server does not list ${
          missing.length === 1 ? "the scope" : "the scopes"
        } ${list(missing)}, which the resource requires.`;
    },
  },
  {
    id: "no_scopes", // Slack
    severity: "info",
    standard: "RFC 6749, section 3.3; RFC 9728, section 2",
    operator: "List scopes in the challenge or in `scopes_supported`.",
    hints: [{
      option: "scopes",
      text: "set scopes if the server rejects a request without any",
    }],
    about: "resource",
    find(facts) {
      const { context, challenge, probe } = facts;
      const isUnnamed = context?.serverMetadataUrl && !context.scopes &&
        probe.response?.status === 401 && !challenge?.params.scope &&
        wasRead(facts);
      if (!isUnnamed) return undefined;
      const known = listed(facts);
      return "Neither the challenge nor the metadata of the resource lists " +
        "a scope" +
        (known
          ? ", so a client requests none of the scopes that the server lists: " +
            `${list([...known])}.`
          : ".");
    },
  },
  {
    id: "dpop_required", // atproto
    severity: "info",
    standard: "RFC 9728, section 2; RFC 9449, section 7",
    operator: "Nothing, if all clients support DPoP.",
    hints: [{ option: "dpop", text: "set dpop: await createDpop()" }],
    shows: ["dpop_bound_access_tokens_required"],
    find({ resource, resourceDocuments, challenges, target, signIn }) {
      const options = [{ name: "dpop" as const }];
      const { failure } = signIn ?? {};
      if (failure && needsDpop(signIn)) {
        return {
          message: "The authorization server requires DPoP: " +
            `${sentence(failure.error)}`,
          at: failure.step,
          severity: "error",
          shows: ["error"],
          options,
        };
      }
      const isPublished = resource?.dpop_bound_access_tokens_required === true;
      const isOnly = challenges.length > 0 &&
        challenges.every(({ scheme }) => /^dpop$/i.test(scheme));
      const { url = "" } = resourceDocuments.find(membersOf) ?? {};
      return (isPublished || isOnly) && {
        message: "The resource requires DPoP-bound tokens.",
        url: isPublished ? url : target.href,
        options,
      };
    },
  },
  {
    id: "cors", // windmill
    severity: "info",
    standard: "Fetch Standard, section 3.3; RFC 9728, section 3.1",
    operator: "Send `Access-Control-Allow-Origin` there, and expose " +
      "`WWW-Authenticate` at the resource.",
    client: "Web pages need a proxy. Other clients are not affected.",
    find(facts) {
      const { corsProbes, probe, exchanges } = facts;
      const parts = hiddenParts(facts) ?? [];
      const isLifted = webPagesOf(facts) === "with_client";
      const url = corsProbes.find((one) => !isAllowed(one))?.url;
      const at = exchanges.filter((one) =>
        one.name === "cors" && one.url === url
      ).at(-1);
      return parts.length > 0 && {
        message: `A web page cannot use ${parts.join(", ")}` +
          (isLifted ? ", so it needs a client id." : "."),
        ...(isLifted && {
          client: "A page needs the `issuer` and the `client_id` of a client " +
            "that the operator has registered for it.",
        }),
        url: url ?? probe.url,
        ...(at && { at }),
      };
    },
  },
];
