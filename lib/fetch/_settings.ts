import {
  optionalFunction,
  optionalString,
  requireArgument,
  requireHttpUrl,
  requireNames,
  requireObject,
  requireStringMembers,
} from "../core/_arguments.ts";
import {
  ENDPOINT_NAMES,
  isLoopback,
  requireEndpoint,
  requireSafeUrl,
  urlString,
} from "../core/_url.ts";
import type { ServerMetadata } from "../core/metadata.ts";
import { requireBoundClient } from "../client/_authentication_selection.ts";
import type { Client } from "../client/known_client.ts";
import type { Discovery } from "../discovery/discover.ts";
import type { Sending } from "./call/_resource_request.ts";
import type { SessionMemory } from "./keeper/_session_memory.ts";
import { keeperOf } from "./keeper/_session_keeper.ts";
import type { ApiContext, FetchSharing } from "./_api_context.ts";
import type { AuthorizedFetchOptions } from "./authorized_fetch_options.ts";
import { sessionContextOf } from "../session/session.ts";
import { memoryStore, type SessionStore } from "../session/store.ts";

const DEFAULT_SKEW_SECONDS = 30;

export const FETCH_OPTIONS = [
  "allowHttp",
  "allowUrl",
  "alsoFor",
  "apis",
  "authorizationServer",
  "bearer",
  "client",
  "dpop",
  "fetch",
  "flow",
  "maxBytes",
  "now",
  "onEvent",
  "resourceMatch",
  "resourceMetadataHeaders",
  "serverMetadata",
  "serverMetadataHeaders",
  "signInOn",
  "skewSeconds",
  "store",
  "timeoutMs",
  "tokenRequired",
  "trustedIssuers",
  "userAgent",
] as const satisfies readonly (keyof AuthorizedFetchOptions)[];

export function fetchOptionsOf(
  options: AuthorizedFetchOptions,
): AuthorizedFetchOptions {
  requireNames(
    options,
    FETCH_OPTIONS,
    "createAuthorizedFetch",
    "it in the flow, such as codeFlow; here, use ",
  );
  return options;
}

function requireResource(
  name: string,
  value: string | URL,
  allowHttp: boolean | undefined,
): URL {
  const url = requireHttpUrl(name, urlString(value));
  const shown = name === "resource" ? "the resource" : `the URL of ${name}`;
  return requireSafeUrl(shown, url, { allowHttp, allowLoopback: true });
}

/** Fails before a sign-in unless the caller's endpoints can be used. */
function requireEndpoints(
  serverMetadata: ServerMetadata,
  allowHttp: boolean | undefined,
): void {
  requireHttpUrl("serverMetadata.issuer", serverMetadata.issuer);
  for (const name of ENDPOINT_NAMES) {
    if (name === "token_endpoint" || serverMetadata[name] !== undefined) {
      requireEndpoint(serverMetadata, name, allowHttp);
    }
  }
}

/** Returns copies, so that later changes by the caller have no effect. */
function discoveryOf(
  {
    serverMetadata,
    trustedIssuers,
    resourceMetadataHeaders,
    ...options
  }: AuthorizedFetchOptions,
  client: Client | undefined,
): Discovery {
  const { authorizationServer } = options;
  return {
    authorizationServer: authorizationServer && String(authorizationServer),
    serverMetadata: serverMetadata && structuredClone(serverMetadata),
    trustedIssuers: requireStringMembers("trustedIssuers", trustedIssuers),
    resourceMetadataHeaders: requireStringMembers(
      "resourceMetadataHeaders",
      resourceMetadataHeaders,
    ),
    serverMetadataHeaders: requireStringMembers(
      "serverMetadataHeaders",
      options.serverMetadataHeaders,
    ),
    resourceMatch: options.resourceMatch,
    clientIssuer: client?.issuer,
    // Otherwise, nothing shows that the API uses an OAuth server.
    requiresChallenge: options.tokenRequired === true,
  };
}

function requireStore(store: SessionStore): void {
  const { load, save } = requireObject(
    "store",
    store,
    "an object, such as memoryStore()",
  );
  requireArgument(
    typeof load === "function" && typeof save === "function",
    "store",
    "an object with the functions load and save",
  );
}

export function withStore(
  api: ApiContext,
  store: SessionStore,
  memory: SessionMemory,
): ApiContext {
  requireStore(store);
  const keeper = keeperOf(store, memory);
  return { ...api, keeper, promptPolicy: { ...api.promptPolicy } };
}

function sendingOf(
  target: URL,
  { fetch, alsoFor = [], allowHttp, apis }: AuthorizedFetchOptions,
): Sending {
  requireArgument(Array.isArray(alsoFor), "alsoFor", "a list of URLs");
  const others = alsoFor.map((url) =>
    requireResource("alsoFor", url, allowHttp)
  );
  return {
    fetch: (input, init) => (fetch ?? globalThis.fetch)(input, init),
    covered: [target, ...others],
    apis: apis as FetchSharing | undefined,
    rules: { allowHttp, allowLoopback: isLoopback(target) },
  };
}

export function apiContextOf(
  resource: string | URL,
  options: AuthorizedFetchOptions,
): ApiContext {
  const {
    flow,
    store = memoryStore(),
    dpop,
    allowHttp,
    now = Date.now,
    tokenRequired = false,
    userAgent,
    onEvent,
    bearer = "access_token",
    skewSeconds = DEFAULT_SKEW_SECONDS,
    signInOn = "call",
    serverMetadata,
    client = flow?.client,
    apis: shared,
  } = requireObject("options", options);
  const apis = shared as FetchSharing | undefined;
  requireStore(store);
  optionalFunction("flow", flow);
  optionalString("userAgent", userAgent);
  optionalFunction("onEvent", onEvent);
  requireArgument(
    bearer === "access_token" || (bearer === "id_token" && !dpop),
    "bearer",
    '"access_token", or "id_token" without dpop',
  );
  requireArgument(skewSeconds >= 0, "skewSeconds", "a number of at least 0");
  requireArgument(
    signInOn === "call" || signInOn === "signIn",
    "signInOn",
    '"call" or "signIn"',
  );
  requireBoundClient(client);
  if (serverMetadata) requireEndpoints(serverMetadata, allowHttp);
  const target = requireResource("resource", resource, allowHttp);
  requireArgument(!apis || "viewOf" in apis, "apis", "made by sharedSignIn");
  return {
    resource: target,
    keeper: keeperOf(store),
    flow,
    apis,
    rules: { bearer, skewSeconds, now },
    discovery: discoveryOf(options, client),
    promptPolicy: { signInOn },
    context: {
      ...sessionContextOf(options),
      client,
      userAgent,
      onEvent: apis?.receiverOf(target, options) ?? onEvent,
      // A refresh must finish, so it receives no caller's signal.
      signal: undefined,
    },
    sending: sendingOf(target, options),
    tokenRequired,
  };
}
