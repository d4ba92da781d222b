import {
  optionalFunction,
  requireArgument,
  requireObject,
} from "../core/_arguments.ts";
import { RECEIVER } from "../core/_hints.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { requireEndpoint } from "../core/_url.ts";
import { isOAuthClientError } from "../core/errors.ts";
import { OFFLINE_ACCESS } from "../core/scopes.ts";
import { authenticationOf } from "../client/_authentication_selection.ts";
import { requirePkce } from "../token/_authorization_parameters.ts";
import type { GrantContext } from "../token/_grant_context.ts";
import { CONSENT } from "./_consent.ts";
import {
  carrying,
  clientOf,
  needsIdToken,
  parametersOf,
  requireFlowNames,
  requireFlowOptions,
  scopesOf,
  wantsOffline,
} from "./_flow_parameters.ts";
import {
  type FlowClient,
  knownRegistrationOf,
  withConfiguration,
} from "./_flow_client.ts";
import { isClientRefused, withPendingMark } from "./_pending_mark.ts";
import { isUriRefused, mayUse } from "./_registered_uri.ts";
import type { Others } from "./_sharing.ts";
import type { CodeFlowOptions } from "./code_flow_options.ts";
import type { Flow, FlowRequest } from "./flow.ts";
import { clientIn } from "../session/_parties.ts";
import { type Session, sessionContextOf } from "../session/session.ts";
import { finishWith, startWith } from "./sign_in.ts";

interface SignIn {
  readonly options: CodeFlowOptions;
  readonly request: FlowRequest;
  readonly context: GrantContext;
  /** Aborts when the sign-in is over. */
  readonly ended: AbortSignal;
  readonly redirectUri: string;
  readonly chosen: FlowClient;
  readonly others?: Others | undefined;
}

/** The values for an authorization request and its response. */
interface Begun extends Awaited<ReturnType<typeof startWith>> {
  readonly chosen: FlowClient;
}

/** A receiver may have to prepare the URI. */
async function redirectUriOf(
  { options, request, ended }: Pick<SignIn, "options" | "request" | "ended">,
  refused?: string,
): Promise<string> {
  const { redirectUri, client, clientMetadataUrl } = options;
  if (typeof redirectUri === "string") return redirectUri;
  const { issuer, client_id_metadata_document_supported: acceptsDocuments } =
    request.context.serverMetadata;
  const hasClient = (request.client ?? client) !== undefined;
  return await redirectUri({
    isInDocument: !hasClient && acceptsDocuments === true &&
      clientMetadataUrl !== undefined,
    isNamed: hasNamedClient(options, request),
    issuer,
    ...(refused !== undefined && { refused }),
    signal: ended,
  });
}

/** Checks whether the caller set the client, alone or in a list. */
function hasNamedClient(
  { client, knownClients = [] }: CodeFlowOptions,
  { client: ofFetch, context: { serverMetadata } }: FlowRequest,
): boolean {
  const { issuer } = serverMetadata;
  return (ofFetch ?? client) !== undefined ||
    knownClients.some((known) => isSameIssuer(known.issuer, issuer));
}

/** Returns a client and a redirect URI; another URI if the server rejects the first. */
async function choose(
  start: Omit<SignIn, "redirectUri" | "chosen">,
): Promise<SignIn> {
  const { options, request, context } = start;
  let redirectUri = await redirectUriOf(start);
  const { issuer } = request.context.serverMetadata;
  const registered = clientIn(request.session);
  if (
    registered?.issuer === issuer && !mayUse(registered, redirectUri) &&
    !hasNamedClient(options, request)
  ) {
    const other = await redirectUriOf(start, redirectUri);
    if (mayUse(registered, other)) redirectUri = other;
  }
  const find = async () => ({
    ...start,
    redirectUri,
    chosen: await clientOf(context, request, options, redirectUri),
  });
  try {
    return await find();
  } catch (error) {
    if (!isUriRefused(error)) throw error;
    const other = await redirectUriOf(start, redirectUri);
    if (other === redirectUri) throw error;
    redirectUri = other;
    return await find();
  }
}

/** The parts of a sign-in that {@linkcode startSignIn} uses. */
interface Start extends Omit<SignIn, "options" | "ended"> {
  readonly options: Omit<CodeFlowOptions, "redirectUri" | "visit">;
}

/** Pushes the authorization request if required. */
export async function startSignIn(
  { options, request, context, redirectUri, chosen, others }: Start,
  prompt: Readonly<Record<string, string>>,
  state?: string,
): Promise<Begun> {
  const scopes = scopesOf(request, options);
  const found = { ...request.context, scopes };
  const clientContext = { ...context, client: chosen.client };
  const begun = await startWith(clientContext, found, {
    ...options,
    session: request.session,
    redirectUri,
    // As an option, an `openid` of the resource would count as requested by the caller.
    scopes: needsIdToken(request, options) ? scopes : undefined,
    parameters: { ...parametersOf(request, options), ...prompt },
    offlineAccess: wantsOffline(options),
  }, { needsConsent: chosen.needsConsent, state, others });
  return { ...begun, chosen };
}

/** Checks whether a server may have rejected a pushed request because of its client. */
function isPushRefused(error: unknown): boolean {
  return isClientRefused(error) ||
    (isOAuthClientError(error) && error.error === undefined &&
      [400, 401, 403].includes(error.status ?? 0));
}

/**
 * Makes the authorization request, with a new client if the server deleted a kept one.
 */
async function begin(
  signIn: SignIn,
  prompt: Readonly<Record<string, string>>,
): Promise<Begun> {
  try {
    return await startSignIn(signIn, prompt);
  } catch (error) {
    const { options, context, redirectUri, chosen } = signIn;
    if (chosen.origin !== "kept" || !isPushRefused(error)) throw error;
    // A server that pushes requests reports this before the user leaves.
    await chosen.mark?.write();
    const request = { ...signIn.request, session: undefined };
    const other = await clientOf(context, request, options, redirectUri);
    return await startSignIn({ ...signIn, chosen: other }, prompt);
  }
}

/** Redirects the user to the server, and redeems the code. */
async function signInOnce(
  { options, request, context }: SignIn,
  { url, pending, chosen }: Begun,
): Promise<Session> {
  const { signal } = request;
  const { client, mark } = chosen;
  signal?.throwIfAborted();
  const session = await withPendingMark(
    async () => {
      // The store may be slow to write the mark.
      signal?.throwIfAborted();
      knownRegistrationOf(request).shown?.();
      return await options.visit(url, { pending, signal });
    },
    (callback) => finishWith({ ...context, client }, callback, pending),
    { mark, signal },
  );
  return withConfiguration(session, chosen);
}

/** Checks whether to repeat a failed sign-in with the prompt for consent. */
export function lacksConsent(
  error: unknown,
  { prompt, scopes }: Pick<Begun["pending"], "prompt" | "scopes">,
  { parameters }: Pick<CodeFlowOptions, "parameters">,
): boolean {
  return isOAuthClientError(error) && error.error === "consent_required" &&
    prompt === undefined && parameters?.prompt === undefined &&
    scopes.includes(OFFLINE_ACCESS);
}

/** Signs in; if the server requires it, again with the prompt for consent. */
async function signInOnceOrTwice(signIn: SignIn): Promise<Session> {
  const first = await begin(signIn, {});
  try {
    return await signInOnce(signIn, first);
  } catch (error) {
    if (!lacksConsent(error, first.pending, signIn.options)) throw error;
    const again = { ...signIn, chosen: first.chosen };
    return await signInOnce(again, await begin(again, CONSENT));
  }
}

/** The compiler reports a missing option. */
const OPTIONS: Record<keyof CodeFlowOptions, true> = {
  client: true,
  knownClients: true,
  clientMetadataUrl: true,
  clientMetadata: true,
  initialAccessToken: true,
  scopes: true,
  offlineAccess: true,
  authorizationDetails: true,
  parameters: true,
  resourceIndicator: true,
  sendScopeOnRefresh: true,
  tokenParameters: true,
  redirectUri: true,
  visit: true,
  turn: true,
  assumePkce: true,
  requireIss: true,
  par: true,
  sendRedirectUriOnRefresh: true,
};

/**
 * Creates the authorization code flow with PKCE: the user signs in with a browser.
 *
 * Without a known client, it registers one and keeps it in the session. Web servers use
 * `createWebSignIn`, or {@linkcode startAuthorization} and the fetch's `finish`.
 *
 * @throws {OAuthClientError} `invalid_argument`: an option is invalid. Calls throw as
 * {@linkcode ensureClient}, {@linkcode startAuthorization} and
 * {@linkcode finishAuthorization}.
 * @see RFC 6749, section 4.1; RFC 7636; RFC 8252.
 * @example Sign in with the browser of this machine
 * ```ts
 * import { codeFlow } from "@oauth-helper/client";
 * import { createLoopbackReceiver } from "@oauth-helper/client/native";
 *
 * const clientMetadata = { client_name: "My client" };
 * const flow = codeFlow({ ...createLoopbackReceiver(), clientMetadata });
 * ```
 * @category Flows
 */
export function codeFlow(options: CodeFlowOptions): Flow {
  const { redirectUri, visit, turn } = requireObject("options", options);
  // A receiver's other functions, such as `resume`, are allowed.
  requireFlowNames(options, OPTIONS, "codeFlow", "function");
  requireArgument(
    typeof visit === "function",
    "visit",
    `a function ${RECEIVER}`,
  );
  requireArgument(
    typeof redirectUri === "string" || typeof redirectUri === "function",
    "redirectUri",
    `a string or a function ${RECEIVER}`,
  );
  optionalFunction("turn", turn);
  requireFlowOptions(options);
  return carrying(options, async (request) => {
    const { serverMetadata } = request.context;
    const named = request.client ?? options.client;
    const context = sessionContextOf(request);
    // Checked before a receiver listens, a client is registered, or a user signs in.
    if (named) authenticationOf(named, serverMetadata);
    const endpoint = "authorization_endpoint";
    requireEndpoint(serverMetadata, endpoint, context.allowHttp);
    requirePkce(serverMetadata, options.assumePkce);
    const { shared } = knownRegistrationOf(request);
    const apiOptions = shared?.ownOf(options) ?? options;
    const ending = new AbortController();
    const { signal: ended } = ending;
    let endTurn: Awaited<ReturnType<NonNullable<typeof turn>>> | undefined;
    try {
      const signIn = await choose({
        options: apiOptions,
        request,
        context,
        ended,
      });
      endTurn = await turn?.({ signal: request.signal });
      const signInFor = (others?: Others) =>
        signInOnceOrTwice({ ...signIn, others });
      return await (shared?.sessionOf(options, signInFor) ?? signInFor());
    } finally {
      // An abort creates an error with a stack; only a receiver uses the signal.
      if (typeof redirectUri === "function") ending.abort();
      await endTurn?.();
    }
  });
}
