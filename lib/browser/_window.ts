/**
 * The used part of the window of a page. The types are written out, as the types of the
 * DOM are missing in Deno, Node and Workers.
 */

import { OAuthClientError } from "../core/errors.ts";

/** A window that the page has opened; its origin differs most of the time. */
export interface PopupWindow {
  readonly closed: boolean;
  readonly location: { readonly href: string; replace(url: string): void };
  close(): void;
}

/** A receiver of messages. */
interface MessageTarget {
  postMessage(message: unknown, targetOrigin: string): void;
}

/** An event of the window; only `message` events have the members. */
export interface WindowEvent {
  readonly data?: unknown;
  readonly origin?: string;
  readonly source?: MessageTarget | null;
}

/** A `BroadcastChannel`. */
export interface Channel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** The window of a page. */
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

/** Returns the window of the page; undefined outside of pages, as on a server. */
export function findWindow(): PageWindow | undefined {
  return "document" in globalThis
    ? globalThis as unknown as PageWindow
    : undefined;
}

/** Returns the window of the page. */
export function requireWindow(): PageWindow {
  const page = findWindow();
  if (page) return page;
  const message = "There is no window: this must run in a page of a browser";
  throw new OAuthClientError("unsupported", message);
}

/** Calls a function at an event of the window; returns a function that removes it. */
export function listen(
  page: PageWindow,
  type: string,
  listener: (event: WindowEvent) => void,
): () => void {
  page.addEventListener(type, listener);
  return () => page.removeEventListener(type, listener);
}
