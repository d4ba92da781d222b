/**
 * Sign-in for web servers: {@linkcode createWebSignIn}.
 *
 * **Frameworks.** The functions accept a `Request` and return a `Response`, as in Hono,
 * Deno, Bun, Workers, SvelteKit, Remix, Fresh and the route handlers of Next.js. For
 * Express and other servers of Node, use {@linkcode webRequestOf} and
 * {@linkcode sendResponse}.
 *
 * **Behind a proxy**, a request may have another origin than the site: only the option
 * `origin` counts.
 *
 * **Cookies.** The cookie of a sign-in contains the identifier of the session. While a
 * user is at the server, a second cookie contains what is needed when the user comes
 * back. Both are encrypted, so a copy of your database does not sign an attacker in. A
 * cookie that was copied out of a browser does, until the user signs out or its
 * lifetime ends.
 *
 * **The store** needs a lifetime too, because users who do not come back never sign
 * out. Set it to at least the option `lifetimeSeconds`.
 *
 * @module
 */

export { forwardRequest } from "./forward_request.ts";
export * from "./node_server.ts";
export * from "./web_sign_in.ts";
export * from "./web_sign_in_options.ts";
