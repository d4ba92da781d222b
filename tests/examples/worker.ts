import { DurableObject, env } from "cloudflare:workers";
import type { IKnownClient, ISession } from "@oauth-helper/client";
import { createWebSignIn } from "@oauth-helper/client/web";

const { RESOURCE, SESSIONS } = env;
const client: IKnownClient = JSON.parse(env.CLIENT);
const lifetimeSeconds = 30 * 24 * 3600;

/** Keeps a session, and has one task at a time refresh it, of whichever Worker. */
export class Session extends DurableObject {
  #last: Promise<unknown> = Promise.resolve();
  load(): Promise<ISession | undefined> {
    return this.ctx.storage.get("session");
  }
  async save(session: ISession | undefined): Promise<void> {
    if (!session) return await this.ctx.storage.deleteAll();
    await this.ctx.storage.put("session", session);
    await this.ctx.storage.setAlarm(Date.now() + lifetimeSeconds * 1000);
  }
  lock(task: () => Promise<void>): Promise<void> {
    const result = this.#last.then(() => task());
    this.#last = result.catch(() => {});
    return result;
  }
  async alarm(): Promise<void> {
    await this.ctx.storage.deleteAll();
  }
}

export const signIn = createWebSignIn(RESOURCE, {
  origin: env.ORIGIN,
  client,
  storeOf(id) {
    const session = SESSIONS.getByName(id);
    return {
      load: () => session.load(),
      save: (next) => session.save(next),
      // An error that passes the Durable Object loses its class and its code.
      lock: (task, signal) =>
        new Promise((resolve, reject) => {
          const turn = async () => {
            signal?.throwIfAborted();
            resolve(await task());
          };
          session.lock(() => turn().catch(reject)).catch(reject);
        }),
    };
  },
  cookieKeys: [env.COOKIE_KEY],
  lifetimeSeconds,
});

export default {
  async fetch(request: Request): Promise<Response> {
    const handled = await signIn.handle(request);
    return handled ?? await signIn.respond(request, (api) => api(RESOURCE));
  },
};
