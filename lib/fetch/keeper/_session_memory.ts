/** What a process remembers of a session: of its sign-ins, its servers and its store. */

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

/** Of how many sessions a process keeps what it knows. */
const MAX_MEMORIES = 1_000;
/** How many URLs are kept: an API may have a URL for each of its items. */
const MAX_URLS = 100;

/** A session that could not be saved, or deleted. */
interface Unsaved {
  readonly session: StoredSession | undefined;
  /** What it replaces in the store. */
  readonly replaced: StoredSession | undefined;
}

/** A sign-in that the user saw and did not finish. */
interface AbandonedSignIn {
  readonly error: unknown;
  /** The API that it was for: others that share the session have tokens of their own. */
  readonly api: ApiView;
  /** The access token that was stored then. */
  readonly token: string | undefined;
  /** What a refresh would not change of that session; undefined if it has no refresh. */
  readonly identity: string | undefined;
}

function identityOf(
  { issuer, resource, client, scopes }: StoredSession,
): string {
  return JSON.stringify([issuer, resource, client?.client_id, scopes]);
}

/**
 * What is remembered for all fetches with one store object; on a web server, for those of
 * one session, from one request to the next: so it has no promise and no request. The
 * methods are events. Only these write; the questions are functions of `policy/`.
 */
export class SessionMemory implements TokenRecords {
  unsaved: Unsaved | undefined;
  /** The client of a sign-in without a session yet; the next one uses it after a denial. */
  client: KnownClient | undefined;
  /** How often the session was revoked. */
  revocations = 0;
  abandoned: AbandonedSignIn | undefined;
  /** What the last call of each fetch lacked that needs the user. */
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

  /** A call of a fetch lacks something that needs the user. */
  needUnmet(policy: PromptPolicy, need: Need): void {
    this.unmetNeeds ??= new WeakMap();
    this.unmetNeeds.set(policy, need);
  }

  /** A sign-in without a session has this client. */
  clientChosen(client: KnownClient): void {
    this.client = client;
  }

  /** What a save has left: what could not be saved, if anything. */
  saveEnded(unsaved?: Unsaved): void {
    this.unsaved = unsaved;
  }

  /** A fetch has what it lacked, with or without the user. */
  needMet(policy: PromptPolicy): void {
    this.abandoned = this.client = undefined;
    this.unmetNeeds?.delete(policy);
  }

  /** The user asks for a sign-in: calls may prompt again. */
  signInRequested(): void {
    this.abandoned = undefined;
  }

  /** A sign-in has failed. The server knows the client if it says that the user denied. */
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

  /** The store has this session. If it is of another sign-in, calls may prompt again. */
  sessionSeen(stored: StoredSession | undefined): void {
    const { abandoned } = this;
    if (!abandoned || !stored) return;
    const session = sessionFor(abandoned.api, stored);
    const token = tokenOf(session);
    const isOther = token && token !== abandoned.token &&
      identityOf(session) !== abandoned.identity;
    if (isOther) this.abandoned = undefined;
  }

  /** The session is revoked: no fetch lacks anything of it. */
  sessionRevoked(): void {
    this.revocations++;
    this.abandoned = undefined;
    this.unmetNeeds = undefined;
  }

  /**
   * The user has signed in, for a fetch. If the user asked for it, URLs that rejected the
   * token before, or tokens of other sign-ins, should accept the new one.
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

  /** Returns the record of a URL; beyond the limit, the first URL is forgotten. */
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

  /** A URL has responded to a request with a token; `isNew`: the call has obtained it. */
  responded(
    token: string,
    response: Response,
    { url, isNew }: { url: URL; isNew: boolean },
  ): void {
    const { signIn, urls } = this;
    if (response.ok) {
      this.refreshes.length = 0;
      // Another token would be rejected where this one was, right after it was obtained.
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
      // Such as a 404: it says that the token is valid, and not that it helps here.
      const isValid = !isTemporary(response.status);
      if (isValid && signIn.state === "unknown") signIn.state = "valid";
      const record = recordAt(this, url);
      if (record) record.rejected = undefined;
    }
  }

  /**
   * A refresh that the program asked for: by `signIn()`, which signs in the next time,
   * or by `renew()`, which could be called for ever.
   */
  refreshed(token: string | undefined): void {
    const { refreshes } = this;
    if (token && !refreshes.includes(token)) refreshes.push(token);
  }

  /** The user has clicked, which may have led to a refresh. */
  clicked(token: string | undefined): void {
    this.refreshes.length = 0;
    this.refreshed(token);
  }

  /** A request has ended; `isNeeded`: it is not only made before its time. */
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

  /** Returns what is remembered, for tests and a debugger. */
  snapshot(): object {
    return { ...this };
  }
}

/** The memories of many sessions, for a server that makes a store object for each request. */
export class Memories {
  readonly #memories = new Map<string, SessionMemory>();

  /** Returns a session's memory; beyond the limit, the least recently used is forgotten. */
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
