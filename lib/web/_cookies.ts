/** The cookies of a sign-in: their names, their attributes and what they contain. */

import type { IPendingAuthorization } from "../session/sign_in.ts";
import type { CookieKey } from "./_seal.ts";
import { Seal } from "./_seal.ts";

/** What is kept of a visit to the server. The rest is the same for all visits. */
export interface IKeptVisit {
  readonly pending: Omit<IPendingAuthorization, "client" | "redirectUri">;
  /** Where the user goes afterwards: a path with its query and fragment. */
  readonly returnTo: string;
}

/** The sign-in of a browser. */
export interface ISignedIn {
  /** The identifier of the session in the store. */
  readonly id: string;
  /** When the user signed in, in seconds since the Unix epoch. */
  readonly at: number;
}

/** A cookie of a request with a visit. */
interface IFoundVisit extends IKeptVisit {
  readonly name: string;
  readonly exp: number;
}

/** The part of the header fields of a request that is used. */
export interface IHeaders {
  /** Returns the value of a header field; `null` if there is none. */
  get(name: string): string | null;
}

/**
 * How many visits of a browser may go on at once. All their cookies, of 1,000 to 1,500
 * characters each, are sent with each request, and many servers refuse a header field of
 * more than 8,192.
 */
const VISITS = 4;

/** An older visit was abandoned, or its code has expired. */
const VISIT_SECONDS = 3600;

/** What browsers accept of a name and its value (RFC 6265bis, section 5.6). */
const MAX_CHARACTERS = 4096;

/** Settings of {@linkcode SignInCookies}. */
export interface ICookieSettings {
  readonly name: string;
  readonly keys: readonly CookieKey[];
  /** Whether the site is at https. */
  readonly isSecure: boolean;
  readonly lifetimeSeconds: number;
  readonly now: () => number;
}

/** The cookies of one site. */
export class SignInCookies {
  readonly #settings: ICookieSettings;
  readonly #seal: Seal;
  readonly #session: string;
  readonly #visits: readonly string[];

  constructor(settings: ICookieSettings) {
    this.#settings = settings;
    this.#seal = new Seal(settings.keys, settings.now);
    // Neither a subdomain nor a server at http can set a cookie with this prefix. At http
    // on loopback, Safari keeps no cookie with it.
    const prefix = settings.isSecure ? "__Host-" : "";
    this.#session = prefix + settings.name;
    this.#visits = Array.from(
      { length: VISITS },
      (_, index) => `${this.#session}-visit-${index}`,
    );
  }

  /** Returns the values of the cookies with our names; of two, the first. */
  #valuesOf(headers: IHeaders): Map<string, string> {
    const values = new Map<string, string>();
    for (const pair of (headers.get("Cookie") ?? "").split(";")) {
      const [, name = "", value = ""] = /^\s*([^=]+)=(.*?)\s*$/.exec(pair) ??
        [];
      if (!values.has(name)) values.set(name, value);
    }
    return values;
  }

  #line(name: string, value: string, seconds: number): string {
    const secure = this.#settings.isSecure ? "; Secure" : "";
    return `${name}=${value}; Path=/; Max-Age=${seconds}${secure}; ` +
      "HttpOnly; SameSite=Lax";
  }

  #seconds(): number {
    return Math.floor(this.#settings.now() / 1000);
  }

  async #visitsOf(headers: IHeaders): Promise<IFoundVisit[]> {
    const values = this.#valuesOf(headers);
    const found = await Promise.all(this.#visits.map(async (name) => {
      const visit = await this.#seal.open<IKeptVisit>(name, values.get(name));
      return visit ? [{ ...visit, name }] : [];
    }));
    return found.flat();
  }

  /** Returns the sign-in of the browser, if it has not expired. */
  signedIn(headers: IHeaders): Promise<ISignedIn | undefined> {
    const value = this.#valuesOf(headers).get(this.#session);
    return this.#seal.open<ISignedIn>(this.#session, value);
  }

  /** Returns `Set-Cookie` for a sign-in. */
  async signIn(id: string): Promise<string> {
    const { lifetimeSeconds } = this.#settings;
    const at = this.#seconds();
    const signedIn: ISignedIn = { id, at };
    const exp = at + lifetimeSeconds;
    const value = await this.#seal.seal(this.#session, signedIn, exp);
    return this.#line(this.#session, value, lifetimeSeconds);
  }

  /** Returns `Set-Cookie` that end the sign-in, and the visits of the request. */
  signOut(headers: IHeaders): string[] {
    const values = this.#valuesOf(headers);
    return [this.#session, ...this.#visits.filter((name) => values.has(name))]
      .map((name) => this.#line(name, "", 0));
  }

  /** Returns the visit with a `state`. */
  async visit(
    headers: IHeaders,
    state: string | null,
  ): Promise<IFoundVisit | undefined> {
    const visits = await this.#visitsOf(headers);
    return visits.find(({ pending }) => pending.state === state);
  }

  /**
   * Returns `Set-Cookie` for a visit, at a free place or else at that of the oldest: two
   * tabs do not disturb each other, and a hundred tabs of a browser that has just been
   * started cannot set more cookies than servers accept. Undefined if it is too long.
   */
  async begin(
    headers: IHeaders,
    visit: IKeptVisit,
  ): Promise<string | undefined> {
    const taken = await this.#visitsOf(headers);
    const free = this.#visits.filter((name) =>
      !taken.some((one) => one.name === name)
    );
    const oldest = taken.sort((a, b) => a.exp - b.exp)[0]?.name;
    // At random, as other tabs may begin at the same moment.
    const name = free[Math.floor(Math.random() * free.length)] ?? oldest!;
    const exp = this.#seconds() + VISIT_SECONDS;
    const value = await this.#seal.seal(name, visit, exp);
    return name.length + value.length > MAX_CHARACTERS
      ? undefined
      : this.#line(name, value, VISIT_SECONDS);
  }

  /** Returns `Set-Cookie` that ends a visit. */
  end({ name }: Pick<IFoundVisit, "name">): string {
    return this.#line(name, "", 0);
  }
}
