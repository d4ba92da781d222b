/** The body of an authorization response that a browser posts (`response_mode=form_post`). */

import { isForm } from "../http/_response.ts";

/** No authorization response needs more, and anyone can post to the URL. */
const MAX_CHARACTERS = 16_384;

/** The used part of a request; a `Request` satisfies it. */
export interface Posted {
  readonly method?: string | undefined;
  readonly headers: { get(name: string): string | null };
  readonly body?: unknown;
}

/** Returns undefined unless the request is a `POST` with an unread, short form. */
export async function postedForm(
  { method, headers, body }: Posted,
): Promise<URLSearchParams | undefined> {
  if (method !== "POST" || !body || !isForm({ headers })) return undefined;
  if (body instanceof URLSearchParams) return body;
  if ((body as { locked?: boolean }).locked) return undefined;
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_CHARACTERS) return undefined;
  }
  return new URLSearchParams(text);
}
