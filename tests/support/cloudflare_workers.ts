/**
 * Types of the module `cloudflare:workers`, as far as the example uses them; `wrangler
 * types` generates all of them. The module itself is a part of workerd.
 */

import type { Session } from "@oauth-helper/client";

interface DurableObjectStorage {
  get<T>(key: string): Promise<T | undefined>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<boolean>;
  deleteAlarm(): Promise<void>;
  setAlarm(scheduledTime: number): Promise<void>;
}

/** The base of Durable Objects. */
export declare class DurableObject {
  protected readonly ctx: { readonly storage: DurableObjectStorage };
}

/** The methods of the Durable Object of the example, as a Worker calls them. */
interface SessionObject {
  load(): Promise<Session | null | undefined>;
  save(session: Session | undefined): Promise<void>;
  lock(task: () => Promise<void>): Promise<void>;
}

/** The variables, secrets and bindings of the Worker. */
export declare const env: {
  readonly RESOURCE: string;
  readonly ORIGIN: string;
  readonly COOKIE_KEY: string;
  readonly CLIENT: string;
  readonly SESSIONS: { getByName(name: string): SessionObject };
};
