/**
 * The flow with a browser on this device: the authorization code grant.
 *
 * @module
 */

import { requireArgument, requireObject } from "../core/_arguments.ts";
import { isSameIssuer } from "../core/_issuer.ts";
import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";
import { OFFLINE_ACCESS } from "../core/scopes.ts";
import {
  authenticationOf,
  registrationOf,
} from "../client/authentication_selection.ts";
import type { Client, IKnownClient } from "../client/known_client.ts";
import { CONSENT, lacksRefreshToken } from "./_consent.ts";
import {
  carrying,
  clientOf,
  needsIdToken,
  parametersOf,
  requireFlowOptions,
  scopesOf,
} from "./_flow_parameters.ts";
import type { Authorize, IFlowOptions } from "./flow.ts";
import { sessionContextOf } from "./session.ts";
import {
  finishWith,
  type IPendingAuthorization,
  startWith,
} from "./sign_in.ts";

/** Options of {@linkcode codeFlow}. */
export interface ICodeFlowOptions extends IFlowOptions {
  /** Redirect URI, or a function that prepares one. */
  redirectUri:
    | string
    | ((request: IRedirectUriRequest) => string | Promise<string>);
  /**
   * Sends the user to the URL and returns the URL that the user was redirected to. Its
   * errors are passed to the caller of the fetch unchanged.
   */
  visit: (
    url: URL,
    authorization: IVisit,
  ) => Promise<string | URL | URLSearchParams | Request>;
  /** Accepts a server that does not list its PKCE methods. */
  assumePkce?: boolean | undefined;
  /**
   * Refuses an authorization response without `iss` (RFC 9207), also from a server that
   * does not announce it.
   *
   * @default {`authorization_response_iss_parameter_supported` of the server metadata}
   */
  requireIss?: boolean | undefined;
  /**
   * Pushes the authorization request to the server (RFC 9126).
   *
   * @default {`require_pushed_authorization_requests` of the server metadata}
   */
  par?: boolean | undefined;
}

/** The argument of {@linkcode ICodeFlowOptions.redirectUri}. */
export interface IRedirectUriRequest {
  /**
   * Whether the client is that of your client metadata document. Many servers compare
   * the redirect URI with those in the document as strings, including the port of a
   * loopback URI.
   */
  isInDocument: boolean;
  /**
   * Whether you have named the client, as `client` or in `knownClients`: the server may
   * accept only the redirect URIs that it is registered with.
   */
  isNamed: boolean;
  /**
   * The issuer that the user is sent to. Where you register a client at each server
   * yourself, a redirect URI for each issuer shows a response that another server has
   * caused (RFC 9700, section 4.4).
   */
  issuer: string;
}

/** The second argument of {@linkcode ICodeFlowOptions.visit}. */
export interface IVisit {
  /**
   * The argument of {@linkcode finishAuthorization}, in case another process calls it.
   */
  pending: IPendingAuthorization;
  /** Aborts when no caller waits any more, and when a session is saved or revoked. */
  signal?: AbortSignal | undefined;
}

/** Checks whether a server may have refused a pushed request because of its client. */
function mayBeForgotten(error: unknown): boolean {
  if (!isOAuthClientError(error)) return false;
  const { status = 0, error: code = "invalid_client" } = error;
  return [400, 401, 403].includes(status) &&
    /^(invalid|unauthorized)_client$/.test(code);
}

/**
 * Checks whether the registration of a failed sign-in is used for the next one too.
 * Without a response of the server, it is used for one more visit only: the server may
 * have forgotten the client, and show that to the user only.
 */
function mayUseAgain(error: unknown, isAgain: boolean): boolean {
  const hasResponse = isOAuthClientError(error) && error.code === "oauth_error";
  return hasResponse ? adviceFor(error).action !== "reregister" : !isAgain;
}

/** Checks whether a server requires the consent of the user. */
function requiresConsent(error: unknown): boolean {
  return isOAuthClientError(error) && error.error === "consent_required";
}

/**
 * Creates the authorization code flow with PKCE, for {@linkcode createAuthorizedFetch}.
 * If no client is known, it registers one, and keeps the registration in the session.
 *
 * In a web server, the user comes back in another request: call
 * {@linkcode startAuthorization} in the first request and `finish` of the fetch in the
 * second. The fetch then needs no `authorize`.
 *
 * @param options The client, the redirect URI, and how the user visits a URL.
 * @throws {OAuthClientError} `invalid_argument`: an option is not valid. The
 * function that is returned throws as {@linkcode ensureClient},
 * {@linkcode startAuthorization} and {@linkcode finishAuthorization}.
 * @see RFC 6749, section 4.1; RFC 7636; RFC 8252.
 *
 * @example Let the user paste the URL of the last page
 * ```ts
 * import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
 *
 * export const api = createAuthorizedFetch("https://api.example/mcp", {
 *   authorize: codeFlow({
 *     clientMetadata: { client_name: "My client" },
 *     redirectUri: "http://127.0.0.1:33418/callback",
 *     visit: (url) => {
 *       console.log(`Open ${url}`);
 *       return Promise.resolve(prompt("URL of the last page:") ?? "");
 *     },
 *   }),
 * });
 * ```
 */
export function codeFlow(options: ICodeFlowOptions): Authorize {
  const { redirectUri, visit, assumePkce, requireIss, par } = requireObject(
    "options",
    options,
  );
  const { offlineAccess = true, authorizationDetails } = options;
  const { knownClients = [], resource, refreshScope } = options;
  requireArgument(typeof visit === "function", "visit", "a function");
  requireArgument(
    typeof redirectUri === "string" || typeof redirectUri === "function",
    "redirectUri",
    "a string or a function",
  );
  requireFlowOptions(options);
  /** The registrations of sign-ins that have not led to a session, by issuer. */
  const unfinished = new Map<string, IKnownClient>();
  return carrying(options.client, async (request) => {
    const { context, session, signal, whileAway } = request;
    const { issuer } = context.serverMetadata;
    const named = request.client ?? options.client;
    // Before a receiver listens, or a user signs in.
    if (named) authenticationOf(named, context.serverMetadata);
    const { client_id_metadata_document_supported: acceptsDocuments } =
      context.serverMetadata;
    const isNamed = named !== undefined ||
      knownClients.some((known) => isSameIssuer(known.issuer, issuer));
    const isInDocument = !named && acceptsDocuments === true &&
      options.clientMetadataUrl !== undefined;
    const uri = typeof redirectUri === "function"
      ? await redirectUri({ isInDocument, isNamed, issuer })
      : redirectUri;
    const own = sessionContextOf(request);
    const scopes = scopesOf(request, options);
    const start = { ...context, scopes };
    const begin = (client: Client, prompt: Record<string, string>) =>
      startWith({ ...own, client }, start, {
        session,
        redirectUri: uri,
        // As an option, an `openid` of the resource would count as requested by the
        // caller.
        scopes: needsIdToken(request, options) ? scopes : undefined,
        parameters: { ...parametersOf(request, options), ...prompt },
        offlineAccess,
        authorizationDetails,
        resource,
        refreshScope,
        assumePkce,
        requireIss,
        par,
      });
    const kept = unfinished.get(issuer);
    let { client, isReused } = await clientOf(own, request, options, uri, kept);
    const signIn = async (prompt: Record<string, string>) => {
      let begun: Awaited<ReturnType<typeof begin>>;
      try {
        begun = await begin(client, prompt);
      } catch (error) {
        if (!isReused || !mayBeForgotten(error)) throw error;
        // A server that pushes requests says so before the user leaves.
        const anew = { ...request, session: undefined };
        ({ client, isReused } = await clientOf(own, anew, options, uri));
        begun = await begin(client, prompt);
      }
      const { url, pending } = begun;
      signal?.throwIfAborted();
      const go = () => visit(url, { pending, signal });
      const callback = await (isReused && whileAway ? whileAway(go) : go());
      return { callback, pending };
    };
    const finish = (
      { callback, pending }: Awaited<ReturnType<typeof signIn>>,
    ) => finishWith({ ...own, client }, callback, pending);
    const hasPrompt = options.parameters?.prompt !== undefined;
    const mustConsent = !hasPrompt && lacksRefreshToken(session);
    const signInOnceOrTwice = async () => {
      const first = await signIn({});
      try {
        return await finish(first);
      } catch (error) {
        const mayRepeat = !hasPrompt && !mustConsent &&
          requiresConsent(error) &&
          first.pending.scopes.includes(OFFLINE_ACCESS);
        if (!mayRepeat) throw error;
        return await finish(await signIn(CONSENT));
      }
    };
    const isAgain = client === kept;
    try {
      const next = await signInOnceOrTwice();
      unfinished.delete(issuer);
      return next;
    } catch (error) {
      unfinished.delete(issuer);
      if (!named && !isReused && mayUseAgain(error, isAgain)) {
        unfinished.set(issuer, registrationOf(client, issuer));
      }
      throw error;
    }
  });
}
