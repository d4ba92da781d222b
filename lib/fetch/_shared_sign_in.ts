import { invalidArgument } from "../core/_arguments.ts";
import { mergeScopes, OFFLINE_ACCESS } from "../core/scopes.ts";
import type {
  SharedNeed,
  SharedRequest,
  SharedServer,
} from "../flows/_sharing.ts";
import { underSignal } from "../http/_clock.ts";
import { type Context, fork } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import type { OnEvent } from "../http/events.ts";
import { type Internal, internalOf } from "../session/_internal.ts";
import type { Session, StoredSession } from "../session/session.ts";
import type { SessionStore } from "../session/store.ts";
import { loadStored } from "./keeper/_session_keeper.ts";
import { nearest } from "./policy/_covered_urls.ts";
import { type Need, tokenOf, tokensOf } from "./policy/_need.ts";
import type { ApiContext, FetchSharing } from "./_api_context.ts";
import { discoverFor } from "./_new_sign_in.ts";
import {
  isRefusedTarget,
  type SharedApis,
  sharedRequest,
  sharersOf,
} from "./_shared_request.ts";
import {
  isSame,
  mergeSessions,
  rebased,
  requireServer,
  separateApi,
  viewOf,
  withoutTokens,
} from "./_shared_session.ts";
import { requireMatch } from "./_usable_session.ts";
import type { AuthorizedFetchOptions } from "./authorized_fetch_options.ts";

/** A `sharedSignIn` object; {@linkcode FetchSharing} describes its members. */
export class SignInSharing implements FetchSharing {
  readonly resources: readonly string[];
  readonly viewOf: typeof viewOf = viewOf;
  readonly withoutTokens: typeof withoutTokens = withoutTokens;
  readonly rebased: typeof rebased = rebased;
  readonly #shared: SharedApis;
  readonly #thumbprints = new WeakMap<SessionStore, string>();

  constructor(shared: SharedApis) {
    this.#shared = shared;
    this.resources = Object.keys(shared);
  }

  isOf(one: string | URL, url: string | URL): boolean {
    const name = nearest(this.resources, url);
    return name === undefined || name === nearest(this.resources, one);
  }

  receiverOf(
    { href }: URL,
    { store, bearer, dpop, flow, onEvent }: AuthorizedFetchOptions,
  ): OnEvent | undefined {
    const resource = nearest(this.resources, href) ?? "";
    const { thumbprint = "" } = dpop ?? {};
    const expectedKey = store && this.#thumbprints.get(store);
    const problems = {
      apis: !resource &&
        `an object with a key for ${href}, or a URL above it`,
      bearer: bearer === "id_token" &&
        "absent with apis: an ID token is for the client, whatever the API",
      flow: flow?.needsUser === false &&
        "a flow with a user: without apis, a fetch of each API needs none",
      store: flow && !store &&
        "set with apis, which share the session in it",
      dpop: (expectedKey ?? thumbprint) !== thumbprint &&
        "the same for each fetch with apis",
    };
    for (const [name, expected] of Object.entries(problems)) {
      if (expected) throw invalidArgument(name, expected);
    }
    if (store) this.#thumbprints.set(store, thumbprint);
    return onEvent && ((event) => onEvent({ ...event, resource }));
  }

  async requireServer(
    context: Context,
    found: SharedServer,
    api: ApiContext,
  ): Promise<void> {
    const load = () => loadStored(api).catch(() => undefined);
    requireServer(context, found, await underSignal(context.signal, load));
  }

  async check(
    session: StoredSession,
    need: Need,
    api: ApiContext,
  ): Promise<StoredSession> {
    const { apis, resource } = session;
    const isShared = apis && !internalOf(session).isAlone;
    if (!isShared || tokenOf(session)) return session;
    const context = fork(api.context, tokensOf(session));
    const safeApi = { ...api, context };
    const found = await discoverFor(need, safeApi);
    // Byte for byte as in the metadata, which the caller need not know.
    const next = isSame(resource, found.resource)
      ? { ...session, resource: found.resource }
      : session;
    // Another API's server could return anything, such as another user's token.
    requireMatch(next, safeApi, found);
    return next;
  }

  separatedAfter(
    error: unknown,
    session: StoredSession,
  ): StoredSession | undefined {
    const isShared = session.apis && !internalOf(session).isAlone;
    if (!isShared || !isRefusedTarget(error)) return undefined;
    // Many servers then count the refresh token as used: a second use would look like
    // theft. The others keep their access tokens.
    return separateApi(session);
  }

  begin(
    context: Context,
    found: SharedServer,
    stored: StoredSession | null | undefined,
    need?: SharedNeed,
  ): SharedRequest {
    const { resource, serverMetadata: { issuer } } = found;
    requireServer(context, found, stored);
    const session = stored?.issuer === issuer ? stored : undefined;
    const name = this.resources.find((one) => isSame(one, resource));
    if (name === undefined) {
      const message = words`Invalid apis: expected an object with ${{
        url: resource,
      }}, the resource that the sign-in is for`;
      throw errorOf(context, "invalid_argument", message);
    }
    const start = { name, found, session, need };
    return sharedRequest(context, this.#shared, start);
  }

  end(
    { ...session }: Session,
    former: StoredSession | undefined,
    need?: SharedNeed,
  ): Session {
    const { scopes, resource } = session;
    if (!session.apis) {
      // The caller's own flow, which does not know the others.
      const { resourceIndicator: indicator } = internalOf(session);
      const options = indicator === false
        ? { resourceIndicator: indicator }
        : {};
      session.apis = {
        ...sharersOf(this.#shared, resource, former, options).apis,
      };
      if (internalOf(former).isAlone) {
        const internal: Internal = { ...session.internal, isAlone: true };
        session.internal = internal;
      }
    }
    const offline = scopes.filter((scope) => scope === OFFLINE_ACCESS);
    const apis = Object.entries(session.apis).map(([name, api]) => {
      const all = internalOf(api).isAlone
        ? api.scopes
        : mergeScopes(api.scopes, offline);
      return [name, { ...api, scopes: all }];
    });
    const whole = { ...session, apis: Object.fromEntries(apis) };
    return mergeSessions(whole, former, need);
  }
}
