/** A process's receivers share one listener for each port. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { IPV4, listen, type Place } from "./_listener.ts";
import { lastPage, type Page, PAGE_HEADERS, renderPage } from "./_page.ts";
import type { LoopbackReceiverOptions } from "./loopback_receiver_options.ts";

/** A sign-in whose response the listener expects. */
export interface AwaitedVisit extends Pick<LoopbackReceiverOptions, "page"> {
  readonly path: string;
  readonly title: string;
  /** Called with the response's query, when the last page has been sent. */
  readonly finish: (query: string) => void;
}

export interface SharedListener {
  readonly port: number;
  /** Also listens for `localhost`, at the same port. */
  alsoForLocalhost(): Promise<void>;
  /**
   * Waits for the response with a `state`, or with none if it is empty, and keeps the
   * process alive. Returns a function that stops this.
   */
  expect(state: string, visit: AwaitedVisit): () => void;
  /** Stops listening, unless another receiver uses the port. */
  release(): Promise<void>;
}

interface UsedListener extends SharedListener {
  users: number;
}

/** By address and port. */
const listeners = new Map<string, UsedListener>();

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a task after all earlier ones: a port may be in use until its listener closes.
 */
function inOrder<T>(task: () => Promise<T>): Promise<T> {
  const result = last.then(task);
  last = result.catch(() => {});
  return result;
}

async function start(
  place: Place,
  title: string,
  mayChange: boolean,
): Promise<UsedListener> {
  const visits = new Map<string, AwaitedVisit>();
  const nothing: Page = {
    status: 404,
    headers: PAGE_HEADERS,
    body: renderPage(title, "There is nothing here."),
  };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? "";
    const pathname = target.replace(/\?.*$/s, "");
    const query = target.slice(pathname.length);
    const parameters = new URLSearchParams(query);
    const isResponse = ["state", "code", "error"]
      .some((name) => parameters.has(name));
    const found = isResponse
      ? visits.get(parameters.get("state") ?? "")
      : undefined;
    const visit = request.method === "GET" && found?.path === pathname
      ? found
      : undefined;
    // The page has been sent, or the browser has gone.
    if (visit) response.once("close", () => visit.finish(query));
    const { status, headers, body } = visit
      ? lastPage(parameters, visit.title, visit.page)
      : nothing;
    response.writeHead(status, headers);
    response.end(body);
  };
  const listener = await listen(place, handle, mayChange);
  const { port, alsoForLocalhost } = listener;
  const key = listenerKey(place, port);
  const shared: UsedListener = {
    users: 1,
    ...{ port, alsoForLocalhost },
    expect(state, visit) {
      visits.set(state, visit);
      listener.keepAlive(true);
      return () => {
        visits.delete(state);
        if (visits.size === 0) listener.keepAlive(false);
      };
    },
    release: () => {
      shared.users--;
      return inOrder(async () => {
        if (shared.users > 0 || listeners.get(key) !== shared) return;
        listeners.delete(key);
        await listener.close();
      });
    },
  };
  listeners.set(key, shared);
  return shared;
}

function listenerKey({ bind = IPV4 }: Place, port: number): string {
  return `${bind} ${port}`;
}

/** Uses this process's listener for a port, and for a host name. */
async function join(
  place: Place,
): Promise<UsedListener | undefined> {
  const shared = listeners.get(listenerKey(place, place.port));
  if (shared && place.host === "localhost") await shared.alsoForLocalhost();
  if (shared) shared.users++;
  return shared;
}

/**
 * Returns or starts this process's listener for a port. If another process uses the
 * port and that is allowed, listens on a free one.
 */
export function shareListener(
  place: Place,
  title: string,
  mayChange: boolean,
): Promise<SharedListener> {
  return inOrder(async () => {
    try {
      const shared = await join(place);
      if (shared) return shared;
    } catch (error) {
      if (!mayChange) throw error;
    }
    return await start(place, title, mayChange);
  });
}
