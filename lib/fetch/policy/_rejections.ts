/**
 * Conclusions from a resource's responses about its URLs and tokens: whether another
 * token may help, and whether a URL may cause a sign-in. URLs count without queries.
 */

import { type ChallengeHeaders, findChallenges } from "../../core/challenge.ts";

export function rejectsToken(
  { status, headers }: { status: number; headers: ChallengeHeaders },
): boolean {
  const has = (error: string) =>
    findChallenges(headers).some(({ params }) => params.error === error);
  return status === 401
    // The token is valid (RFC 9470, section 3).
    ? !has("insufficient_user_authentication")
    // Some resources respond with 403 instead of 401 (RFC 6750, section 3.1).
    : status === 403 && has("invalid_token");
}

/** The last sign-in. The first stored session counts as its session. */
export interface SignInRecord {
  readonly token: string | undefined;
  /** Whether `signIn()` started it, or a call. */
  readonly isUserInitiated: boolean;
  /** `accepted`: a token was accepted, and none was rejected since. */
  state: "unknown" | "valid" | "accepted";
}

export interface UrlRecord {
  rejected?: string | undefined;
  accepted?: SignInRecord;
  /**
   * `rejects_new`: it rejected a new token. `given_up`: it rejects the tokens of
   * sign-ins. Reset when it accepts a token, and by `signIn()`.
   */
  verdict?: "rejects_new" | "given_up" | undefined;
}

export interface TokenRecords {
  readonly signIn: SignInRecord;
  /** By origin and path. */
  readonly urls: ReadonlyMap<string, UrlRecord> | undefined;
  /** Tokens of refreshes by `signIn()` and `renew()` since a token was accepted. */
  readonly refreshes: readonly string[];
}

export interface Rejection {
  readonly isGivenUp: boolean;
  /** Whether it rejected this token when it was new. */
  readonly isRepeated: boolean;
}

/**
 * Returns a rejection's verdict about its URL: the first row that applies. Otherwise,
 * the token may have been revoked, and another one may help.
 *
 * | the token | the URL before | verdict |
 * | --- | --- | --- |
 * | any | `given_up` | `given_up` |
 * | of a sign-in by a call, no response to it so far | any | `given_up` |
 * | of a sign-in by `signIn()` | rejected another token | `given_up` |
 * | just obtained; or of a sign-in, no response to it so far | any | `rejects_new` |
 * | any | `rejects_new`, with this token | `rejects_new` |
 */
export function verdictAfter(
  token: string,
  { rejected, verdict }: Pick<UrlRecord, "rejected" | "verdict">,
  { signIn, isNew }: { signIn: SignInRecord; isNew: boolean },
): UrlRecord["verdict"] {
  const isOfSignIn = token === signIn.token;
  const isFirst = isOfSignIn && signIn.state === "unknown";
  const isOther = rejected !== undefined && rejected !== token;
  if (verdict === "given_up") return verdict;
  if (signIn.isUserInitiated ? isOfSignIn && isOther : isFirst) {
    return "given_up";
  }
  if (isNew || isFirst) return "rejects_new";
  return verdict && rejected === token ? "rejects_new" : undefined;
}

export function recordAt(
  { urls }: TokenRecords,
  { origin, pathname }: URL,
): UrlRecord | undefined {
  return urls?.get(origin + pathname);
}

function someUrl(
  { urls }: TokenRecords,
  is: (record: UrlRecord) => unknown,
): boolean {
  return [...urls?.values() ?? []].some(is);
}

/**
 * Checks whether a rejecting URL may cause a sign-in. While the library gives up on any
 * URL, others must have accepted a token of the last sign-in.
 */
export function mayLeadToSignIn(records: TokenRecords, url: URL): boolean {
  return recordAt(records, url)?.accepted === records.signIn ||
    !someUrl(records, ({ verdict }) => verdict === "given_up");
}

export function isGivenUp(records: TokenRecords, url: URL): boolean {
  return recordAt(records, url)?.verdict === "given_up" ||
    (records.signIn.state === "unknown" && !mayLeadToSignIn(records, url));
}

/** Returns the facts about a rejecting URL before that is noted. */
export function rejectionAt(
  records: TokenRecords,
  token: string,
  url: URL,
): Rejection {
  const { rejected, verdict } = recordAt(records, url) ?? {};
  return {
    isGivenUp: isGivenUp(records, url),
    isRepeated: rejected === token && verdict !== undefined,
  };
}

/**
 * Checks whether a refresh would not help a user who clicks: a URL rejects this token,
 * and either it rejected new or refreshed tokens too, or no token was accepted since the
 * last click's refresh.
 */
export function isRefreshUseless(
  records: TokenRecords,
  token: string,
): boolean {
  const isRefreshed = token !== records.signIn.token;
  return someUrl(records, ({ rejected, verdict }) =>
    rejected === token &&
    (verdict === "given_up" || (verdict && isRefreshed) ||
      records.refreshes.length > 0));
}

export function isTokenRejected(
  records: TokenRecords,
  token: string,
): boolean {
  return records.signIn.state !== "accepted" &&
    someUrl(records, ({ rejected }) => rejected === token);
}

/**
 * Checks whether a token is rejected, and another one may help: the first row that
 * applies.
 *
 * | for | known facts | may help |
 * | --- | --- | --- |
 * | any | the token is not rejected | no |
 * | a call of a URL | this URL rejects it | if the URL may cause a sign-in |
 * | a call of a URL | only other URLs reject it | no |
 * | a user who clicks | the last click caused a refresh | yes |
 * | a user who clicks | no URL has accepted a token | yes |
 * | a user who clicks | a URL that rejects it has accepted another one, or did not reject it as new | yes |
 * | a user who clicks | any other | no |
 */
export function mayAnotherTokenHelp(
  records: TokenRecords,
  token: string,
  url?: URL,
): boolean {
  if (!isTokenRejected(records, token)) return false;
  if (url) {
    return recordAt(records, url)?.rejected === token &&
      mayLeadToSignIn(records, url);
  }
  return records.refreshes.length > 0 ||
    !someUrl(records, ({ accepted }) => accepted) ||
    someUrl(
      records,
      ({ rejected, accepted, verdict }) =>
        rejected === token && (accepted || !verdict),
    );
}
