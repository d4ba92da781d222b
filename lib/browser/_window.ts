/** The used part of a page's window. Deno, Node and Workers lack the DOM's types. */

import { OAuthClientError } from "../core/errors.ts";

/** A window that the page has opened, usually of another origin. */
export interface PopupWindow {
  readonly closed: boolean;
  readonly location: { readonly href: string; replace(url: string): void };
  close(): void;
}

interface MessageTarget {
  postMessage(message: unknown, targetOrigin: string): void;
}

/** An event of the window; only `message` events carry the members. */
export interface WindowEvent {
  readonly data?: unknown;
  readonly origin?: string;
  readonly source?: MessageTarget | null;
}

export interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

export interface PageWindow {
  readonly document: { hasFocus(): boolean };
  readonly history: {
    readonly state: unknown;
    replaceState(state: unknown, unused: string, url: string): void;
  };
  readonly location: {
    readonly href: string;
    readonly origin: string;
    assign(url: string): void;
    replace(url: string): void;
  };
  readonly opener: MessageTarget | null;
  readonly BroadcastChannel: new (name: string) => Channel;
  addEventListener(type: string, listener: (event: WindowEvent) => void): void;
  removeEventListener(
    type: string,
    listener: (event: WindowEvent) => void,
  ): void;
  open(url: string, target: string, features: string): PopupWindow | null;
  close(): void;
}

/** Returns undefined outside of pages, as on a server. */
export function findWindow(): PageWindow | undefined {
  return "document" in globalThis
    ? globalThis as unknown as PageWindow
    : undefined;
}

export function requireWindow(): PageWindow {
  const page = findWindow();
  if (page) return page;
  const message = "There is no window: this must run in a page of a browser";
  throw new OAuthClientError("unsupported", message);
}

/** Returns a function that removes the listener. */
export function listen(
  page: PageWindow,
  type: string,
  listener: (event: WindowEvent) => void,
): () => void {
  page.addEventListener(type, listener);
  return () => page.removeEventListener(type, listener);
}
