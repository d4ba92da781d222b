/** Where the resource has refused the token in use, and whether it accepts it. */

import { findChallenges, type IChallengeHeaders } from "../core/challenge.ts";

/** Checks whether a resource refuses the token of a request. */
export function refusesToken(
  { status, headers }: { status: number; headers: IChallengeHeaders },
): boolean {
  // Some resources respond with 403 in place of 401 (RFC 6750, section 3.1).
  return status === 401 || (status === 403 && findChallenges(headers)
    .some(({ params }) => params.error === "invalid_token"));
}

/** Returns a URL without its query. */
function placeOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

/**
 * The responses to one token. A URL that refuses a token which was just obtained, and
 * which other URLs accept, does so for another reason: a new token would not help.
 */
export class TokenResponses {
  #token: string | undefined;
  /** The token of `authorize()` or `finish()`, until the resource responds to it. */
  #obtained: string | undefined;
  /** Whether any URL has accepted any token. */
  #hasAccepted = false;
  /** Whether any URL has accepted the token. */
  #isAccepted = false;
  /** Whether any URL has accepted the token since it was last refused. */
  #isAcceptedSince = false;
  readonly #refusing = new Set<string>();
  /** The URLs that have refused it when it had just been obtained. */
  readonly #refusingFresh = new Set<string>();

  /** Notes the token that `authorize()` or `finish()` has obtained. */
  noteObtained(token: string | undefined): void {
    this.#obtained = token;
  }

  /**
   * Notes a response to a request with a token.
   *
   * @param isNew Whether the call itself has obtained the token.
   */
  note(token: string, url: URL, response: Response, isNew: boolean): void {
    const isObtained = token === this.#obtained;
    const isFresh = isNew || isObtained;
    if (isObtained) this.#obtained = undefined;
    if (token !== this.#token) {
      this.#token = token;
      this.#isAccepted = this.#isAcceptedSince = false;
      this.#refusing.clear();
      this.#refusingFresh.clear();
    }
    const place = placeOf(url);
    if (!refusesToken(response)) {
      this.#refusing.delete(place);
      this.#refusingFresh.delete(place);
      this.#isAccepted ||= response.ok;
      this.#hasAccepted ||= response.ok;
      this.#isAcceptedSince ||= response.ok;
    } else if (!this.isRefusedThere(token, url)) {
      this.#refusing.add(place);
      if (isFresh) this.#refusingFresh.add(place);
      this.#isAcceptedSince = false;
    }
  }

  /** Checks whether a token is known to be refused, at a URL or anywhere. */
  isRefused(token: string, url?: URL): boolean {
    if (token !== this.#token || this.#isAcceptedSince) return false;
    return url
      ? this.#refusing.has(placeOf(url)) && !this.isRefusedThere(token, url)
      : this.#refusing.size > 0;
  }

  /**
   * Checks whether a token is refused, and another one may help. It does not if each of
   * the URLs refused the token when it had just been obtained, and others accept tokens.
   */
  isReplaceable(token: string): boolean {
    const hasLasted = this.#refusing.size > this.#refusingFresh.size;
    return this.isRefused(token) && (hasLasted || !this.#hasAccepted);
  }

  /** Checks whether a URL refuses a token that is valid. */
  isRefusedThere(token: string | undefined, url: URL): boolean {
    return token === this.#token && this.#isAccepted &&
      this.#refusingFresh.has(placeOf(url));
  }
}
