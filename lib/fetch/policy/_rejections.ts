/**
 * Which URLs of a resource reject tokens, whether another token may help there, and so
 * whether such a URL may lead to a prompt. A place is a URL without its query.
 */

import { isTemporary } from "../../core/advice.ts";
import { findChallenges, type IChallengeHeaders } from "../../core/challenge.ts";

/** Checks whether a resource rejects the token of a request. */
export function refusesToken(
  { status, headers }: { status: number; headers: IChallengeHeaders },
): boolean {
  const has = (error: string) =>
    findChallenges(headers).some(({ params }) => params.error === error);
  return status === 401
    // The token is valid (RFC 9470, section 3).
    ? !has("insufficient_user_authentication")
    // Some resources respond with 403 instead of 401 (RFC 6750, section 3.1).
    : status === 403 && has("invalid_token");
}

/** What was known of a place that rejects a token. */
export interface IRefusal {
  /** Whether no other token would help there. */
  readonly isFinal: boolean;
  /** Whether it has rejected this token when it had just been obtained. */
  readonly isDoubted: boolean;
}

/** How many places are kept: an API may have a URL for each of its items. */
const MAX_PLACES = 100;

/** A sign-in, and what is known of its tokens. */
interface ISignIn {
  readonly token: string | undefined;
  /** Whether the user wanted the sign-in; otherwise a call has started it. */
  readonly isWanted: boolean;
  /** `accepted`: a token was accepted, and none was rejected since. */
  state: "unknown" | "valid" | "accepted";
}

/** What is known of a place: a URL without its query. */
interface IPlace {
  /**
   * The token that the place rejected last. The token is forgotten when the place responds
   * in another way, and at most sign-ins: see `noteSignIn()`.
   */
  refused?: string | undefined;
  /** The last sign-in whose token the place has accepted. */
  accepted?: ISignIn;
  /**
   * `new`: the place has rejected that token when the token had just been obtained.
   * `final`: the place rejects what sign-ins bring, until it accepts a token or the user
   * wants another sign-in.
   */
  doubt?: "new" | "final" | undefined;
}

/**
 * Returns what a rejection says of its place: the first row that applies. If no row does, the
 * token may have been revoked, and another one may help.
 *
 * | the token                                       | the place before       | doubt   |
 * | ----------------------------------------------- | ---------------------- | ------- |
 * | any                                             | `final`                | `final` |
 * | of a sign-in, no response to it until now       | any                    | `final` |
 * | of a sign-in that the user wanted               | rejected another token  | `final` |
 * | just obtained; or wanted, no response to it     | any                    | `new`   |
 * | any                                             | `new`, with this token | `new`   |
 *
 * The second row is for a sign-in that a call has led to.
 */
export function doubtAfter(
  token: string,
  { refused, doubt }: Pick<IPlace, "refused" | "doubt">,
  { last, isNew }: { last: ISignIn; isNew: boolean },
): IPlace["doubt"] {
  const isOfSignIn = token === last.token;
  const isFirst = isOfSignIn && last.state === "unknown";
  const isOther = refused !== undefined && refused !== token;
  if (doubt === "final") return "final";
  if (last.isWanted ? isOfSignIn && isOther : isFirst) return "final";
  if (isNew || isFirst) return "new";
  return doubt && refused === token ? "new" : undefined;
}

/**
 * The responses of a resource to tokens, for all fetches with one store object. If a
 * resource rejects the token of a sign-in, each call would prompt the user again. So a place
 * that rejects such a token starts no other sign-in. As long as there is such a place, other
 * places start one only if they have accepted a token since.
 */
export class TokenResponses {
  readonly #places = new Map<string, IPlace>();
  /** The tokens of refreshes by `authorize()` and `renew()` since a token was accepted. */
  readonly #vain = new Set<string>();
  /** What was stored at first counts as brought by a sign-in. */
  #last: ISignIn = { token: undefined, isWanted: false, state: "unknown" };

  #find({ origin, pathname }: URL): IPlace | undefined {
    return this.#places.get(origin + pathname);
  }

  /** Returns what is known of a place; beyond the limit, the first place is forgotten. */
  #keep(url: URL): IPlace {
    const known = this.#find(url);
    if (known) return known;
    const place: IPlace = {};
    this.#places.set(url.origin + url.pathname, place);
    for (const [key, { doubt }] of this.#places) {
      if (this.#places.size <= MAX_PLACES) break;
      if (doubt !== "final") this.#places.delete(key);
    }
    return place;
  }

  #some(is: (place: IPlace) => unknown): boolean {
    return [...this.#places.values()].some(is);
  }

  /**
   * Notes the token of a sign-in. If the user asked for the sign-in, places that
   * rejected the token before, or tokens of other sign-ins, should accept the new one.
   */
  noteSignIn(
    token: string | undefined,
    isWanted = false,
    replaced?: string,
  ): void {
    this.#last = { token, isWanted, state: "unknown" };
    if (isWanted) this.#vain.clear();
    for (const place of this.#places.values()) {
      const isConcerned = place.doubt === "final" || place.refused === replaced;
      if (!isWanted || !isConcerned) place.refused = undefined;
      else place.doubt = undefined;
    }
  }

  /**
   * Notes a response to a request with a token; a call may have obtained it itself. If it
   * rejects the token, returns what was known of its place before.
   */
  note(
    token: string,
    response: Response,
    { url, isNew }: { url: URL; isNew: boolean },
  ): IRefusal | undefined {
    const last = this.#last;
    if (response.ok) {
      this.#vain.clear();
      // Another token would be rejected where this one was, though it had been new.
      for (const one of this.#places.values()) {
        if (last.state === "accepted") break;
        if (one.doubt === "new" && one.refused === token) one.doubt = "final";
      }
      last.state = "accepted";
      const place = this.#keep(url);
      place.accepted = last;
      place.refused = place.doubt = undefined;
    } else if (refusesToken(response)) {
      const place = this.#find(url) ?? {};
      const isFinal = this.isFinal(url);
      const isDoubted = place.refused === token && place.doubt !== undefined;
      const doubt = doubtAfter(token, place, { last, isNew });
      if (last.state === "accepted" && !isFinal) last.state = "valid";
      Object.assign(this.#keep(url), { doubt, refused: token });
      return { isFinal, isDoubted };
    } else {
      // Such as a 404: it says that the token is valid, and not that it helps here.
      const isValid = !isTemporary(response.status);
      if (isValid && last.state === "unknown") last.state = "valid";
      const place = this.#find(url);
      if (place) place.refused = undefined;
    }
    return undefined;
  }

  /**
   * Notes what a refresh has brought that the caller wanted: `authorize()`, whose next call
   * prompts the user to sign in, or `renew()`, which could be called for ever.
   */
  noteRefresh(token: string | undefined): void {
    if (token) this.#vain.add(token);
  }

  /** How many such refreshes there were since the last click, sign-in or accepted token. */
  get refreshes(): number {
    return this.#vain.size;
  }

  /** The user has clicked, which may have led to a refresh. */
  noteClick(token: string | undefined): void {
    this.#vain.clear();
    this.noteRefresh(token);
  }

  /** Checks whether no other token would help at a place that rejects a token. */
  isFinal(url: URL): boolean {
    return this.#find(url)?.doubt === "final" ||
      (this.#last.state === "unknown" && !this.mayAsk(url));
  }

  /** Checks whether a place that rejects a token may lead to a sign-in. */
  mayAsk(url: URL): boolean {
    return this.#find(url)?.accepted === this.#last ||
      !this.#some(({ doubt }) => doubt === "final");
  }

  /**
   * Checks whether a refresh would not help: a place rejects a token as it has rejected
   * tokens of sign-ins, or has rejected it when a refresh had just brought it. Of two
   * clicks between which no token is accepted, the second one does not refresh.
   */
  isHopeless(token: string): boolean {
    const isRefreshed = token !== this.#last.token;
    return this.#some(({ refused, doubt }) =>
      refused === token &&
      (doubt === "final" || (doubt && isRefreshed) || this.#vain.size > 0)
    );
  }

  /** Checks whether a token was rejected, and not accepted since. */
  hasRefused(token: string): boolean {
    return this.#last.state !== "accepted" &&
      this.#some(({ refused }) => refused === token);
  }

  /**
   * Checks whether a token is rejected, and another one may help: at a place, or without
   * one, where the user may want another one. That would not help, unless a click has led
   * to a refresh in vain, if the places that reject it have never accepted any, and have
   * rejected it when it had just been obtained, while others accept tokens.
   */
  isReplaceable(token: string, url?: URL): boolean {
    if (!this.hasRefused(token)) return false;
    if (url) return this.#find(url)?.refused === token && this.mayAsk(url);
    return this.#vain.size > 0 ||
      !this.#some(({ accepted }) => accepted) ||
      this.#some(({ refused, accepted, doubt }) =>
        refused === token && (accepted || !doubt)
      );
  }

  /** Returns the last sign-in, and what is known of each place. */
  snapshot(): Record<string, unknown> {
    return { last: this.#last, places: Object.fromEntries(this.#places) };
  }
}
