/** A visit of a user to the server: how it begins, and how it ends. */

import { hashBase64Url } from "../core/_base64.ts";
import { OAuthClientError } from "../core/errors.ts";
import {
  authenticationOf,
  registrationOf,
} from "../client/authentication_selection.ts";
import type { IAuthorizationContext } from "../discovery/discover.ts";
import { fork, report } from "../http/_context.ts";
import { reasonOf } from "../session/_asking.ts";
import { discoverFor, scopesFor } from "../session/_new_sign_in.ts";
import { type INeed, tokensOf } from "../session/_renewal_reason.ts";
import { signInFinished, stepUp } from "../session/_session_events.ts";
import { sharedStore } from "../session/_shared_store.ts";
import { requireUsable } from "../session/_usable_session.ts";
import { startSignIn } from "../session/code_flow.ts";
import { type ISession, sessionOptionsOf } from "../session/session.ts";
import { finishWith } from "../session/sign_in.ts";
import type { IHeaders, IKeptVisit } from "./_cookies.ts";
import type { IWebSettings } from "./_web_settings.ts";

/** How long a discovery is used again, so that not each login makes three requests. */
const DISCOVERY_MS = 300_000;

/** What the user of a visit wants. */
interface IWanted {
  readonly need: INeed;
  /** The present session. */
  readonly session: ISession | undefined;
  readonly parameters: Readonly<Record<string, string>> | undefined;
  readonly returnTo: string;
}

/** The visits of a sign-in. */
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

  /** Begins a visit; returns the URL of the server, and the cookie. */
  async begin(
    headers: IHeaders,
    { need, session, parameters, returnTo }: IWanted,
  ): Promise<{ url: string; cookie: string }> {
    const { renewal, options, redirectUri, paths, cookies } = this.#settings;
    const { client } = options;
    const context = fork(renewal.context, tokensOf(session, need.refused));
    if (need.isStepUp) report(context, stepUp(need));
    const found = await this.#discover(need);
    const { issuer } = found;
    // Before a user signs in.
    authenticationOf(client, found.serverMetadata);
    const reason = reasonOf(need);
    report(context, { type: "sign_in_started", issuer, reason });
    const { url, pending } = await startSignIn({
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
        acrValues: need.acrValues,
        maxAge: need.maxAge,
      },
      context,
      redirectUri,
      chosen: { client },
    }, {});
    // The same for all visits. A cookie with less leaves room for those of other tabs.
    const { client: _, redirectUri: __, ...kept } = pending;
    const cookie = await cookies.begin(headers, { pending: kept, returnTo }) ??
      await cookies.begin(headers, {
        pending: kept,
        returnTo: paths.homePath,
      });
    if (cookie) return { url: url.href, cookie };
    throw new OAuthClientError(
      "unsupported",
      "The cookie of a visit would have more than 4,096 characters: request " +
        "fewer scopes, or set fewer tokenParameters",
    );
  }

  /**
   * Redeems the code of a visit, once: a browser may repeat the request, and servers
   * revoke the tokens of a code that is used twice. Returns the identifier of the
   * session, which is the same for all requests of the visit.
   */
  async finish(search: string, visit: IKeptVisit): Promise<string> {
    const { renewal, options, redirectUri } = this.#settings;
    const { pending } = visit;
    const id = await hashBase64Url(`session ${pending.codeVerifier}`);
    const store = sharedStore(options.storeOf(id));
    const task = async () => {
      if (await store.load()) return;
      const context = fork(renewal.context);
      const session = await finishWith(context, redirectUri + search, {
        ...pending,
        redirectUri,
        client: registrationOf(options.client, pending.issuer),
      });
      requireUsable(session, renewal);
      await store.save(session);
      report(fork(context, tokensOf(session)), signInFinished(session));
    };
    try {
      await store.locked(task, undefined);
    } catch (error) {
      // The server may have moved its endpoints.
      this.#known = undefined;
      throw error;
    }
    return id;
  }
}
