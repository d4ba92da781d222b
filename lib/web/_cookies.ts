/** The cookies of a sign-in: names, attributes and contents. */

import { keepFor } from "../core/_bounded.ts";
import { hinted } from "../core/_hints.ts";
import type { SignInReason } from "../core/errors.ts";
import type { PendingAuthorization } from "../flows/sign_in.ts";
import { requireFields } from "./_requests.ts";
import { Seal, type SealKind } from "./_seal.ts";
import type { CookieKey, HeadersLike } from "./web_sign_in_options.ts";

export interface Asked {
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  readonly acrValues?: string | undefined;
  readonly maxAge?: number | undefined;
  /** The step-ups since the last plain sign-in: see `_step_ups.ts`. */
  readonly stepUps?: readonly string[] | undefined;
  /** The reason of a sign-in that several APIs share. */
  readonly reason?: SignInReason | undefined;
}

/**
 * The state of a sign-in in progress. Omits the client and redirect URI, which are the
 * same for every sign-in.
 */
export interface Visit extends Asked {
  readonly pending: Omit<PendingAuthorization, "client" | "redirectUri">;
  /** Path of the page that the user wants; the home page when absent. */
  readonly returnTo?: string | undefined;
}

/**
 * The part of a sign-in in progress that the server returns, in case its cookie is
 * lost.
 */
export interface State extends Pick<Visit, "returnTo"> {
  /** Whether it repeats a lost sign-in. */
  readonly isRepeated?: boolean | undefined;
}

/** A browser's finished sign-in. */
export interface SignedIn extends Pick<Asked, "stepUps"> {
  /** The session's identifier in the store. */
  readonly id: string;
  /** When the user signed in, in seconds since the Unix epoch. */
  readonly at: number;
  /** The index of the last sign-in's API; the resource when absent. */
  readonly api?: number | undefined;
}

export interface Finished extends Pick<SignedIn, "id" | "api"> {
  /** Its end, in seconds since the Unix epoch. */
  readonly endsAt: number;
}

interface FoundVisit extends Visit {
  readonly name: string;
  readonly exp: number;
  /** Characters of its name and value. */
  readonly size: number;
}

/**
 * Sign-ins in progress per browser, each in a separate login cookie. Other tabs would
 * overwrite a single cookie, and one for each `state` would pile up: each request
 * carries them, and many servers reject a `Cookie` of more than 8,192 characters.
 */
const VISITS = 4;

/** The most characters of each of the four, including its name. */
const VISIT_CHARACTERS = 1_700;

/** The limit of browsers for a name and its value (RFC 6265bis, section 5.6). */
const MAX_CHARACTERS = 4_096;

/** An older sign-in was abandoned, or its code has expired. */
const VISIT_SECONDS = 3600;

/** How many decrypted sign-ins are kept. */
const MAX_OPENED = 1_000;

/** Some servers reject a long `state`. */
const MAX_STATE_PATH = 200;

export interface CookieSettings {
  readonly name: string;
  readonly keys: readonly CookieKey[];
  /** Whether the site uses HTTPS. */
  readonly isSecure: boolean;
  readonly lifetimeSeconds: number;
  readonly now: () => number;
}

export class SignInCookies {
  readonly #settings: CookieSettings;
  readonly #seal: Seal;
  readonly #session: string;
  readonly #visits: readonly string[];
  /** The last sign-ins, by cookie: a page needs one for each of its calls. */
  readonly #opened = new Map<string, SignedIn & { exp: number }>();

  constructor(settings: CookieSettings) {
    this.#settings = settings;
    this.#seal = new Seal(settings.keys, settings.now);
    // Neither another host of the domain nor a server over HTTP can set a cookie with
    // this prefix. It requires `Secure`, so browsers reject it over HTTP on loopback.
    const prefix = settings.isSecure ? "__Host-" : "";
    this.#session = prefix + settings.name;
    this.#visits = Array.from(
      { length: VISITS },
      (_, index) => `${this.#session}-visit-${index}`,
    );
  }

  /**
   * Returns the site's cookies; the first of two with one name. Names are compared
   * exactly: another host of the domain can set one that starts with other whitespace,
   * such as U+00A0. No regular expression is used, because anyone may send any length.
   */
  #valuesOf(headers: HeadersLike): Map<string, string> {
    const values = new Map<string, string>();
    const field = requireFields(headers).get("Cookie") ?? "";
    for (const pair of field.split(";")) {
      const start = pair[0] === " " || pair[0] === "\t" ? 1 : 0;
      const end = pair.indexOf("=", start);
      const name = pair.slice(start, Math.max(end, start));
      const isOurs = name === this.#session || this.#visits.includes(name);
      if (isOurs && !values.has(name)) values.set(name, pair.slice(end + 1));
    }
    return values;
  }

  #line(name: string, value: string, seconds: number): string {
    const secure = this.#settings.isSecure ? "; Secure" : "";
    return `${name}=${value}; Path=/; Max-Age=${seconds}${secure}; ` +
      "HttpOnly; SameSite=Lax";
  }

  /** Returns the sealed value with the attributes of a cookie. */
  async #sealed(kind: SealKind, name: string, value: object, seconds: number) {
    const exp = Math.floor(this.#settings.now() / 1000) + seconds;
    const sealed = await this.#seal.seal(kind, name, value, exp);
    const line = this.#line(name, sealed, seconds);
    return { name, sealed, line, size: name.length + sealed.length };
  }

  /** Returns a browser's sign-ins in progress, the oldest first. */
  async #visitsOf(headers: HeadersLike): Promise<FoundVisit[]> {
    const found = await Promise.all(
      [...this.#valuesOf(headers)].map(async ([name, value]) => {
        const visit = await this.#seal.open<Visit>("visit", name, value);
        // Another version started before the site was replaced.
        return visit?.pending.version === 1
          ? [{ ...visit, name, size: name.length + value.length }]
          : [];
      }),
    );
    return found.flat().sort((one, other) => one.exp - other.exp);
  }

  /** Returns the browser's sign-in unless it has expired. */
  async signedIn(headers: HeadersLike): Promise<SignedIn | undefined> {
    const value = this.#valuesOf(headers).get(this.#session);
    if (!value) return undefined;
    const opened = this.#opened.get(value);
    if (opened && opened.exp * 1000 > this.#settings.now()) return opened;
    const name = this.#session;
    const found = await this.#seal.open<SignedIn>("session", name, value);
    if (found) keepFor(this.#opened, value, found, MAX_OPENED);
    return found;
  }

  async signIn(
    { id, api, endsAt }: Finished,
    { stepUps }: Asked,
  ): Promise<string> {
    const { lifetimeSeconds, now } = this.#settings;
    const at = Math.floor(now() / 1000);
    const value: SignedIn = { id, at, api, stepUps };
    const name = this.#session;
    const seconds = Math.min(lifetimeSeconds, Math.floor(endsAt) - at);
    return (await this.#sealed("session", name, value, seconds)).line;
  }

  /**
   * Returns `Set-Cookie` to clear the session cookie and the request's login cookies.
   */
  signOut(headers: HeadersLike): string[] {
    return [...new Set([this.#session, ...this.#valuesOf(headers).keys()])]
      .map((name) => this.#line(name, "", 0));
  }

  /** Returns a new `state` with 96 random bits, which cannot be forged. */
  async state({ returnTo = "", isRepeated }: State): Promise<string> {
    const isShort = returnTo.length <= MAX_STATE_PATH;
    const state: State = { isRepeated, ...isShort && { returnTo } };
    const name = this.#session;
    return (await this.#sealed("state", name, state, VISIT_SECONDS)).sealed;
  }

  /** Decrypts the `state` of any browser's sign-in. */
  openState(state: string | null): Promise<State | undefined> {
    return this.#seal.open<State>("state", this.#session, state);
  }

  /** Returns the sign-in in progress with a `state`. */
  async visit(
    headers: HeadersLike,
    state: string | null,
  ): Promise<FoundVisit | undefined> {
    const visits = await this.#visitsOf(headers);
    return visits.find(({ pending }) => pending.state === state);
  }

  /**
   * Returns `Set-Cookie` for a new sign-in, at a free place or the oldest one's. A
   * cookie that is too long omits `returnTo`. If that is not enough, it becomes the
   * only cookie, at the first place. Two tabs that start at the same moment do not see
   * each other's cookie.
   */
  async begin(headers: HeadersLike, visit: Visit): Promise<string[]> {
    const taken = await this.#visitsOf(headers);
    const free = this.#visits.filter((name) =>
      !taken.some((one) => one.name === name)
    );
    // At random, for the same reason.
    const name = free[Math.floor(Math.random() * free.length)] ??
      taken[0]!.name;
    const put = (place: string, one: Visit) =>
      this.#sealed("visit", place, one, VISIT_SECONDS);
    const isLong = ({ size }: { size: number }) => size > VISIT_CHARACTERS;
    let cookie = await put(name, visit);
    const less = { ...visit, returnTo: undefined };
    if (isLong(cookie)) cookie = await put(name, less);
    if (isLong(cookie)) cookie = await put(this.#visits[0]!, less);
    if (cookie.size > MAX_CHARACTERS) {
      const message = `The login cookie would have ${cookie.size} ` +
        `characters, expected at most ${MAX_CHARACTERS}`;
      throw hinted("unsupported", message, [{
        option: "scopes",
        text: "set fewer scopes",
      }]);
    }
    const ended = taken.filter((one) =>
      one.name !== cookie.name && (isLong(cookie) || isLong(one))
    );
    return [...ended.map((one) => this.end(one)), cookie.line];
  }

  /** Returns `Set-Cookie` that clears a login cookie. */
  end({ name }: Pick<FoundVisit, "name">): string {
    return this.#line(name, "", 0);
  }
}
