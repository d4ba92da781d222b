import type { KnownClient } from "../../client/known_client.ts";
import { isTemporary } from "../../core/advice.ts";
import { isOAuthClientError } from "../../core/errors.ts";
import type { StoredSession } from "../../session/session.ts";
import { type Need, tokenOf } from "../policy/_need.ts";
import type { PromptPolicy } from "../policy/_decisions.ts";
import { type PutOff, putOffBy } from "../policy/_put_off.ts";
import {
  isGivenUp,
  recordAt,
  rejectsToken,
  type SignInRecord,
  type TokenRecords,
  type UrlRecord,
  verdictAfter,
} from "../policy/_rejections.ts";
import { type ApiView, sessionFor } from "../_shared_session.ts";

const MAX_MEMORIES = 1_000;
/** The most URLs: an API may use a URL for each item. */
const MAX_URLS = 100;

interface Unsaved {
  readonly session: StoredSession | undefined;
  /** What it replaces in the store. */
  readonly replaced: StoredSession | undefined;
}

interface AbandonedSignIn {
  readonly error: unknown;
  /** Its API: other APIs of the session use other tokens. */
  readonly api: ApiView;
  /** The stored access token at that time. */
  readonly token: string | undefined;
  /** The session's identity across refreshes; undefined without a refresh token. */
  readonly identity: string | undefined;
}

function identityOf(
  { issuer, resource, client, scopes }: StoredSession,
): string {
  return JSON.stringify([issuer, resource, client?.client_id, scopes]);
}

/**
 * The memory of all fetches with one store object. On a web server, it lives across a
 * session's requests, so it contains no promise and no request. Methods are events, and
 * only these write. Functions in `policy/` read.
 */
export class SessionMemory implements TokenRecords {
  unsaved: Unsaved | undefined;
  /**
   * The client of a sign-in without a session yet; the next sign-in uses it after a
   * denial.
   */
  client: KnownClient | undefined;
  revocations = 0;
  abandoned: AbandonedSignIn | undefined;
  /** Each fetch's last need for the user. */
  unmetNeeds: WeakMap<PromptPolicy, Need> | undefined;
  signIn: SignInRecord = {
    token: undefined,
    isUserInitiated: false,
    state: "unknown",
  };
  urls: Map<string, UrlRecord> | undefined;
  readonly refreshes: string[] = [];
  /** By a key for each request. */
  putOff: Map<string, PutOff> | undefined;

  /** A fetch's call needs the user. */
  needUnmet(policy: PromptPolicy, need: Need): void {
    this.unmetNeeds ??= new WeakMap();
    this.unmetNeeds.set(policy, need);
  }

  clientChosen(client: KnownClient): void {
    this.client = client;
  }

  /** A save finished; `unsaved` is set if it failed. */
  saveEnded(unsaved?: Unsaved): void {
    this.unsaved = unsaved;
  }

  /** A fetch's need was met, with or without the user. */
  needMet(policy: PromptPolicy): void {
    this.abandoned = this.client = undefined;
    this.unmetNeeds?.delete(policy);
  }

  /** The user requests a sign-in: calls may prompt again. */
  signInRequested(): void {
    this.abandoned = undefined;
  }

  /** A sign-in failed. If the user declined, the server knows the client. */
  signInFailed(error: unknown): void {
    const isDenied = isOAuthClientError(error) &&
      error.error === "access_denied";
    if (!isDenied) this.client = undefined;
  }

  /** The user abandoned a sign-in for this need; this session was stored. */
  signInAbandoned(
    error: unknown,
    stored: StoredSession | undefined,
    { reason }: Need,
    { resource, apis }: ApiView,
  ): void {
    const api = { resource, apis };
    const session = stored && sessionFor(api, stored);
    const mayRefresh = session?.token?.refresh_token &&
      reason !== "refresh_failed";
    this.abandoned = {
      error,
      api,
      token: tokenOf(session),
      identity: mayRefresh ? identityOf(session) : undefined,
    };
  }

  /** The store contains this session. After another sign-in, calls may prompt again. */
  sessionSeen(stored: StoredSession | undefined): void {
    const { abandoned } = this;
    if (!abandoned || !stored) return;
    const session = sessionFor(abandoned.api, stored);
    const token = tokenOf(session);
    const isOther = token && token !== abandoned.token &&
      identityOf(session) !== abandoned.identity;
    if (isOther) this.abandoned = undefined;
  }

  /** The session is revoked: no fetch needs anything from it. */
  sessionRevoked(): void {
    this.revocations++;
    this.abandoned = undefined;
    this.unmetNeeds = undefined;
  }

  /**
   * The user signed in for a fetch. After `signIn()`, URLs that rejected earlier tokens
   * should accept the new one.
   */
  signedIn(
    policy: PromptPolicy,
    token: string | undefined,
    { isUserInitiated = false, refused }: Partial<Need> = {},
  ): void {
    this.needMet(policy);
    this.signIn = { token, isUserInitiated, state: "unknown" };
    if (isUserInitiated) this.refreshes.length = 0;
    for (const record of this.urls?.values() ?? []) {
      const isConcerned = record.verdict === "given_up" ||
        record.rejected === refused;
      if (isUserInitiated && isConcerned) record.verdict = undefined;
      else record.rejected = undefined;
    }
  }

  /** Returns a URL's record. Beyond the limit, drops the first URL. */
  #recordOf({ origin, pathname }: URL): UrlRecord {
    const urls = this.urls ??= new Map<string, UrlRecord>();
    const key = origin + pathname;
    const known = urls.get(key);
    if (known) return known;
    const record: UrlRecord = {};
    urls.set(key, record);
    for (const [other, { verdict }] of urls) {
      if (urls.size <= MAX_URLS) break;
      if (verdict !== "given_up") urls.delete(other);
    }
    return record;
  }

  /** A URL responded to a token; `isNew`: the call obtained it. */
  responded(
    token: string,
    response: Response,
    { url, isNew }: { url: URL; isNew: boolean },
  ): void {
    const { signIn, urls } = this;
    if (response.ok) {
      this.refreshes.length = 0;
      // If this URL rejected a new token, it would reject another one too.
      for (const one of urls?.values() ?? []) {
        if (signIn.state === "accepted") break;
        if (one.verdict && one.rejected === token) one.verdict = "given_up";
      }
      signIn.state = "accepted";
      const record = this.#recordOf(url);
      record.accepted = signIn;
      record.rejected = record.verdict = undefined;
    } else if (rejectsToken(response)) {
      const record = this.#recordOf(url);
      const verdict = verdictAfter(token, record, { signIn, isNew });
      if (signIn.state === "accepted" && !isGivenUp(this, url)) {
        signIn.state = "valid";
      }
      record.verdict = verdict;
      record.rejected = token;
    } else {
      // A 404, for example, shows that the token is valid, not that it helps here.
      const isValid = !isTemporary(response.status);
      if (isValid && signIn.state === "unknown") signIn.state = "valid";
      const record = recordAt(this, url);
      if (record) record.rejected = undefined;
    }
  }

  /**
   * The program requested a refresh: by `signIn()`, which signs in the next time, or by
   * `renew()`, which could be called forever.
   */
  refreshed(token: string | undefined): void {
    const { refreshes } = this;
    if (token && !refreshes.includes(token)) refreshes.push(token);
  }

  /** The user clicked, which may have caused a refresh. */
  clicked(token: string | undefined): void {
    this.refreshes.length = 0;
    this.refreshed(token);
  }

  /** A request finished; `isNeeded`: it was not early. */
  requestEnded(
    key: string,
    error: unknown,
    now: number,
    isNeeded = true,
  ): void {
    const putOff = this.putOff ??= new Map<string, PutOff>();
    putOff.delete(key);
    for (const [other, { until }] of putOff) {
      if (until <= now) putOff.delete(other);
    }
    const next = putOffBy(error, now, isNeeded);
    if (next) putOff.set(key, next);
  }

  /** For tests and a debugger. */
  snapshot(): object {
    return { ...this };
  }
}

/**
 * The memories of many sessions, for a server that creates a store object for each
 * request.
 */
export class Memories {
  readonly #memories = new Map<string, SessionMemory>();

  /** Beyond the limit, drops the least recently used memory. */
  of(id: string): SessionMemory {
    const memories = this.#memories;
    const memory = memories.get(id) ?? new SessionMemory();
    memories.delete(id);
    memories.set(id, memory);
    for (const oldest of memories.keys()) {
      if (memories.size <= MAX_MEMORIES) break;
      memories.delete(oldest);
    }
    return memory;
  }
}
