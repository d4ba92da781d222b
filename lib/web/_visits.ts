/** The visits of users to the server: how they begin, and how they end. */

import { hashBase64Url } from "../core/_base64.ts";
import { readClaims } from "../core/_jwt.ts";
import { isOAuthClientError, OAuthClientError } from "../core/errors.ts";
import {
  authenticationOf,
  registrationOf,
} from "../client/_authentication_selection.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { fork, report } from "../http/_context.ts";
import { discoverFor, scopesFor } from "../fetch/_new_sign_in.ts";
import { type INeed, tokensOf } from "../fetch/_need.ts";
import { reportSignIn, stepUp } from "../fetch/_session_events.ts";
import { sharedStore } from "../fetch/_shared_store.ts";
import { requireUsable } from "../fetch/_usable_session.ts";
import { startSignIn } from "../flows/code_flow.ts";
import {
  type ISession,
  revokeSessionWith,
  sessionOptionsOf,
} from "../session/session.ts";
import { finishWith } from "../flows/sign_in.ts";
import type { IAsked, IFinished, IState, IVisit } from "./_cookies.ts";
import type { IWebSettings } from "./_web_settings.ts";
import type { IHeaders } from "./web_sign_in_options.ts";

/** How long a discovery is used again, so that not each login makes three requests. */
const DISCOVERY_MS = 300_000;

/** What the user of a visit wants. */
export interface IWanted
  extends Pick<IAsked, "parameters" | "stepUps">, IState {
  readonly need: INeed;
  /** The present session. */
  readonly session?: ISession | undefined;
}

/** Returns when the server wants a session to end: `session_expiry` (IPSIE SL1). */
function endOf({ token }: ISession): number {
  const end = readClaims(token.id_token)?.session_expiry;
  return Number.isFinite(end) ? Number(end) : Infinity;
}

/** The visits of a site. */
export class Visits {
  readonly #settings: IWebSettings;
  #known: { found: IAuthorizationContext; until: number } | undefined;

  constructor(settings: IWebSettings) {
    this.#settings = settings;
  }

  async #discover(need: INeed): Promise<IAuthorizationContext> {
    const { renewal, now } = this.#settings;
    if (!need.challenge && this.#known && this.#known.until > now()) {
      return this.#known.found;
    }
    const own = { ...renewal, context: fork(renewal.context) };
    const found = await discoverFor(need, own);
    if (!need.challenge) this.#known = { found, until: now() + DISCOVERY_MS };
    return found;
  }

  /** Begins a visit; returns the URL of the server, and the cookies. */
  async begin(
    headers: IHeaders,
    { need, session, parameters, stepUps, returnTo, isRepeated }: IWanted,
  ): Promise<[url: string, lines: string[]]> {
    const { renewal, options, redirectUri, cookies } = this.#settings;
    const { client } = options;
    const context = fork(renewal.context, tokensOf(session, need.refused));
    if (need.reason === "step_up") report(context, stepUp(need));
    const found = await this.#discover(need);
    const { issuer } = found;
    // Before a user signs in.
    authenticationOf(client, found.serverMetadata);
    const { reason, acrValues, maxAge } = need;
    report(context, { type: "sign_in_started", issuer, reason });
    const start = {
      options: {
        ...options,
        parameters: { ...options.parameters, ...parameters },
      },
      request: {
        ...sessionOptionsOf(context),
        context: found,
        ...scopesFor(need, found, session),
        requiresIdToken: options.bearer === "id_token",
        session: session?.issuer === issuer ? session : undefined,
        acrValues,
        maxAge,
      },
      context,
      redirectUri,
      chosen: { client, origin: "named" },
    } as const;
    const state = await cookies.state({ returnTo, isRepeated });
    const { url, pending } = await startSignIn(start, {}, state);
    // A shorter cookie leaves room for the cookies of other tabs.
    const { client: _, redirectUri: __, ...kept } = pending;
    const asked: IAsked = { parameters, acrValues, maxAge, stepUps };
    const visit: IVisit = { pending: kept, returnTo, ...asked };
    return [url.href, await cookies.begin(headers, visit)];
  }

  /**
   * Redeems the code of a visit, once: a browser may repeat the request, and servers
   * revoke the tokens of a code that is used twice. Returns the identifier of the
   * session, which is the same for all requests with this code, and its end.
   */
  async finish(
    { search, searchParams }: URL,
    visit: IVisit,
  ): Promise<IFinished> {
    const { renewal, options, redirectUri, now } = this.#settings;
    const { pending } = visit;
    const code = searchParams.get("code");
    // From the code too: a copy of the cookie of a visit must not lead to the session
    // of the user who finished it.
    const secret = JSON.stringify([pending.codeVerifier, code]);
    const id = await hashBase64Url(`session ${secret}`);
    const mayBeRepeated = code && !searchParams.has("error");
    const task = async () => {
      const kept = mayBeRepeated && await store.load();
      if (kept) return endOf(kept);
      const context = fork(renewal.context);
      const session = await finishWith(context, redirectUri + search, {
        ...pending,
        redirectUri,
        client: registrationOf(options.client, pending.issuer),
      });
      // An ID token that was not requested is not checked either.
      if (!pending.scopes.includes("openid")) delete session.token.id_token;
      const own = fork(context, tokensOf(session));
      const endsAt = endOf(session);
      try {
        if (endsAt * 1000 <= now()) {
          const message =
            "session_expiry of the ID token has passed (compare " +
            "the clocks of the site and of the server)";
          throw new OAuthClientError("invalid_id_token", message);
        }
        await store.save(requireUsable(session, { ...renewal, context: own }));
      } catch (error) {
        await revokeSessionWith(own, session).catch(() => {});
        throw error;
      }
      reportSignIn(context, session);
      return endsAt;
    };
    const store = sharedStore(options.storeOf(id));
    try {
      return { id, endsAt: await store.locked(task, undefined) };
    } catch (error) {
      // The server may have moved its endpoints. Anyone can send a callback that is
      // refused without a request, or a made-up code.
      if (
        isOAuthClientError(error) && error.url !== undefined &&
        error.error !== "invalid_grant"
      ) this.#known = undefined;
      throw error;
    }
  }
}
