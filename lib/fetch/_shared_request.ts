import { isOAuthClientError, type OAuthClientError } from "../core/errors.ts";
import { mergeScopes } from "../core/scopes.ts";
import type {
  Others,
  OwnOptions,
  SharedNeed,
  SharedRequest,
  SharedServer,
} from "../flows/_sharing.ts";
import type { SharedApi } from "../flows/shared_apis.ts";
import { type Context, report } from "../http/_context.ts";
import { errorOf, literal } from "../http/_error.ts";
import {
  namedIndicator,
  requestedResource,
} from "../session/_requested_resource.ts";
import { type Internal, internalOf } from "../session/_internal.ts";
import type { SessionApi, StoredSession } from "../session/session.ts";
import { isSame } from "./_shared_session.ts";

export type SharedApis = Readonly<Record<string, SharedApi>>;

/**
 * Checks whether a server rejected a request for several APIs. It may know only one, or
 * no such requests (RFC 8707, section 2).
 */
export function isRefusedTarget(error: unknown): boolean {
  return isOAuthClientError(error) && error.error === "invalid_target";
}

type Parameters = Record<string, string> | undefined;

/** Merges a flow's parameters with an API's, which take precedence. */
function both(
  flow: Readonly<Parameters>,
  api: Readonly<Parameters>,
): Parameters {
  return flow || api ? { ...flow, ...api } : undefined;
}

function ownOptionsOf<T extends OwnOptions>(options: T, api: SharedApi): T {
  const { scopes, resourceIndicator: resource, parameters, tokenParameters } =
    options;
  const all = api.scopes && mergeScopes(scopes, api.scopes);
  return {
    ...options,
    scopes: all ?? scopes,
    resourceIndicator: api.resourceIndicator ?? resource,
    parameters: both(parameters, api.parameters),
    tokenParameters: both(tokenParameters, api.tokenParameters),
  };
}

/** Returns the APIs of a separate sign-in: each of the others gets another one. */
function aloneOf(apis: Others["apis"]): Others {
  const others = Object.entries(apis)
    .map(([name, api]) => {
      const internal: Internal = { ...api.internal, isAlone: true };
      return [name, { ...api, internal }];
    });
  const none = { scopes: [], resources: [] };
  return { ...none, apis: Object.fromEntries(others), isAlone: true };
}

/**
 * Adds a hint to a sign-in page's error: a server that rejects several APIs may show a
 * page, and never redirect.
 */
function withSharingHint(error: unknown, context: Context): unknown {
  const isPage = isOAuthClientError(error) && error.url === undefined &&
    /^(timeout|popup_closed)$/.test(error.code);
  if (!isPage) return error;
  const message = literal(
    `${error.message} (if the server showed an error page, it may reject one ` +
      "sign-in for several APIs: leave out apis, and give each API its own store)",
  );
  return errorOf(context, error.code, message, { cause: error });
}

export function sharersOf(
  shared: SharedApis,
  resource: string,
  session: StoredSession | undefined,
  options: OwnOptions,
): Others {
  const others = Object.entries(shared).flatMap(([name, api]) => {
    const [known = name, former] = Object.entries(session?.apis ?? {})
      .find(([one]) => isSame(one, name)) ?? [];
    if (isSame(name, resource) || internalOf(former).isAlone) return [];
    const requested = ownOptionsOf(options, api);
    const indicator = namedIndicator(requested.resourceIndicator);
    const { tokenParameters } = requested;
    const isOmitted = requested.resourceIndicator === false;
    const internal: Internal = {
      ...(isOmitted && { resourceIndicator: false }),
      ...(indicator !== undefined && { resourceIndicator: indicator }),
      ...(tokenParameters && { tokenParameters }),
    };
    const scopes = mergeScopes(api.scopes, former?.scopes);
    const other: SessionApi = { scopes, internal };
    return [[known, other] as const];
  });
  return {
    apis: Object.fromEntries(others),
    scopes: mergeScopes(...others.map(([, api]) => api.scopes)),
    resources: others.flatMap(([resource, api]) =>
      requestedResource({ ...api, resource }) || []
    ),
  };
}

interface SharedStart {
  /** The key of its API. */
  readonly name: string;
  readonly found: SharedServer;
  readonly session: StoredSession | undefined;
  readonly need: SharedNeed | undefined;
}

export function sharedRequest(
  context: Context,
  shared: SharedApis,
  { name, found, session, need }: SharedStart,
): SharedRequest {
  const { resource, serverMetadata: { issuer } } = found;
  // The server has refreshed for another API, or for none.
  const isMisled = need?.reason === "refused" && !need.mayRefresh &&
    session?.apis && session.token?.refresh_token;
  const isAlone = Boolean(internalOf(session).isAlone || isMisled);
  const apis: Pick<SharedApi, "scopes">[] = [
    ...Object.values(shared),
    ...Object.values(session?.apis ?? {}),
  ];
  const othersOf = (options: OwnOptions) =>
    isAlone ? aloneOf({}) : sharersOf(shared, resource, session, options);
  return {
    scopes: mergeScopes(...apis.map(({ scopes }) => scopes)),
    ownOf(options) {
      const requested = ownOptionsOf(options, shared[name]!);
      const { scopes } = requested;
      const isSameUser = need && need.reason !== "fresh";
      return isSameUser && scopes
        ? { ...requested, scopes: mergeScopes(scopes, session?.scopes) }
        : requested;
    },
    othersOf,
    aloneOf: (options) => aloneOf(othersOf(options).apis),
    async sessionOf(options, signIn) {
      const others = othersOf(options);
      try {
        return await signIn(others);
      } catch (error) {
        if (Object.keys(others.apis).length === 0) throw error;
        if (!isRefusedTarget(error)) throw withSharingHint(error, context);
        const { error: code = "" } = error as OAuthClientError;
        report(context, { type: "sharing_refused", issuer, code });
        return await signIn(aloneOf(others.apis));
      }
    },
  };
}
