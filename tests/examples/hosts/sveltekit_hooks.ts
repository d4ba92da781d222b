import type { IAuthorizedFetch } from "@oauth-helper/client";
import type { IWebSignIn } from "@oauth-helper/client/web";

/** The part of SvelteKit's `RequestEvent` that is used; `locals` is in `app.d.ts`. */
interface IRequestEvent {
  readonly request: Request;
  readonly locals: { api?: IAuthorizedFetch | undefined };
}

/**
 * Creates `handle` of `src/hooks.server.ts`. A `load` function on the server calls the
 * API by `locals.api`, and without it SvelteKit's `redirect(303, "/login?returnTo=/")`.
 * It returns data, so it cannot use `respond`; the `GET` of a `+server.ts` can. If
 * `locals.api` rejects because a server is down, SvelteKit shows `+error.svelte`.
 */
export const createHandle =
  (signIn: IWebSignIn) =>
  async <Event extends IRequestEvent>(
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
