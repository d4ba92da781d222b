/** State that a web server's routes share: sessions, sign-ins, redirects and pages. */

import { isOAuthClientError } from "../core/errors.ts";
import { isCovered } from "../fetch/policy/_covered_urls.ts";
import { Memories } from "../fetch/keeper/_session_memory.ts";
import type { Need } from "../fetch/policy/_need.ts";
import type { ApiContext } from "../fetch/_api_context.ts";
import { withStore } from "../fetch/_settings.ts";
import { keeperOf, loadSession } from "../fetch/keeper/_session_keeper.ts";
import { fetchWith } from "../fetch/authorized_fetch.ts";
import type { AuthorizedFetch } from "../fetch/authorized_fetch_options.ts";
import type { StoredSession } from "../session/session.ts";
import type { SignedIn } from "./_cookies.ts";
import { isNavigation } from "./_requests.ts";
import { page, redirect } from "./_responses.ts";
import { Visits, type Wanted } from "./_visits.ts";
import type { WebSettings } from "./_web_settings.ts";
import type { WebRequest, WebSignInStep } from "./web_sign_in_options.ts";

export const FRESH: Need = {
  reason: "fresh",
  refused: undefined,
  mayRefresh: false,
};

type User = Pick<SignedIn, "id">;

/** Where a request failed, and additions to its response. */
interface Failed {
  readonly step: WebSignInStep;
  /** The page that the user wanted. */
  readonly returnTo?: string | undefined;
  readonly lines?: readonly string[] | undefined;
}

/** A web server with its process's memory. */
export class Site {
  readonly settings: WebSettings;
  readonly visits: Visits;
  readonly loginUrl: string;
  /** `storeOf` may return another object for each request. */
  readonly #memories = new Memories();
  readonly #results = new WeakMap<object, ApiContext>();

  constructor(settings: WebSettings) {
    this.settings = settings;
    this.visits = new Visits(settings);
    this.loginUrl = settings.origin + settings.paths.loginPath;
  }

  /** Returns the sign-in URL for a script, for one of several APIs. */
  loginUrlOf(api: ApiContext | undefined): string {
    if (!api || this.settings.all.length < 2) return this.loginUrl;
    const url = new URL(this.loginUrl);
    url.searchParams.set("resource", api.resource.href);
    return url.href;
  }

  apiAt(url: string | URL): ApiContext | undefined {
    return this.settings.all.find(({ sending }) => isCovered(url, sending));
  }

  /** Returns the API whose fetch returned or threw this. */
  apiOf(result: unknown): ApiContext | undefined {
    return this.#results.get(Object(result));
  }

  contextFor({ id }: User, api: ApiContext = this.settings): ApiContext {
    const store = this.settings.storeOf(id);
    return withStore(api, store, this.#memories.of(id));
  }

  fetchFor(user: User, api: ApiContext): AuthorizedFetch {
    const userFetch = fetchWith(this.contextFor(user, api));
    // Marks its results and errors: others are the site's own.
    const call = async (...[input, init]: Parameters<AuthorizedFetch>) => {
      try {
        const response = await userFetch(input, init);
        this.#results.set(response, api);
        return response;
      } catch (error) {
        if (error instanceof Object) this.#results.set(error, api);
        throw error;
      }
    };
    return Object.assign(call, userFetch);
  }

  async sessionOf(
    user: User | undefined,
    api?: ApiContext,
  ): Promise<StoredSession | undefined> {
    return user && await loadSession(this.contextFor(user, api));
  }

  /**
   * Replaces a session by one that may keep its tokens. Under the lock, so that nobody
   * refreshes these tokens meanwhile; the former session is removed.
   */
  async replace(
    user: SignedIn,
    api: ApiContext,
    save: (former: StoredSession | undefined) => Promise<void>,
  ): Promise<void> {
    const userApi = this.contextFor(user, api);
    const { keeper } = userApi;
    await keeper.locked(async () => {
      await save(await loadSession(userApi).catch(() => undefined));
      await keeper.remove().catch(() => {});
    }, undefined);
  }

  /** Deletes and returns a session after other processes' refreshes. */
  async remove({ id }: SignedIn): Promise<StoredSession | undefined> {
    const memory = this.#memories.of(id);
    const keeper = keeperOf(this.settings.storeOf(id), memory);
    return await keeper.locked(() => keeper.remove(), undefined);
  }

  async failed(
    error: unknown,
    request: WebRequest,
    { step, returnTo, lines }: Failed,
  ): Promise<Response> {
    const { origin, home, options: { onError }, paths } = this.settings;
    const to = returnTo ?? paths.homePath;
    const url = new URL(this.loginUrl);
    if (to !== paths.homePath) url.searchParams.set("returnTo", to);
    const isOfSite = step === "respond";
    const isForScript = isOfSite && !isNavigation(request);
    const again = isOfSite ? origin + to : undefined;
    const login = isForScript ? this.loginUrl : url.href;
    const shown = page(error, { login, home, again, isForScript }, lines);
    try {
      if (onError) {
        return await onError(error, { step, request, page: shown }) ?? shown;
      }
      if (!isOAuthClientError(error, "expired")) console.error(error);
    } catch (thrown) {
      console.error(thrown);
    }
    return shown;
  }

  async begin(
    request: WebRequest,
    wanted: Wanted,
    { step = "login", lines: ended = [] }: Partial<Failed> = {},
  ): Promise<Response> {
    const { returnTo } = wanted;
    try {
      const [url, lines] = await this.visits.begin(request.headers, wanted);
      return redirect(url, [...ended, ...lines]);
    } catch (error) {
      return await this.failed(error, request, {
        step,
        returnTo,
        lines: ended,
      });
    }
  }
}
