/** What the routes of a web server share: its sessions, visits, redirects and pages. */

import { isOAuthClientError } from "../core/errors.ts";
import { isCovered } from "../fetch/policy/_covered_urls.ts";
import { Memories } from "../fetch/keeper/_session_memory.ts";
import type { INeed } from "../fetch/policy/_need.ts";
import type { IApiContext } from "../fetch/_api_context.ts";
import { withStore } from "../fetch/_settings.ts";
import { keeperOf, loadSession } from "../fetch/keeper/_session_keeper.ts";
import { fetchWith } from "../fetch/authorized_fetch.ts";
import type { IAuthorizedFetch } from "../fetch/authorized_fetch_options.ts";
import type { ISession } from "../session/session.ts";
import type { ISignedIn } from "./_cookies.ts";
import { isNavigation } from "./_requests.ts";
import { page, redirect } from "./_responses.ts";
import { type IWanted, Visits } from "./_visits.ts";
import type { IWebSettings } from "./_web_settings.ts";
import type { IWebRequest, WebSignInStep } from "./web_sign_in_options.ts";

/** The need of a plain sign-in. */
export const FRESH: INeed = {
  reason: "fresh",
  refused: undefined,
  mayRefresh: false,
};

/** A user, by the identifier of the session in the store. */
type IUser = Pick<ISignedIn, "id">;

/** Where a request has failed, and what its response has besides a page. */
interface IFailed {
  readonly step: WebSignInStep;
  /** Where the user wanted to go. */
  readonly returnTo?: string | undefined;
  /** The `Set-Cookie` lines of the response. */
  readonly lines?: readonly string[] | undefined;
}

/** A web server, with what its process remembers. */
export class Site {
  readonly settings: IWebSettings;
  readonly visits: Visits;
  readonly loginUrl: string;
  /** `storeOf` may return another object for each request. */
  readonly #memories = new Memories();
  readonly #results = new WeakMap<object, IApiContext>();

  constructor(settings: IWebSettings) {
    this.settings = settings;
    this.visits = new Visits(settings);
    this.loginUrl = settings.origin + settings.paths.loginPath;
  }

  /** Returns where a script has its user sign in, for one of several APIs. */
  loginUrlOf(api: IApiContext | undefined): string {
    if (!api || this.settings.all.length < 2) return this.loginUrl;
    const url = new URL(this.loginUrl);
    url.searchParams.set("resource", api.resource.href);
    return url.href;
  }

  /** Returns the API that a URL belongs to. */
  apiAt(url: string | URL): IApiContext | undefined {
    return this.settings.all.find(({ sending }) => isCovered(url, sending));
  }

  /** Returns the API of what a fetch has returned or thrown. */
  apiOf(result: unknown): IApiContext | undefined {
    return this.#results.get(Object(result));
  }

  /** Returns the context of an API for a user. */
  contextFor({ id }: IUser, api: IApiContext = this.settings): IApiContext {
    const store = this.settings.options.storeOf(id);
    return withStore(api, store, this.#memories.of(id));
  }

  /** Returns the fetch of an API for a user. */
  fetchFor(user: IUser, api: IApiContext): IAuthorizedFetch {
    const userFetch = fetchWith(this.contextFor(user, api));
    // What it returns and throws: the rest is of the site itself.
    const call = async (...[input, init]: Parameters<IAuthorizedFetch>) => {
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

  /** Returns the session of a user. */
  async sessionOf(
    user: IUser | undefined,
    api?: IApiContext,
  ): Promise<ISession | undefined> {
    return user && await loadSession(this.contextFor(user, api));
  }

  /**
   * Replaces a session by one that may keep tokens of it. Under the lock, so that nobody
   * refreshes these tokens meanwhile; the former session is removed.
   */
  async replace(
    user: ISignedIn,
    api: IApiContext,
    save: (former: ISession | undefined) => Promise<void>,
  ): Promise<void> {
    const userApi = this.contextFor(user, api);
    const { keeper } = userApi;
    await keeper.locked(async () => {
      await save(await loadSession(userApi).catch(() => undefined));
      await keeper.remove().catch(() => {});
    }, undefined);
  }

  /** Deletes a session once no other process refreshes it, and returns it. */
  async remove({ id }: ISignedIn): Promise<ISession | undefined> {
    const memory = this.#memories.of(id);
    const keeper = keeperOf(this.settings.options.storeOf(id), memory);
    return await keeper.locked(() => keeper.remove(), undefined);
  }

  /** Responds to a request that has failed. */
  async failed(
    error: unknown,
    request: IWebRequest,
    { step, returnTo, lines }: IFailed,
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

  /** Redirects the user to the server. */
  async begin(
    request: IWebRequest,
    wanted: IWanted,
    { step = "login", lines: ended = [] }: Partial<IFailed> = {},
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
