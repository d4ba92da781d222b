/**
 * Sign-in for web servers: {@linkcode createWebSignIn}. The guide is `docs/web.md` in
 * the package.
 *
 * **Frameworks.** The functions accept a `Request` and return a `Response`, as in Hono,
 * Deno, Bun, Workers, Next.js, h3 and Nuxt, SvelteKit, TanStack Start, Elysia, Remix and
 * React Router. For Express, Fastify and other servers of Node, use
 * {@linkcode webRequestOf} and {@linkcode sendResponse}.
 *
 * **Behind a proxy**, a request's origin may differ from the site's: only the option
 * `origin` counts.
 *
 * **Cookies.** The session cookie contains the session's identifier. While a user is at
 * the server, a login cookie contains the data for the callback. Both are encrypted, so
 * a copy of your database does not sign an attacker in. A cookie that was copied out of
 * a browser does, until the user signs out or its lifetime ends.
 *
 * **The store** needs a lifetime too, because users who do not come back never sign
 * out. Set it to at least the option `lifetimeSeconds`.
 *
 * @example A server
 * ```ts
 * import type { KnownClient } from "@oauth-helper/client";
 * import { redisStore, type RedisClient } from "@oauth-helper/client/stores";
 * import { createWebSignIn } from "@oauth-helper/client/web";
 *
 * export function serve(redis: RedisClient, client: KnownClient, key: string) {
 *   const resource = "https://api.example/notes";
 *   const lifetimeSeconds = 30 * 24 * 3600;
 *   const signIn = createWebSignIn(resource, {
 *     origin: "https://app.example",
 *     client,
 *     storeOf: (id) => redisStore(redis, `user:${id}`, { lifetimeSeconds }),
 *     cookieKeys: [key],
 *     lifetimeSeconds,
 *   });
 *   return async (request: Request) => {
 *     const handled = await signIn.handle(request);
 *     return handled ?? await signIn.respond(request, (api) => api(resource));
 *   };
 * }
 * ```
 *
 * @module
 */

export { forwardRequest } from "./forward_request.ts";
export * from "./node_server.ts";
export * from "./web_sign_in.ts";
export * from "./web_sign_in_options.ts";
