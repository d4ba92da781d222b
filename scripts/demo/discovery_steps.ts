/** The steps from a 401 to the metadata of the authorization server. */
import {
  discoverAuthorization,
  fetchAuthorizationServerMetadata,
  fetchResourceMetadata,
  getDefaultMetadataForUrl,
  type IAuthorizationServerMetadata,
  parseWWWAuthenticateHeader,
} from "../../mod.ts";
import { type IProgress, type IStep, limitedFetch, need } from "./steps.ts";

const requestWithoutToken: IStep = {
  name: "unauthorized",
  expected: "401 with WWW-Authenticate",
  optional: true,
  action: ({ target }) => `GET ${target}`,
  async run(progress) {
    const { status, statusText, headers, body } = await limitedFetch(
      progress.target,
      // MCP servers require this header.
      { headers: { Accept: "application/json, text/event-stream" } },
    );
    await body?.cancel();
    progress.header = headers.get("WWW-Authenticate") ?? undefined;
    const named = progress.header === undefined ? "without" : "with";
    return {
      result: `${`${status} ${statusText}`.trim()} ${named} WWW-Authenticate`,
      status,
      ok: status === 401 && progress.header !== undefined,
    };
  },
};

const readChallenge: IStep = {
  name: "challenge",
  expected: "resource_metadata",
  optional: true,
  action: () => "Parse the WWW-Authenticate header",
  run(progress) {
    if (progress.header === undefined) {
      return { result: "there is no such header", ok: false };
    }
    const challenges = parseWWWAuthenticateHeader(progress.header);
    // A server may offer other schemes too, such as Negotiate.
    progress.challenge =
      challenges.find(({ params }) => params.resource_metadata) ??
        challenges[0];
    if (!progress.challenge) {
      return { result: "it contains no challenge", ok: false };
    }
    const { scheme, params } = progress.challenge;
    progress.scopes = params.scope?.split(" ").filter(Boolean) ?? [];
    return {
      result: `${scheme} challenge with ${
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
  action: ({ target }) => `Metadata of resource ${target}`,
  async run(progress) {
    const { metadata, discoveryUrl, errors } = await fetchResourceMetadata(
      progress.target,
      progress.challenge?.params.resource_metadata,
    );
    const { authorization_servers, scopes_supported = [] } = metadata;
    // The library does not check this member.
    const issuers = [authorization_servers ?? []].flat();
    progress.issuer = issuers.find((issuer) => typeof issuer === "string");
    if (progress.scopes.length === 0) {
      progress.scopes = scopes_supported.filter((one) =>
        typeof one === "string"
      );
    }
    return {
      result: progress.issuer === undefined
        ? "found, names no authorization server"
        : `names authorization server ${progress.issuer}`,
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

/** Fetches both metadata documents with one function. */
const discover: IStep = {
  name: "discovery",
  expected: "200 and JSON that names the resource or the issuer",
  action: () => "Find its authorization server",
  async run(progress) {
    const { attempts, ...context } = await discoverAuthorization(
      progress.target,
      {
        challenge: need(progress.header, "a challenge"),
      },
    );
    const failures = attempts.flatMap(({ error }) => error ?? []);
    progress.issuer = context.issuer;
    progress.server = context.serverMetadata;
    progress.resource = context.resource;
    progress.scopes = context.scopes ?? [];
    return {
      result: `${context.issuer} after ${failures.length} failed attempts`,
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

/** Checks whether two identifiers are equal, except for the slash of an empty path. */
export function isSameUrl(a: string, b: string): boolean {
  return URL.canParse(a) && new URL(a).href === new URL(b).href;
}

function originOf({ target }: IProgress): string {
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
  action: (progress) =>
    progress.issuer === undefined
      ? `Metadata of its own origin ${originOf(progress)}`
      : `Metadata of server ${progress.issuer}`,
  async run(progress) {
    // Without metadata of the resource, its authorization server has the same origin
    // (Model Context Protocol 2025-03-26).
    progress.issuer ??= originOf(progress);
    const { metadata, discoveryUrl, errors } =
      await fetchAuthorizationServerMetadata(progress.issuer);
    progress.server = metadata;
    return {
      result: errors.length === 0
        ? "found at the first URL"
        : `found after ${errors.length} failed attempts`,
      details: {
        found_at: discoveryUrl,
        ...describeEndpoints(metadata),
        // `fetchAuthorizationServerMetadata` leaves this check to its caller.
        ...(!isSameUrl(metadata.issuer, progress.issuer) && {
          warning:
            `this is the metadata of another issuer, ${metadata.issuer}, ` +
            "which must not be used (RFC 8414, section 3.3)",
        }),
      },
      failures: errors,
    };
  },
};

/** Strict discovery in one call, as a client should do it. */
export const strictDiscovery: readonly IStep[] = [
  requestWithoutToken,
  readChallenge,
  discover,
];

/**
 * Discovery step by step, which also shows metadata that a client must not use.
 * Requests public documents only.
 */
export const discovery: readonly IStep[] = [
  requestWithoutToken,
  readChallenge,
  findResourceMetadata,
  findServerMetadata,
];

/** The default endpoints, for a server that publishes no metadata. */
export const guessServerMetadata: IStep = {
  name: "default_metadata",
  expected: "metadata that names these endpoints",
  action: () => "Assume the default endpoints",
  run(progress) {
    const issuer = new URL(need(progress.issuer, "an issuer"));
    return {
      result: "only a guess, not requested",
      ok: false,
      details: Object.fromEntries(
        Object.entries(getDefaultMetadataForUrl(issuer))
          .filter(([member]) => member.endsWith("_endpoint")),
      ),
    };
  },
};
