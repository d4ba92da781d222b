import type { AuthorizedFetch } from "@oauth-helper/client";
import type { WebSignIn } from "@oauth-helper/client/web";

/** The part of SvelteKit's `RequestEvent` that is used; `locals` is in `app.d.ts`. */
interface RequestEvent {
  readonly request: Request;
  readonly locals: { api?: AuthorizedFetch | undefined };
}

/**
 * Creates `handle` of `src/hooks.server.ts`. A `load` function on the server calls the
 * API by `locals.api`, and without it SvelteKit's `redirect(303, "/login?returnTo=/")`.
 * It returns data, so it cannot use `respond`; the `GET` of a `+server.ts` can. If
 * `locals.api` rejects because a server is down, SvelteKit shows `+error.svelte`.
 */
export const createHandle =
  (signIn: WebSignIn) =>
  async <Event extends RequestEvent>(
    { event, resolve }: {
      event: Event;
      resolve(event: Event): Promise<Response> | Response;
    },
  ): Promise<Response> => {
    const handled = await signIn.handle(event.request);
    if (handled) return handled;
    event.locals.api = await signIn.apiOf(event.request);
    return await resolve(event);
  };
