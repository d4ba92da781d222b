import { DurableObject, env } from "cloudflare:workers";
import type { KnownClient, StoredSession } from "@oauth-helper/client";
import { durableObjectStore, remoteStore } from "@oauth-helper/client/stores";
import { createWebSignIn } from "@oauth-helper/client/web";

const { RESOURCE, SESSIONS } = env;
const client: KnownClient = JSON.parse(env.CLIENT);
const lifetimeSeconds = 30 * 24 * 3600;

/** Keeps a session; one Worker at a time refreshes it. */
export class SessionObject extends DurableObject {
  readonly #store = durableObjectStore(this.ctx, { lifetimeSeconds });
  load(): Promise<StoredSession | null | undefined> {
    return this.#store.load();
  }
  save(session?: StoredSession, former?: StoredSession | null) {
    return this.#store.save(session, former);
  }
  lock(task: () => Promise<void>): Promise<void> {
    return this.#store.lock(task);
  }
  async alarm(): Promise<void> {
    await this.#store.save(undefined);
  }
}

export const signIn = createWebSignIn(RESOURCE, {
  origin: env.ORIGIN,
  client,
  storeOf: (id) => remoteStore(SESSIONS.getByName(id)),
  cookieKeys: [env.COOKIE_KEY],
  lifetimeSeconds,
});

export default {
  async fetch(request: Request): Promise<Response> {
    const handled = await signIn.handle(request);
    return handled ?? await signIn.respond(request, (api) => api(RESOURCE));
  },
};
