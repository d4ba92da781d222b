/**
 * Passes the authorization response from the popup to the opening page, within the
 * origin:
 *
 * - by a `BroadcastChannel`, which works even if the server's
 *   `Cross-Origin-Opener-Policy` separated the popup;
 * - by a message to the opener, which works even in a frame of another site, whose
 *   channels browsers separate.
 *
 * Storage events would write the code to the storage.
 */

import { isObject } from "../core/_members.ts";
import { type Channel, listen, type PageWindow } from "./_window.ts";

/** How long the popup waits until a page receives the response. */
const TAKEN_MS = 1_000;

/** The popup's message with the response's URL, or the page's confirmation. */
interface Message {
  readonly type: "oauth-helper:response" | "oauth-helper:taken";
  readonly state: string;
  readonly url?: string;
}

/**
 * Opens the channel for a `state`; some browsers reject this in frames of other sites.
 */
function openChannel(
  page: PageWindow,
  state: string,
): Channel | undefined {
  try {
    return new page.BroadcastChannel(`oauth-helper:${state}`);
  } catch {
    return undefined;
  }
}

function isMessage(
  data: unknown,
  type: Message["type"],
  state: string,
): data is Message {
  return isObject(data) && data.type === type && data.state === state;
}

/**
 * Calls a function once with the response's URL. Returns a function that stops waiting.
 */
export function onResponse(
  page: PageWindow,
  state: string,
  take: (url: string) => void,
): () => void {
  const taken: Message = { type: "oauth-helper:taken", state };
  const { origin } = page.location;
  const read = (data: unknown, confirm: () => void) => {
    if (!isMessage(data, "oauth-helper:response", state)) return;
    confirm();
    take(String(data.url));
  };
  const channel = openChannel(page, state);
  if (channel) {
    channel.onmessage = ({ data }) =>
      read(data, () => channel.postMessage(taken));
  }
  const unlisten = listen(page, "message", (event) => {
    if (event.origin !== origin) return;
    read(event.data, () => event.source?.postMessage(taken, origin));
  });
  return () => {
    unlisten();
    channel?.close();
  };
}

/** Resolves to whether a page received the response. */
export async function sendResponse(
  page: PageWindow,
  state: string,
  url: string,
): Promise<boolean> {
  const message: Message = { type: "oauth-helper:response", state, url };
  const { origin } = page.location;
  const channel = openChannel(page, state);
  let unlisten = () => {};
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<boolean>((resolve) => {
      const read = (data: unknown) => {
        if (isMessage(data, "oauth-helper:taken", state)) resolve(true);
      };
      if (channel) channel.onmessage = ({ data }) => read(data);
      unlisten = listen(page, "message", (event) => {
        if (event.origin === origin) read(event.data);
      });
      timer = setTimeout(() => resolve(false), TAKEN_MS);
      channel?.postMessage(message);
      // Not delivered if the opener is a page of another origin.
      page.opener?.postMessage(message, origin);
    });
  } finally {
    clearTimeout(timer);
    unlisten();
    channel?.close();
  }
}
