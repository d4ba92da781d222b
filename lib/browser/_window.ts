/**
 * The used part of the window of a page. The types are written out, as the types of the
 * DOM are missing in Deno, Node and Workers.
 */

import { OAuthClientError } from "../core/errors.ts";

/** A window that the page has opened; its origin differs most of the time. */
export interface IPopupWindow {
  readonly closed: boolean;
  readonly location: { readonly href: string; replace(url: string): void };
  close(): void;
}

/** A receiver of messages. */
interface IMessageTarget {
  postMessage(message: unknown, targetOrigin: string): void;
}

/** An event of the window; only `message` events have the members. */
export interface IWindowEvent {
  readonly data?: unknown;
  readonly origin?: string;
  readonly source?: IMessageTarget | null;
}

/** A `BroadcastChannel`. */
export interface IChannel {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
  close(): void;
}

/** The window of a page. */
export interface IPageWindow {
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
  readonly opener: IMessageTarget | null;
  readonly BroadcastChannel: new (name: string) => IChannel;
  addEventListener(type: string, listener: (event: IWindowEvent) => void): void;
  removeEventListener(
    type: string,
    listener: (event: IWindowEvent) => void,
  ): void;
  open(url: string, target: string, features: string): IPopupWindow | null;
  close(): void;
}

/** Returns the window of the page; undefined outside of pages, as on a server. */
export function findWindow(): IPageWindow | undefined {
  return "document" in globalThis
    ? globalThis as unknown as IPageWindow
    : undefined;
}

/** Returns the window of the page. */
export function requireWindow(): IPageWindow {
  const page = findWindow();
  if (page) return page;
  const message = "There is no window: this must run in a page of a browser";
  throw new OAuthClientError("unsupported", message);
}

/** Calls a function at an event of the window; returns a function that removes it. */
export function listen(
  page: IPageWindow,
  type: string,
  listener: (event: IWindowEvent) => void,
): () => void {
  page.addEventListener(type, listener);
  return () => page.removeEventListener(type, listener);
}
