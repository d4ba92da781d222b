import type { AuthorizedFetch } from "@oauth-helper/client";
import { answer, signIn } from "./sign_in.ts";

/** The part of SvelteKit's `RequestEvent` that is used; `locals` is in `app.d.ts`. */
interface RequestEvent {
  readonly request: Request;
  readonly locals: { api?: AuthorizedFetch | undefined };
}

export async function handle<Event extends RequestEvent>(
  { event, resolve }: {
    event: Event;
    resolve(event: Event): Promise<Response> | Response;
  },
): Promise<Response> {
  const response = await answer(event.request);
  if (response) return response;
  // For `load` functions on the server.
  event.locals.api = await signIn.apiOf(event.request);
  return await resolve(event);
}
