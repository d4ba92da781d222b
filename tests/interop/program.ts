/**
 * A program that uses the library with its plain options, on behalf of the scripted
 * user. It can be ended at any time, as by Ctrl-C; what it has stored stays.
 */
import {
  type AuthorizedFetch,
  type AuthorizedFetchOptions,
  codeFlow,
  createAuthorizedFetch,
  type Flow,
  OAuthClientError,
  type SessionStore,
  sharedSignIn,
  type StoredSession,
} from "../../mod.ts";
import { type ClientOptions, REDIRECT_URI } from "./server.ts";
import { createUser, type User } from "./user.ts";

/** Where programs keep the session: it survives them. */
export interface Disk {
  session?: StoredSession | undefined;
}

/** A request that the library has made, and the status of its response. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly form: URLSearchParams;
  status?: number;
}

export interface Program {
  readonly api: AuthorizedFetch;
  /** Everything that was requested so far, but by the user's browser. */
  readonly exchanges: Exchange[];
  /** The authorization requests that the user was sent to. */
  readonly visits: URL[];
  /** Calls the resource, and fails unless that succeeds. */
  call(path?: string): Promise<Response>;
  /** Calls the other resource, with which the sign-in is shared. */
  callOther(): Promise<Response>;
  /** Runs an operation until the user is left with a page that leads nowhere. */
  run<T>(operation: Promise<T>): Promise<T>;
  /** Ends the program: it stores nothing more. */
  end(): void;
}

export interface ProgramOptions {
  readonly resource: string;
  /** Another resource, which shares the sign-in. */
  readonly other?: string | undefined;
  readonly disk?: Disk;
  readonly user?: User;
  readonly options?: ClientOptions;
  readonly authorize?: Flow;
  /** The clock of the program. @default {Date.now} */
  readonly now?: () => number;
  /** Responds in place of a server, as a gateway; undefined lets a request pass. */
  readonly gateway?: (exchange: Exchange) => Response | undefined;
}

/** A request that a server of MCP answers, as would any other. */
export const INITIALIZE = {
  method: "POST",
  headers: {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "Interop", version: "1.0.0" },
    },
  }),
};

export function createProgram(
  {
    resource,
    other,
    disk = {},
    user = createUser(),
    options = {},
    authorize,
    now,
    gateway = () => undefined,
  }: ProgramOptions,
): Program {
  const exchanges: Exchange[] = [];
  const visits: URL[] = [];
  const stuck = Promise.withResolvers<never>();
  stuck.promise.catch(() => {});
  let hasEnded = false;

  const store: SessionStore = {
    load: () => Promise.resolve(structuredClone(disk.session)),
    save(session) {
      if (!hasEnded) disk.session = structuredClone(session);
      return Promise.resolve();
    },
  };
  const visit = async (url: URL) => {
    visits.push(url);
    const ending = await user.visit(url, REDIRECT_URI);
    if ("left" in ending) return ending.left;
    if (ending.isClosed) {
      throw new OAuthClientError("timeout", "The user has closed the page");
    }
    // A user who sees an error page does not come back: the program waits.
    stuck.reject(new Error(`The user was left with the page: ${ending.page}`));
    return await new Promise<never>(() => {});
  };
  const settings: AuthorizedFetchOptions = {
    ...other && { apis: sharedSignIn({ [resource]: {}, [other]: {} }) },
    now,
    store,
    flow: authorize ?? codeFlow({
      clientMetadata: { client_name: "Interop" },
      redirectUri: REDIRECT_URI,
      visit,
      ...options.flow,
    }),
    ...options.fetch,
    async fetch(input, init) {
      const request = new Request(input, init);
      const { method, headers } = request;
      const text = await request.clone().text();
      const exchange: Exchange = {
        method,
        url: new URL(request.url),
        headers,
        form: new URLSearchParams(/[{[]/.test(text) ? "" : text),
      };
      exchanges.push(exchange);
      const response = gateway(exchange) ?? await fetch(request);
      exchange.status = response.status;
      return response;
    },
  };
  const api = createAuthorizedFetch(resource, settings);
  const otherApi = other && createAuthorizedFetch(other, settings);
  const run = <T>(operation: Promise<T>) =>
    Promise.race([operation, stuck.promise]);
  const succeed = async (calling: Promise<Response>) => {
    const response = await run(calling);
    const text = (await response.text()).slice(0, 200);
    if (response.ok) return response;
    throw new Error(`The call ended with status ${response.status}: ${text}`);
  };
  return {
    api,
    exchanges,
    visits,
    run,
    call: (path = "") => succeed(api(resource + path, INITIALIZE)),
    async callOther() {
      if (!otherApi) throw new Error("There is no other resource");
      return await succeed(otherApi(`${other}`, INITIALIZE));
    },
    end() {
      hasEnded = true;
    },
  };
}
