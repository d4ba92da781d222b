/** Which URLs of a resource refuse tokens, and whether another token may help. */

import { isTemporary } from "../core/advice.ts";
import { findChallenges, type IChallengeHeaders } from "../core/challenge.ts";

/** Checks whether a resource refuses the token of a request. */
export function refusesToken(
  { status, headers }: { status: number; headers: IChallengeHeaders },
): boolean {
  const has = (error: string) =>
    findChallenges(headers).some(({ params }) => params.error === error);
  return status === 401
    // The token is valid (RFC 9470, section 3).
    ? !has("insufficient_user_authentication")
    // Some resources respond with 403 in place of 401 (RFC 6750, section 3.1).
    : status === 403 && has("invalid_token");
}

/** How many URLs are kept: an API may have one for each of its items. */
const MAX_PLACES = 100;

/** What is known of a place: a URL without its query. */
interface IPlace {
  /** The token that it has refused, unless it has responded otherwise since. */
  refused?: string | undefined;
  /** Whether that token had just been obtained. */
  isFresh?: boolean | undefined;
  /** The token that the user has wished for, after the place had refused another. */
  tried?: string | undefined;
  /**
   * Whether it refuses what sign-ins bring: another token would not help. This is kept
   * when the token is replaced, until the place accepts one.
   */
  isHopeless?: boolean | undefined;
  /** The last sign-in of which it has accepted a token. */
  accepted?: number;
}

/**
 * The responses of a resource to tokens, for all fetches with one store object. A resource
 * that refuses what a sign-in has brought would otherwise have the user sign in with each
 * call. So a place that refuses the token of a sign-in leads to no other one, and as long
 * as there is such a place, others do only if they have accepted a token since.
 */
export class TokenResponses {
  readonly #places = new Map<string, IPlace>();
  /** The number of the last sign-in; what was stored before counts as the first one. */
  #signIn = 1;
  /** Its token, and whether the user had wished for it. */
  #signedIn: string | undefined;
  #isWished = false;
  /** The last sign-in whose token is known to be valid. */
  #accepted = 0;
  /** Whether a token was accepted after the last one was refused. */
  #isAcceptedSince = false;

  #find({ origin, pathname }: URL): IPlace | undefined {
    return this.#places.get(origin + pathname);
  }

  /** Returns what is known of a place; beyond the limit, the first one is forgotten. */
  #keep(url: URL): IPlace {
    const known = this.#find(url);
    if (known) return known;
    const place: IPlace = {};
    this.#places.set(url.origin + url.pathname, place);
    if (this.#places.size > MAX_PLACES) {
      const first = [...this.#places].find(([, one]) => !one.isHopeless);
      this.#places.delete(first?.[0] ?? "");
    }
    return place;
  }

  #some(is: (place: IPlace) => unknown): boolean {
    return [...this.#places.values()].some(is);
  }

  /** Notes the token of a sign-in that a call has led to. */
  noteSignIn(token: string | undefined): void {
    this.#signIn++;
    this.#signedIn = token;
    this.#isWished = false;
  }

  /**
   * Notes the token of a sign-in that the user has wished for, in place of another. What
   * has refused that one, or those of other sign-ins, is to accept this one.
   */
  noteWish(token: string | undefined, replaced?: string): void {
    this.noteSignIn(token);
    this.#isWished = true;
    for (const place of this.#places.values()) {
      const isReplaced = replaced !== undefined && place.refused === replaced;
      if (isReplaced || place.isHopeless) place.tried = token;
      place.isHopeless = false;
    }
  }

  /** Notes a response to a request with a token; a call may have obtained it itself. */
  note(token: string, url: URL, response: Response, isNew: boolean): void {
    const isUnproven = token === this.#signedIn &&
      this.#accepted !== this.#signIn;
    if (response.ok) {
      // Another token would be refused where this one was, though it had been new.
      for (const one of this.#isAcceptedSince ? [] : this.#places.values()) {
        one.isHopeless ||= one.isFresh && one.refused === token;
      }
      this.#accepted = this.#signIn;
      this.#isAcceptedSince = true;
      const place = this.#keep(url);
      place.accepted = this.#signIn;
      place.isHopeless = false;
      place.refused = place.tried = undefined;
    } else if (refusesToken(response)) {
      this.#isAcceptedSince &&= this.isFinal(url);
      const place = this.#keep(url);
      const wasFresh = place.isFresh && place.refused === token;
      place.isFresh = isNew || isUnproven || wasFresh;
      place.isHopeless ||= place.tried === token ||
        (isUnproven && !this.#isWished);
      place.refused = token;
    } else {
      // Such as a 404: it says that the token is valid, and not that it helps here.
      if (!isTemporary(response.status)) this.#accepted = this.#signIn;
      const place = this.#find(url);
      if (place) place.refused = undefined;
    }
  }

  /** Checks whether no other token would help where one is refused. */
  isFinal(url: URL): boolean {
    return this.#find(url)?.isHopeless ||
      (this.#accepted !== this.#signIn &&
        this.#some(({ isHopeless }) => isHopeless));
  }

  /** Checks whether a place that refuses a token may lead to a sign-in. */
  mayAsk(url: URL): boolean {
    return this.#find(url)?.accepted === this.#signIn ||
      !this.#some(({ isHopeless }) => isHopeless);
  }

  /** Checks whether a place refuses a token, and another one may help. */
  isRefused(token: string, url: URL): boolean {
    return this.#find(url)?.refused === token && !this.#isAcceptedSince &&
      this.mayAsk(url);
  }

  /** Checks whether a place refuses a token as it has refused those of sign-ins. */
  isHopeless(token: string): boolean {
    return this.#some(({ refused, isHopeless }) =>
      isHopeless && refused === token
    );
  }

  /** Checks whether a token was refused, and not accepted since. */
  hasRefused(token: string): boolean {
    return !this.#isAcceptedSince &&
      this.#some(({ refused }) => refused === token);
  }

  /**
   * Checks whether a token is refused, and the user may want another one. Another one
   * would not help if the places that refuse it have never accepted any, and have refused
   * it when it had just been obtained, while others accept tokens.
   */
  isReplaceable(token: string): boolean {
    return this.hasRefused(token) && (!this.#some(({ accepted }) => accepted) ||
      this.#some(({ refused, isFresh, accepted }) =>
        refused === token && (!isFresh || accepted)
      ));
  }
}
