/** From a 401 to the metadata of the authorization server. */
import {
  discoverAuthorization,
  fetchAuthorizationServerMetadata,
  fetchResourceMetadata,
  getDefaultMetadataForUrl,
  type IAuthorizationServerMetadata,
  parseWWWAuthenticateHeader,
} from "../../mod.ts";
import { type IStep, type IWalk, limitedFetch, need } from "./walk.ts";

const askWithoutToken: IStep = {
  name: "unauthorized",
  expected: "401 with WWW-Authenticate",
  optional: true,
  asked: ({ target }) => `GET ${target}`,
  async run(walk) {
    const { status, statusText, headers, body } = await limitedFetch(
      walk.target,
      // What an MCP server wants to read before it looks any further.
      { headers: { Accept: "application/json, text/event-stream" } },
    );
    await body?.cancel();
    walk.header = headers.get("WWW-Authenticate") ?? undefined;
    const named = walk.header === undefined ? "without" : "with";
    return {
      answer: `${`${status} ${statusText}`.trim()} ${named} WWW-Authenticate`,
      status,
      ok: status === 401 && walk.header !== undefined,
    };
  },
};

const readChallenge: IStep = {
  name: "challenge",
  expected: "resource_metadata",
  optional: true,
  asked: () => "What the WWW-Authenticate header says",
  run(walk) {
    if (walk.header === undefined) {
      return { answer: "nothing, for there is none", ok: false };
    }
    const challenges = parseWWWAuthenticateHeader(walk.header);
    // A server may offer other ways in as well, such as Negotiate.
    walk.challenge =
      challenges.find(({ params }) => params.resource_metadata) ??
        challenges[0];
    if (!walk.challenge) return { answer: "no challenge in it", ok: false };
    const { scheme, params } = walk.challenge;
    walk.scopes = params.scope?.split(" ").filter(Boolean) ?? [];
    return {
      answer: `${scheme} challenge with ${
        Object.keys(params).join(", ") || "no parameters"
      }`,
      ok: Boolean(params.resource_metadata),
      details: params,
    };
  },
};

const findResourceMetadata: IStep = {
  name: "resource_metadata",
  expected: "200 and JSON about this resource",
  optional: true,
  asked: ({ target }) => `Metadata of resource ${target}`,
  async run(walk) {
    const { metadata, discoveryUrl, errors } = await fetchResourceMetadata(
      walk.target,
      walk.challenge?.params.resource_metadata,
    );
    const { authorization_servers, scopes_supported = [] } = metadata;
    // The library leaves this member unchecked, and it comes from a stranger.
    const issuers = [authorization_servers ?? []].flat();
    walk.issuer = issuers.find((issuer) => typeof issuer === "string");
    if (walk.scopes.length === 0) {
      walk.scopes = scopes_supported.filter((one) => typeof one === "string");
    }
    return {
      answer: walk.issuer === undefined
        ? "found, names no authorization server"
        : `names authorization server ${walk.issuer}`,
      details: {
        found_at: discoveryUrl,
        ...(issuers.length > 1 && {
          also_names: `${issuers.length - 1} more authorization servers`,
        }),
      },
      failures: errors,
    };
  },
};

/** The metadata of both, by one function. */
const discover: IStep = {
  name: "discovery",
  expected: "200 and JSON that names the resource or the issuer",
  asked: () => "Who gives tokens for it",
  async run(walk) {
    const { attempts, ...context } = await discoverAuthorization(walk.target, {
      challenge: need(walk.header, "a challenge"),
    });
    const failures = attempts.flatMap(({ error }) => error ?? []);
    walk.issuer = context.issuer;
    walk.server = context.serverMetadata;
    walk.resource = context.resource;
    walk.scopes = context.scopes ?? [];
    return {
      answer: `${context.issuer} after ${failures.length} failed attempts`,
      details: {
        resource: context.resource,
        named_by: context.source,
        found_at: context.serverMetadataUrl ?? "nowhere",
        ...describeEndpoints(context.serverMetadata),
      },
      failures,
    };
  },
};

/** Whether two identifiers are equal, but for the slash of an empty path. */
export function isSameUrl(a: string, b: string): boolean {
  return URL.canParse(a) && new URL(a).href === new URL(b).href;
}

function originOf({ target }: IWalk): string {
  return new URL(target).origin;
}

function describeEndpoints(
  { token_endpoint = "none", ...others }: IAuthorizationServerMetadata,
): Record<string, string> {
  const endpoints = Object.keys(others)
    .filter((member) => member.endsWith("_endpoint"))
    .map((member) => member.replace("_endpoint", ""));
  return {
    token_endpoint,
    other_endpoints: endpoints.join(", ") || "none",
  };
}

const findServerMetadata: IStep = {
  name: "server_metadata",
  expected: "200 and JSON with an issuer",
  asked: (walk) =>
    walk.issuer === undefined
      ? `Metadata of its own origin ${originOf(walk)}`
      : `Metadata of server ${walk.issuer}`,
  async run(walk) {
    // Before there was metadata of resources, a resource and its authorization
    // server shared an origin (Model Context Protocol 2025-03-26).
    walk.issuer ??= originOf(walk);
    const { metadata, discoveryUrl, errors } =
      await fetchAuthorizationServerMetadata(walk.issuer);
    walk.server = metadata;
    return {
      answer: errors.length === 0
        ? "found at the first address"
        : `found after ${errors.length} failed attempts`,
      details: {
        found_at: discoveryUrl,
        ...describeEndpoints(metadata),
        // The library leaves this to its caller.
        ...(!isSameUrl(metadata.issuer, walk.issuer) && {
          beware:
            `this is the metadata of another issuer, ${metadata.issuer}; ` +
            "RFC 8414, section 3.3, forbids to use it",
        }),
      },
      failures: errors,
    };
  },
};

/** How a client does it: strictly, and in one call. */
export const strictDiscovery: readonly IStep[] = [
  askWithoutToken,
  readChallenge,
  discover,
];

/**
 * How to look into a server of others: step by step, and with what a client
 * would not take. Asks nothing of anybody but public documents.
 */
export const discovery: readonly IStep[] = [
  askWithoutToken,
  readChallenge,
  findResourceMetadata,
  findServerMetadata,
];

/** The last resort of a client whose server publishes nothing. */
export const guessServerMetadata: IStep = {
  name: "default_metadata",
  expected: "a document that confirms it",
  asked: () => "Last resort: assume the customary endpoints",
  run(walk) {
    const issuer = new URL(need(walk.issuer, "an issuer"));
    return {
      answer: "only a guess, not tried",
      ok: false,
      details: Object.fromEntries(
        Object.entries(getDefaultMetadataForUrl(issuer))
          .filter(([member]) => member.endsWith("_endpoint")),
      ),
    };
  },
};
