/** Findings about what a client requests: scopes, and requests of web pages. */

import { stringsIn } from "../core/_members.ts";
import { scopesFrom } from "../core/_scope_values.ts";
import { isAllowed } from "./_cors.ts";
import {
  type ICorsProbe,
  type IProbe,
  list,
  membersOf,
  ODD_SCOPES,
  sentence,
} from "./_facts.ts";
import type { IRule } from "./_rules.ts";
import { needsDpop } from "./_sign_in_failure.ts";

const MANY_SCOPES = 30;

/** What a web page requests, in order, and how it is named. */
const PARTS: readonly [part: ICorsProbe["part"], name: string][] = [
  ["metadata", "the metadata"],
  ["resource", "the resource"],
  ["token", "the token endpoint"],
  ["registration", "the registration endpoint"],
];

/** Checks whether a web page may request the resource, and not read its challenge. */
function hidesChallenge(
  { response }: IProbe,
  probes: readonly ICorsProbe[],
): boolean {
  const { headers } = response ?? {};
  const exposed = headers?.get("Access-Control-Expose-Headers") ?? "";
  return probes.some((one) => one.part === "resource" && isAllowed(one)) &&
    Boolean(headers?.get("Access-Control-Allow-Origin")) &&
    !/\bwww-authenticate\b|\*/i.test(exposed);
}

/** The findings about scopes, DPoP and web pages. */
export const CLIENT_RULES: readonly IRule[] = [
  {
    id: "dpop_required",
    severity: "info",
    standard: "RFC 9728, section 2; RFC 9449, section 7",
    operator: "Nothing, if all clients support DPoP.",
    client: "With this library: `dpop: await createDpop()`.",
    find({ resource, resourceDocuments, challenges, target, signIn }) {
      const { failure } = signIn ?? {};
      if (failure && needsDpop(signIn)) {
        return {
          message: "The authorization server requires DPoP: " +
            `${sentence(failure.error)}`,
          at: failure.step,
          severity: "error",
          options: [{ name: "dpop" }],
        };
      }
      const isPublished = resource?.dpop_bound_access_tokens_required === true;
      const isOnly = challenges.length > 0 &&
        challenges.every(({ scheme }) => /^dpop$/i.test(scheme));
      const { url = "" } = resourceDocuments.find(membersOf) ?? {};
      return isPublished || isOnly
        ? {
          message: "The resource requires DPoP-bound tokens.",
          url: isPublished ? url : target.href,
          options: [{ name: "dpop" }],
        }
        : undefined;
    },
  },
  {
    id: "header_method_not_listed",
    standard: "RFC 9728, section 2; RFC 6750, section 2.1",
    operator: "Accept tokens in the `Authorization` header field, and list it.",
    find({ resource, resourceDocuments }) {
      const methods = stringsIn(resource?.bearer_methods_supported);
      return methods?.length && !methods.includes("header")
        ? {
          message: `The resource lists no bearer method header, but ${
            list(methods)
          }.`,
          url: resourceDocuments.find(membersOf)?.url ?? "",
        }
        : undefined;
    },
  },
  {
    id: "many_scopes",
    standard: "RFC 9728, section 2; RFC 9700, section 2.3",
    operator: "Name the scopes of the first call in the challenge.",
    client: "With this library: `scopes`.",
    find({ context, target }) {
      const { length } = context?.scopes ?? [];
      return length > MANY_SCOPES
        ? {
          message: `A client would request all ${length} scopes.`,
          url: target.href,
        }
        : undefined;
    },
  },
  {
    id: "odd_scopes",
    standard: "RFC 9728, section 2; OpenID Connect Core 1.0, section 11",
    operator: "List scopes of the resource only.",
    client: "With this library: `scopes`.",
    find({ resource, resourceDocuments }) {
      const odd = scopesFrom(resource?.scopes_supported)
        .filter((scope) => ODD_SCOPES.includes(scope));
      return odd.length > 0
        ? {
          message: `The resource lists ${list(odd)} among its scopes.`,
          url: resourceDocuments.find(membersOf)?.url ?? "",
        }
        : undefined;
    },
  },
  {
    id: "cors",
    severity: "info",
    standard: "Fetch Standard, section 3.3; RFC 9728, section 3.1",
    operator: "Send `Access-Control-Allow-Origin` there, and expose " +
      "`WWW-Authenticate` at the resource.",
    client: "Web pages need a proxy; other clients are not concerned.",
    find({ corsProbes, probe }) {
      const refused = corsProbes.filter((one) => !isAllowed(one));
      const parts = PARTS.filter(([part]) =>
        refused.some((one) => one.part === part)
      ).map(([, name]) => name);
      if (hidesChallenge(probe, corsProbes)) {
        parts.push("the challenge of the resource");
      }
      return parts.length > 0
        ? {
          message: `A web page cannot use ${parts.join(", ")}.`,
          url: refused[0]?.url ?? probe.url,
        }
        : undefined;
    },
  },
];
