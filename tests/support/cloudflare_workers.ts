/**
 * Types of the module `cloudflare:workers`, as far as the example uses them; `wrangler
 * types` generates all of them. The module itself is a part of workerd.
 */

interface IDurableObjectStorage {
  get<T>(key: string): Promise<T | undefined>;
  put(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<boolean>;
}

/** The base of Durable Objects. */
export declare class DurableObject {
  protected readonly ctx: { readonly storage: IDurableObjectStorage };
}

/** The variables, secrets and bindings of the Worker. */
export declare const env: {
  readonly RESOURCE: string;
  readonly REDIRECT_URI: string;
  readonly CLIENT: string;
  readonly USERS: { getByName(name: string): { fetch: typeof fetch } };
};
