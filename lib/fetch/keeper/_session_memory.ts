/** What a process remembers of a session: of its sign-ins, its servers and its store. */

import { TokenResponses } from "../policy/_rejections.ts";
import { type INeed, tokenOf } from "../policy/_need.ts";
import { RetryLater } from "../policy/_put_off.ts";
import { type IView, viewFor } from "../_view.ts";
import type { IKnownClient } from "../../client/known_client.ts";
import { isOAuthClientError } from "../../core/errors.ts";
import type { ISession } from "../../session/session.ts";

/** Of how many sessions a process keeps what it knows. */
const MAX_MEMORIES = 1_000;

/** Whether a fetch may ask the user; one object for each fetch. */
export interface IAsking {
  /** Which functions may ask: each call, or `authorize()` only. */
  readonly signInOn: "call" | "authorize";
}

/** A session that could not be saved, or deleted. */
interface IUnsaved {
  readonly session: ISession | undefined;
  /** The access token of the session that it replaces in the store. */
  readonly replaced: string | undefined;
}

/** A sign-in that the user has seen and not finished. */
interface ILeft {
  readonly error: unknown;
  /** The API that it was for: others that share the session have tokens of their own. */
  readonly api: IView;
  /** The access token that was stored then. */
  readonly token: string | undefined;
  /** What a refresh would not change of the session; undefined if it has no refresh. */
  readonly kept: string | undefined;
}

/** Returns what a refresh does not change of a session. */
function keptOf({ issuer, resource, client, scopes }: ISession): string {
  return JSON.stringify([issuer, resource, client.client_id, scopes]);
}

/**
 * What is remembered for all fetches with one store object; on a web server, for those of
 * one session. It contains no promise and no request, so it can be kept from one request
 * to the next. The caller says what has happened; what that means for the next call is
 * decided here.
 */
export class Memory {
  /** Which URLs of the resource reject tokens. */
  readonly responses: TokenResponses = new TokenResponses();
  /** The requests that servers have put off. */
  readonly later: RetryLater = new RetryLater();
  /** What the store could not save. */
  unsaved: IUnsaved | undefined;
  /** The client of a sign-in without a session yet; the next one uses it after a denial. */
  client: IKnownClient | undefined;
  #revocations = 0;
  #left: ILeft | undefined;
  #lacked = new WeakMap<IAsking, INeed>();

  /** Returns a function that checks whether the session was revoked since this call. */
  watchRevocation(): () => boolean {
    const revocations = this.#revocations;
    return () => revocations !== this.#revocations;
  }

  /** Returns what the last call of a fetch lacked that needs the user. */
  lackedBy(asking: IAsking): INeed | undefined {
    return this.#lacked.get(asking);
  }

  /** A call of a fetch lacks something that needs the user. */
  lacks(asking: IAsking, need: INeed): void {
    this.#lacked.set(asking, need);
  }

  /** A fetch has what it lacked, with or without the user. */
  obtained(asking: IAsking): void {
    this.#left = this.client = undefined;
    this.#lacked.delete(asking);
  }

  /**
   * The user has signed in, for a fetch. If `isWanted`, places that rejected the token
   * before, or tokens of other sign-ins, should accept the new one.
   */
  signedIn(
    asking: IAsking,
    token: string | undefined,
    { isWanted, refused }: Partial<Pick<INeed, "isWanted" | "refused">>,
  ): void {
    this.obtained(asking);
    this.responses.noteSignIn(token, isWanted, refused);
  }

  /** A sign-in has failed. The server knows the client if it says that the user denied. */
  failed(error: unknown): void {
    const isDenied = isOAuthClientError(error) &&
      error.error === "access_denied";
    if (!isDenied) this.client = undefined;
  }

  /** The user has seen a sign-in for this need and left it; this session was stored. */
  left(
    error: unknown,
    stored: ISession | undefined,
    { reason }: INeed,
    { resource, apis }: IView,
  ): void {
    const api = { resource, apis };
    const session = stored && viewFor(api, stored);
    const mayRefresh = session?.token.refresh_token &&
      reason !== "refresh_failed";
    this.#left = {
      error,
      api,
      token: tokenOf(session),
      kept: mayRefresh ? keptOf(session) : undefined,
    };
  }

  /** The user wants to sign in: calls may ask again. */
  wanted(): void {
    this.#left = undefined;
  }

  /** The session is revoked: no fetch lacks anything of it. */
  revoked(): void {
    this.#revocations++;
    this.#left = undefined;
    this.#lacked = new WeakMap();
  }

  /** Returns the error of the sign-in that the user has left, unless one came after it. */
  leftWith(stored: ISession | undefined): unknown {
    const left = this.#left;
    const session = left && stored && viewFor(left.api, stored);
    const token = tokenOf(session);
    const isOther = token && token !== left!.token &&
      keptOf(session!) !== left!.kept;
    if (isOther) this.#left = undefined;
    return this.#left?.error;
  }

  /** Returns what is remembered, for tests and a debugger. */
  snapshot(): Record<string, unknown> {
    return {
      left: this.#left?.error,
      revocations: this.#revocations,
      ...this.responses.snapshot(),
    };
  }
}

/** The memories of many sessions, where each request has a store object of its own. */
export class Memories {
  readonly #memories = new Map<string, Memory>();

  /** Returns a session's memory; beyond the limit, the least recently used is forgotten. */
  of(id: string): Memory {
    const memories = this.#memories;
    const memory = memories.get(id) ?? new Memory();
    memories.delete(id);
    memories.set(id, memory);
    for (const oldest of memories.keys()) {
      if (memories.size <= MAX_MEMORIES) break;
      memories.delete(oldest);
    }
    return memory;
  }
}
