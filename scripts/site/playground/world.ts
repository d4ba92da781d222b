/**
 * What the playground shows: a program with the library, against the servers of
 * `./testing`, and everything that happens between them. It needs no page.
 */
import {
  adviceFor,
  codeFlow,
  createAuthorizedFetch,
  createDpop,
  isOAuthClientError,
  type SessionStore,
  type StoredSession,
} from "../../../mod.ts";
import { createTestServers } from "../../../lib/testing/mod.ts";
import { messageOf, redact, requestText, responseText } from "./messages.ts";

/** Who takes part, from left to right. */
export const LANES = [
  "Process 2",
  "Process 1",
  "Library",
  "API",
  "Auth server",
  "User",
];
const [LIBRARY, API, SERVER, USER] = [2, 3, 4, 5];

/** The lane of each process. */
const PROCESSES = [1, 0] as const;

/** An arrow of the diagram, or an event of the library if both ends are the same. */
export interface Arrow {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly kind: "sent" | "answer" | "failure" | "event";
  /** The HTTP message, the event or the error, without secrets. */
  readonly text: string;
}

/** What the visitor chooses before the program starts. */
export interface Choices {
  readonly signInOn: "call" | "signIn";
  readonly tokenRequired: boolean;
  /** Whether the servers require tokens that are bound to a key. */
  readonly dpop: boolean;
}

/** What the visitor can change at any time. */
export interface Behaviour {
  readonly user: "consents" | "refuses" | "leaves";
  readonly isDown: boolean;
  readonly isBusy: boolean;
  readonly needsWrite: boolean;
  /** Whether a refresh token may be used again, for a minute. */
  readonly replays: boolean;
}

export interface Listener {
  /** Called with each arrow; what happens next waits for it. */
  arrow(arrow: Arrow): Promise<void>;
  event(text: string): void;
}

/** Returns a store for each process, which share a session and a lock. */
function sharedStores(): () => SessionStore {
  let session: StoredSession | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return () => ({
    load: () => Promise.resolve(structuredClone(session)),
    save(next) {
      session = structuredClone(next);
      return Promise.resolve();
    },
    lock(task, signal) {
      return new Promise((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        last = last.then(async () => {
          // The task of a wait that was given up never starts.
          if (!signal?.aborted) await task().then(resolve, reject);
        });
      });
    },
  });
}

export async function createWorld(
  { signInOn, tokenRequired, dpop: isBound }: Choices,
  { arrow, event: onText }: Listener,
) {
  const start = Date.UTC(2026, 0, 1, 9);
  const servers = createTestServers({
    now: () => start,
    dpop: isBound ? "required" : "optional",
  });
  const { resource, issuer, now, receiver } = servers;
  // Both processes have the key, because they share the session that is bound to it.
  const dpop = isBound ? await createDpop({ now }) : undefined;
  /** What has happened since the visitor's last click, for {@linkcode ruleOf}. */
  const facts = new Set<string>();
  let isDown = false;
  servers.intercept = ({ endpoint }) =>
    isDown && endpoint !== "resource" && endpoint !== "resource_metadata"
      ? new Response("Down for maintenance", { status: 503 })
      : undefined;

  async function fetch(input: string | URL | Request, init?: RequestInit) {
    const request = new Request(input, init);
    const { method, url } = request;
    const { origin, pathname } = new URL(url);
    const lane = origin === issuer ? SERVER : API;
    const text = await requestText(request);
    const [grant = ""] = /(?<=grant_type=)\w+/.exec(text) ?? [];
    const path = pathname.replace("/.well-known/", "…/");
    const label = `${method} ${path} ${grant}`.trim();
    await arrow({ from: LIBRARY, to: lane, label, kind: "sent", text });
    const back = { from: lane, to: LIBRARY };
    try {
      const response = await servers.fetch(request);
      const { status } = response;
      facts.add(`${pathname} ${status}`);
      await arrow({
        ...{ ...back, label: `${status}`, text: await responseText(response) },
        kind: status < 400 ? "answer" : "failure",
      });
      return response;
    } catch (error) {
      facts.add("lost");
      const text = messageOf(error);
      await arrow({ ...back, label: "no response", kind: "failure", text });
      throw error;
    }
  }

  async function visit(
    url: URL,
    { signal }: { signal?: AbortSignal | undefined },
  ) {
    const text = redact(`GET ${url}`);
    const opens = { from: LIBRARY, to: USER, kind: "sent" } as const;
    await arrow({ ...opens, label: "opens the browser", text });
    const asks = { from: USER, to: SERVER, kind: "sent" } as const;
    await arrow({ ...asks, label: "GET /authorize", text });
    const back = { from: USER, to: LIBRARY };
    try {
      const callback = await receiver.visit(url, { signal });
      const error = new URL(callback).searchParams.get("error");
      await arrow({
        ...{ from: SERVER, to: USER, label: "302", kind: "answer" },
        text: redact(`302 Found\nLocation: ${callback}`),
      });
      await arrow({
        ...{ ...back, kind: error ? "failure" : "answer" },
        label: error ?? "callback?code=…",
        text: redact(`GET ${callback}`),
      });
      return callback;
    } catch (error) {
      const text = messageOf(error);
      const label = "no response";
      await arrow({ ...back, label, kind: "failure", text });
      throw error;
    }
  }

  const storeOf = sharedStores();
  const createApi = () =>
    createAuthorizedFetch(resource, {
      ...{ fetch, now, dpop, signInOn, tokenRequired, store: storeOf() },
      flow: codeFlow({ ...receiver, visit }),
      onEvent(event) {
        // The diagram sets how long it takes.
        const text = redact(JSON.stringify(
          event,
          (name, value) => name === "durationMs" ? undefined : value,
          1,
        ));
        onText(text.replace(/\s+/g, " "));
        if (event.type === "request") return;
        const detail = "reason" in event ? event.reason : "";
        facts.add(`${event.type} ${detail}`.trim());
        const label = `${event.type} ${detail}`.replaceAll("_", " ");
        return arrow({
          ...{ from: LIBRARY, to: LIBRARY, label, kind: "event", text },
        });
      },
    });
  const apis = [createApi(), createApi()] as const;
  const [api] = apis;

  async function show(
    label: string,
    task: () => Promise<string>,
    process: 0 | 1 = 0,
  ): Promise<void> {
    const text = `await ${label}`;
    const program = PROCESSES[process];
    const from = { from: program, to: LIBRARY, kind: "sent" } as const;
    await arrow({ ...from, label, text });
    const back = { from: LIBRARY, to: program };
    try {
      const text = await task();
      const [label = ""] = text.split("\n");
      facts.add(`result ${label}`);
      const kind = /^[45]/.test(label) ? "failure" : "answer";
      await arrow({ ...back, label, kind, text });
    } catch (error) {
      const label = isOAuthClientError(error)
        ? error.error ?? error.code
        : String(error);
      const advice = adviceFor(error);
      facts.add(`error ${label}`).add(`advice ${advice.action}`);
      const text = `${messageOf(error)}\n\nadviceFor(error): ${
        JSON.stringify(advice)
      }`;
      await arrow({ ...back, label, kind: "failure", text });
    }
  }

  const callBy = (process: 0 | 1, label: string) =>
    show(label, async () => {
      const response = await apis[process](resource);
      return (await responseText(response)).replace(/^HTTP /, "");
    }, process);

  /** What has not ended yet. */
  const calls = new Set<Promise<unknown>>();

  const actions = {
    call: () => callBy(0, "api(url)"),
    three: () =>
      Promise.all([1, 2, 3].map((index) => callBy(0, `api(url) #${index}`))),
    other: () => callBy(1, "api(url)"),
    both: () => Promise.all([actions.call(), actions.other()]),
    signIn: () =>
      show("api.signIn()", async () => {
        const { scopes } = await api.signIn();
        return `a session\nscopes: ${scopes.join(" ")}`;
      }),
    revoke: () => show("api.revoke()", async () => `${await api.revoke()}`),
    hour: async () => {
      // A token that is issued later would not be older; but a user may never return.
      let timer: ReturnType<typeof setTimeout> | undefined;
      const limit = new Promise((resolve) =>
        timer = setTimeout(resolve, 6_000)
      );
      await Promise.race([Promise.all(calls), limit]).catch(() => {});
      clearTimeout(timer);
      servers.advance(3600);
    },
    minutes: () => servers.advance(300),
    revokeAtServer: () => servers.revoke(),
    loseResponse: () => servers.failNext("token", "lose_response"),
    forgetClients: () => servers.forgetClients(),
  };

  /** Sets how the servers and the user behave from now on. */
  function behave(faults: Behaviour): void {
    servers.user = faults.user;
    isDown = faults.isDown;
    servers.retryAfterSeconds = faults.isBusy ? { token: 300 } : {};
    servers.requiredScopes = faults.needsWrite ? ["read", "write"] : [];
    servers.replaySeconds = faults.replays ? 60 : 0;
  }

  let running = 0;
  /** Does what a button says; the facts of several that overlap are kept together. */
  async function act(name: keyof typeof actions): Promise<void> {
    if (running++ === 0) facts.clear();
    if (signInOn === "signIn") facts.add("choice signIn");
    if (tokenRequired) facts.add("choice tokenRequired");
    if (isBound) facts.add("choice dpop");
    facts.add(`action ${name}`);
    const action = Promise.resolve(actions[name]());
    if (name !== "hour") calls.add(action);
    try {
      await action;
    } finally {
      running--;
      calls.delete(action);
    }
  }

  return { act, behave, facts, now, session: () => api.session() };
}

export type World = Awaited<ReturnType<typeof createWorld>>;
export type Action = Parameters<World["act"]>[0];
