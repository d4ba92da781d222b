/**
 * A Cloudflare Worker that keeps the session of each user in a Durable Object. KV
 * has no lock, so two requests could use one refresh token.
 */

import { DurableObject } from "cloudflare:workers";
import { createAuthorizedFetch } from "@oauth-helper/client";

const LEASE_MS = 10_000;

/** Keeps one session, and the owner of its lock. */
export class SessionObject extends DurableObject {
  load() {
    return this.ctx.storage.get("session");
  }

  save(session) {
    return session
      ? this.ctx.storage.put("session", session)
      : this.ctx.storage.delete("session");
  }

  /** Acquires or extends the lock; returns whether this owner holds it. */
  acquire(owner) {
    const isFree = !this.lock || this.lock.expiresAt < Date.now();
    if (!isFree && this.lock.owner !== owner) return false;
    this.lock = { owner, expiresAt: Date.now() + LEASE_MS };
    return true;
  }

  release(owner) {
    if (this.lock?.owner === owner) this.lock = undefined;
  }
}

/** Creates a store from the stub of a {@linkcode SessionObject}. */
function durableObjectStore(stub) {
  return {
    load: () => stub.load(),
    save: (session) => stub.save(session),
    async lock(task) {
      const owner = crypto.randomUUID();
      while (!await stub.acquire(owner)) await scheduler.wait(50);
      const heartbeat = setInterval(() => stub.acquire(owner), LEASE_MS / 4);
      try {
        return await task();
      } finally {
        clearInterval(heartbeat);
        await stub.release(owner);
      }
    },
  };
}

export default {
  async fetch(request, env) {
    const user = new URL(request.url).searchParams.get("user");
    const stub = env.SESSIONS.get(env.SESSIONS.idFromName(user));
    const store = durableObjectStore(stub);
    if (request.method === "PUT") {
      await store.save(await request.json());
      return new Response(null, { status: 204 });
    }
    // One for each request: requests of a Worker cannot share connections.
    const api = createAuthorizedFetch(env.RESOURCE, {
      store,
      authorize: () => Promise.reject(new Error("Sign in first")),
    });
    const response = await api(env.RESOURCE);
    return new Response(await response.text(), { status: response.status });
  },
};
