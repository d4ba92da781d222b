/** A window of a page in memory, in place of the globals. */

import { replaceGlobals } from "../../support/globals.ts";

type Listener = (event: object) => void;

/** A popup: `closed` and `href` are what its opener sees. */
export interface FakePopup {
  closed: boolean;
  /** Undefined where the page is of another origin, which cannot be read. */
  href: string | undefined;
  close(): void;
  readonly location: { readonly href: string; replace(url: string): void };
}

export interface FakeWindow extends Disposable {
  /** URLs that the page went to, and was replaced by. */
  readonly visited: string[];
  readonly replaced: string[];
  readonly popups: FakePopup[];
  /** Whether `window.open` returns nothing. */
  isBlocking: boolean;
  hasFocus: boolean;
  isClosed: boolean;
  /** What the opener of this window receives. */
  readonly sentToOpener: unknown[];
  readonly listeners: number;
  fire(type: string, event?: object): void;
}

/** The channels by name, each with those that are open. */
class FakeChannel {
  static open: FakeChannel[] = [];
  onmessage: ((event: { data: unknown }) => void) | null = null;
  readonly name: string;
  constructor(name: string) {
    this.name = name;
    FakeChannel.open.push(this);
  }
  postMessage(data: unknown): void {
    for (const other of FakeChannel.open) {
      if (other === this || other.name !== this.name) continue;
      queueMicrotask(() => other.onmessage?.({ data }));
    }
  }
  close(): void {
    FakeChannel.open = FakeChannel.open.filter((one) => one !== this);
  }
}

/** Opens a channel, as another page of the origin. */
export function openChannel(name: string): FakeChannel {
  return new FakeChannel(name);
}

function createPopup(): FakePopup {
  return {
    closed: false,
    href: "about:blank",
    close() {
      this.closed = true;
    },
    get location() {
      const { href } = this;
      return {
        get href(): string {
          if (href === undefined) throw new DOMException("", "SecurityError");
          return href;
        },
        replace: () => {
          this.href = undefined;
        },
      };
    },
  };
}

/** Puts a window at this URL in place of the globals, until it is disposed of. */
export function fakeWindow(url: string): FakeWindow {
  const listeners = new Map<string, Set<Listener>>();
  const setOf = (type: string) => {
    const set = listeners.get(type) ?? new Set();
    listeners.set(type, set);
    return set;
  };
  const fake: FakeWindow = {
    visited: [],
    replaced: [],
    popups: [],
    isBlocking: false,
    hasFocus: true,
    isClosed: false,
    sentToOpener: [],
    get listeners() {
      const counts = [...listeners.values()].map(({ size }) => size);
      return counts.reduce((a, b) => a + b, FakeChannel.open.length);
    },
    fire(type, event = {}) {
      for (const listener of [...setOf(type)]) listener(event);
    },
    [Symbol.dispose]: () => replaced[Symbol.dispose](),
  };
  const location = {
    href: new URL(url).href,
    origin: new URL(url).origin,
    assign: (to: string) => fake.visited.push(to),
    replace: (to: string) => fake.visited.push(to),
  };
  const globals: Record<string, unknown> = {
    document: { hasFocus: () => fake.hasFocus },
    location,
    history: {
      state: null,
      replaceState(_state: unknown, _unused: string, to: string) {
        location.href = new URL(to, location.href).href;
        fake.replaced.push(to);
      },
    },
    opener: {
      postMessage: (data: unknown, origin: string) =>
        fake.sentToOpener.push([data, origin]),
    },
    BroadcastChannel: FakeChannel,
    addEventListener: (type: string, listener: Listener) =>
      setOf(type).add(listener),
    removeEventListener: (type: string, listener: Listener) =>
      setOf(type).delete(listener),
    open() {
      if (fake.isBlocking) return null;
      const popup = createPopup();
      fake.popups.push(popup);
      return popup;
    },
    close: () => fake.isClosed = true,
  };
  const replaced = replaceGlobals(globals);
  return fake;
}

export function fakeStorage(values = new Map<string, string>()) {
  return {
    values,
    get length() {
      return values.size;
    },
    key: (index: number) => [...values.keys()][index] ?? null,
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  };
}

export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(() => "no error", ({ code }) => code);
}
