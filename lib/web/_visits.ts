import { hashBase64Url } from "../core/_base64.ts";
import { readClaims } from "../core/_jwt.ts";
import { isOAuthClientError, OAuthClientError } from "../core/errors.ts";
import { authenticationOf } from "../client/_authentication_selection.ts";
import type { AuthorizationContext } from "../discovery/discover.ts";
import { type Context, fork } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import {
  discoverFor,
  discoverSignIn,
  finishedSignIn,
  startedSignIn,
} from "../fetch/_new_sign_in.ts";
import { type Need, tokensOf } from "../fetch/policy/_need.ts";
import { reportSignIn } from "../fetch/_session_events.ts";
import type { ApiContext } from "../fetch/_api_context.ts";
import { isAbove } from "../fetch/policy/_covered_urls.ts";
import { isRefusedTarget } from "../fetch/_shared_request.ts";
import { isSame } from "../fetch/_shared_session.ts";
import { keeperOf } from "../fetch/keeper/_session_keeper.ts";
import type { Others } from "../flows/_sharing.ts";
import { keptClient } from "../flows/_new_session.ts";
import { startSignIn } from "../flows/code_flow.ts";
import { internalOf } from "../session/_internal.ts";
import {
  allTokensOf,
  revokeSessionWith,
  type StoredSession,
} from "../session/session.ts";
import { finishWith } from "../flows/sign_in.ts";
import type { Asked, Finished, State, Visit } from "./_cookies.ts";
import type { WebSettings } from "./_web_settings.ts";
import type { HeadersLike } from "./web_sign_in_options.ts";

/**
 * How long to cache discovery. Without the cache, every login would make three
 * requests.
 */
const DISCOVERY_MS = 300_000;

/** How long other logins use the former discovery while one repeats it. */
const REPEAT_MS = 10_000;

export interface Wanted
  extends Pick<Asked, "parameters" | "stepUps" | "reason">, State {
  readonly need: Need;
  readonly session?: StoredSession | undefined;
  /** The API that needs it; the resource when absent. */
  readonly api?: ApiContext | undefined;
  /** The server's rejection of the same sign-in for several APIs. */
  readonly refusal?: unknown;
}

type Replace = (
  api: ApiContext,
  save: (former: StoredSession | undefined) => Promise<void>,
) => Promise<void>;

/** Returns when the server ends the session: `session_expiry` (IPSIE SL1). */
export function endOf(session: StoredSession): number {
  const ends = allTokensOf(session)
    .map(({ id_token }) => readClaims(id_token)?.session_expiry)
    .filter((end) => Number.isFinite(end));
  return Math.min(...ends.map(Number));
}

/** Checks whether a sign-in is for other APIs too. */
function hasOthers(one: Pick<Others, "apis"> | undefined): boolean {
  return Object.keys(one?.apis ?? {}).length > 0;
}

/** Checks whether the server rejects a sign-in for several APIs, but not for one. */
export function isSharingRefused(
  error: unknown,
  { pending, pending: { apis = {} } }: Visit,
): boolean {
  return isRefusedTarget(error) && !internalOf(pending).isAlone &&
    hasOthers({ apis });
}

export class Visits {
  readonly #settings: WebSettings;
  readonly #known = new Map<
    ApiContext,
    { found: AuthorizationContext; until: number }
  >();

  constructor(settings: WebSettings) {
    this.#settings = settings;
  }

  async #discover(
    need: Need,
    api: ApiContext,
  ): Promise<AuthorizationContext> {
    const { now } = this.#settings;
    const known = !need.challenge && this.#known.get(api);
    if (known) {
      if (known.until > now()) return known.found;
      // They cannot wait for this one: on Workers, it would be another request's I/O.
      known.until = now() + REPEAT_MS;
    }
    const forked = { ...api, context: fork(api.context) };
    const found = await discoverFor(need, forked);
    if (!need.challenge) {
      this.#known.set(api, { found, until: now() + DISCOVERY_MS });
    }
    return found;
  }

  /**
   * Fails if an API names another server than the resource, which it must not replace.
   */
  async #requireIssuer(
    { issuer, resource }: AuthorizationContext,
    need: Need,
    context: Context,
  ): Promise<void> {
    const { options: { client }, all } = this.#settings;
    const none = { ...need, challenge: undefined };
    const expected = client.issuer ??
      (await this.#discover(none, all[0]!)).issuer;
    if (issuer === expected) return;
    const message = words`The server of ${{ url: resource }} is ${{
      url: issuer,
    }}, expected ${{ url: expected }}, as of the other APIs`;
    throw errorOf(context, "issuer_mismatch", message);
  }

  /** Starts a sign-in; returns the server's URL and the cookies. */
  async begin(
    headers: HeadersLike,
    { need, session, parameters, stepUps, ...wanted }: Wanted,
  ): Promise<[url: string, lines: string[]]> {
    const { all, options, redirectUri, cookies } = this.#settings;
    const { returnTo, isRepeated, refusal, api = all[0]! } = wanted;
    const { client } = options;
    const discover = () => this.#discover(need, api);
    const signIn = await discoverSignIn(need, api, session, discover);
    const { context, found } = signIn;
    const { issuer } = found;
    if (api !== all[0]) await this.#requireIssuer(found, need, context);
    // Checked before a user signs in.
    authenticationOf(client, found.serverMetadata);
    const kept = session?.issuer === issuer ? session : undefined;
    const { shared, request } = startedSignIn(
      // A first sign-in.
      session || need.reason !== "fresh"
        ? need
        : { ...need, reason: "no_session" },
      ...[signIn, session, kept] as const,
    );
    const apiOptions = shared?.ownOf(options) ?? options;
    const start = {
      options: {
        ...apiOptions,
        parameters: { ...apiOptions.parameters, ...parameters },
      },
      request: {
        ...request,
        session: kept,
      },
      context,
      redirectUri,
      chosen: { client, origin: "named" },
    } as const;
    const state = await cookies.state({ returnTo, isRepeated });
    const startFor = async (others?: Others) => {
      const isShared = !others?.isAlone && hasOthers(others);
      if (refusal && isShared) throw refusal;
      return await startSignIn({ ...start, others }, {}, state);
    };
    const { url, pending } =
      await (shared?.sessionOf(options, startFor) ?? startFor());
    // A shorter cookie leaves room for other tabs' cookies.
    const { client: _, redirectUri: __, ...short } = pending;
    const { acrValues, maxAge } = need;
    const asked: Asked = {
      ...{ parameters, acrValues, maxAge, stepUps },
      reason: shared && (wanted.reason ?? need.reason),
    };
    const visit: Visit = { pending: short, returnTo, ...asked };
    return [url.href, await cookies.begin(headers, visit)];
  }

  /** Returns a sign-in's API. */
  apiOf({ pending }: Visit): ApiContext {
    const { all } = this.#settings;
    const { resource: wanted } = pending;
    return all.find(({ resource }) => isSame(wanted, resource.href)) ??
      all.find(({ resource }) => isAbove(wanted, resource)) ?? all[0]!;
  }

  /**
   * Redeems the code of a sign-in, once: a browser may repeat the request, and servers
   * revoke the tokens of a repeated code. Returns the session's identifier, the same
   * for all requests with this code, and its end.
   */
  async finish(
    { search, searchParams }: URL,
    visit: Visit,
    replace: Replace | undefined,
  ): Promise<Finished> {
    const { all, options, storeOf, redirectUri, now } = this.#settings;
    const { pending, reason = "fresh" } = visit;
    const api = this.apiOf(visit);
    const code = searchParams.get("code");
    // From the code too: a copied login cookie must not open the session of the user
    // who finished it.
    const secret = JSON.stringify([pending.codeVerifier, code]);
    const id = await hashBase64Url(`session ${secret}`);
    const mayBeRepeated = code && !searchParams.has("error");
    const task = async () => {
      const kept = mayBeRepeated && await keeper.load();
      if (kept) return endOf(kept);
      const context = fork(api.context);
      const session = await finishWith(context, redirectUri + search, {
        ...pending,
        redirectUri,
        client: keptClient(options.client, pending.issuer),
      });
      // An unrequested ID token is not checked.
      if (!pending.scopes.includes("openid")) delete session.token.id_token;
      const safeContext = fork(context, tokensOf(session));
      let endsAt = endOf(session);
      const save = async (former?: StoredSession) => {
        const need = { reason, mayRefresh: false };
        const whole = finishedSignIn(session, former, need, {
          ...api,
          context: safeContext,
        });
        endsAt = endOf(whole);
        await keeper.save(whole);
      };
      try {
        if (endsAt * 1000 <= now()) {
          const message =
            "session_expiry of the ID token has passed (compare " +
            "the clocks of the site and of the server)";
          throw new OAuthClientError("invalid_id_token", message);
        }
        await (api.apis && replace ? replace(api, save) : save());
      } catch (error) {
        await revokeSessionWith(safeContext, session).catch(() => {});
        throw error;
      }
      reportSignIn(context, session);
      return endsAt;
    };
    const keeper = keeperOf(storeOf(id));
    try {
      const endsAt = await keeper.locked(task, undefined);
      return { id, api: all.indexOf(api) || undefined, endsAt };
    } catch (error) {
      // The server may have moved its endpoints. Anyone can send a callback that is
      // rejected without a request, or a made-up code.
      if (
        isOAuthClientError(error) && error.url !== undefined &&
        error.error !== "invalid_grant"
      ) this.#known.clear();
      throw error;
    }
  }
}
