/**
 * How the page in the popup passes the authorization response to the page that opened
 * it. Both ways stay within the origin:
 *
 * - a `BroadcastChannel`, which also works if the `Cross-Origin-Opener-Policy` of the
 *   server has separated the popup from the page;
 * - a message to the opener, which also works if the page is in a frame of another
 *   site: browsers separate the channels of such frames from the channels of the popup.
 *
 * Storage events would also work, but would write the code to the storage.
 */

import { isObject } from "../core/_members.ts";
import { type Channel, listen, type PageWindow } from "./_window.ts";

/** How long the popup waits until a page receives the response. */
const TAKEN_MS = 1_000;

/**
 * A message of the popup with the URL of the response, or the confirmation of the page.
 */
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

/** Checks whether a message is of this type and for this `state`. */
function isMessage(
  data: unknown,
  type: Message["type"],
  state: string,
): data is Message {
  return isObject(data) && data.type === type && data.state === state;
}

/**
 * Calls a function once with the URL of the response; returns a function that ends the
 * wait.
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

/** Sends the URL of a response; resolves to whether a page has received it. */
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
