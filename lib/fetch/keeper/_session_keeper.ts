/** The session of a store: read, written and deleted, under its lock. */

import { isOAuthClientError } from "../../core/errors.ts";
import { underSignal } from "../../http/_clock.ts";
import type { Discovery } from "../../discovery/discover.ts";
import type { GrantContext } from "../../token/_grant_context.ts";
import { isSendable } from "../../token/_usable_token.ts";
import { isCovered } from "../policy/_covered_urls.ts";
import { type ApiView, sessionFor } from "../_shared_session.ts";
import { SessionMemory } from "./_session_memory.ts";
import { LOCK_TIMEOUT, TaskLock, withLockTimeout } from "./_task_lock.ts";
import { tokenOf } from "../policy/_need.ts";
import { requireWhole } from "../_whole_session.ts";
import { isOfOtherVersion } from "../../session/_version.ts";
import type { StoredSession } from "../../session/session.ts";
import type { SessionStore } from "../../session/store.ts";

/** After which times a session is saved again: a failover takes some seconds. */
const SAVE_WAITS_MS = [100, 300, 900, 2_700];
/** How long a write waits for an earlier one: the store may never answer that. */
const WRITE_TIMEOUT_MS = 5_000;
/** How often a change is tried: a store that sees a difference each time loses no token. */
const CHANGES = 5;

/** Ends renewals when a session is saved: they start over. */
export const REPLACED: DOMException = /* @__PURE__ */ new DOMException(
  "Another session was saved",
  "AbortError",
);

/** Checks whether the store has what an unsaved session replaces: nobody has signed out. */
function isStored(
  replaced: StoredSession | undefined,
  stored: StoredSession | undefined,
): boolean {
  const isDeleted = replaced !== undefined && stored === undefined;
  return tokenOf(replaced) === tokenOf(stored) && !isDeleted;
}

/** Why renewals and sign-ins end when the session is revoked. */
export function revoked(): DOMException {
  return new DOMException("The session was revoked", "AbortError");
}

/**
 * Keeps a session in its store: the only object that reads and writes the store of a fetch,
 * and all that fetches with one store object share.
 */
export class SessionKeeper extends TaskLock {
  readonly memory: SessionMemory;
  readonly #store: SessionStore;
  #writes: Promise<unknown> = Promise.resolve();
  /** The session in use at the last read; see `unsaved` of the memory. */
  lastRead: StoredSession | undefined;
  /** The same, at the last read or write. */
  #inUse: StoredSession | undefined;
  /** What the store had then. */
  #stored: StoredSession | undefined;
  /** How many times the session has been deleted: `revoke()` may not wait for a refresh. */
  deletions = 0;
  /** What the program's last `save()` stores. */
  saved: StoredSession | undefined;
  /** What a refresh has stored that `save()` ended. */
  superseded: StoredSession | undefined;

  constructor(
    store: SessionStore,
    memory: SessionMemory = new SessionMemory(),
  ) {
    super(store);
    this.#store = store;
    this.memory = memory;
  }

  /** The program saves a session: renewals start over. */
  sessionReplaced(session: StoredSession): void {
    this.saved = session;
    this.superseded = undefined;
    this.abort(REPLACED);
  }

  /** The program revokes the session: renewals fail. */
  sessionRevoked(): void {
    this.memory.sessionRevoked();
    this.abort(revoked());
  }

  /** A refresh has ended after `save()`; the session is stored until `save()` is done. */
  refreshSuperseded(session: StoredSession): void {
    this.superseded = session;
  }

  /** Notes what the store has returned; returns the session in use, which may replace it. */
  #noted(stored: StoredSession | undefined): StoredSession | undefined {
    requireWhole(stored);
    this.#stored = stored;
    const { lastRead, memory: { unsaved } } = this;
    let used = stored;
    // Another process may have stored a session in the meantime.
    if (unsaved && isStored(unsaved.replaced, stored)) used = unsaved.session;
    // One object, even if the store parses JSON: the encoding that the server accepts is
    // stored by client, and found once.
    else if (
      stored && lastRead?.client && stored.client !== lastRead.client &&
      JSON.stringify(lastRead.client) === JSON.stringify(stored.client)
    ) used = { ...stored, client: lastRead.client };
    return this.lastRead = this.#inUse = used;
  }

  /** Returns the session in use: the stored one, or one that replaces it. */
  async load(): Promise<StoredSession | undefined> {
    return this.#noted(await this.#store.load() ?? undefined);
  }

  /** Runs a task after the other tasks of this object that write to the store. */
  async #write<T>(task: () => Promise<T>): Promise<T> {
    const earlier = this.#writes;
    const turn = withLockTimeout(
      undefined,
      (late) => underSignal(late, () => earlier),
      WRITE_TIMEOUT_MS,
    );
    const result = turn.catch(() => {}).then(task);
    this.#writes = result.catch(() => {});
    return await result;
  }

  /** Stores a session in place of another one, or of any; returns whether it did. */
  async #put(
    session: StoredSession | undefined,
    former?: StoredSession | null,
  ): Promise<boolean> {
    const isSaved = await this.#store.save(session, former);
    if (former !== undefined && isSaved === false) return false;
    this.#stored = session;
    this.#inUse = session;
    this.memory.saveEnded();
    return true;
  }

  /** Stores a session, or deletes it, whatever is stored. */
  async save(session: StoredSession | undefined): Promise<void> {
    await this.#write(() => this.#put(session));
  }

  /**
   * Replaces the session in use by what `next` makes of it, unless that throws; returns
   * the former one. If another process has changed what is stored, it starts over.
   */
  async change(
    next: (
      used: StoredSession | undefined,
      stored: StoredSession | undefined,
    ) => StoredSession | undefined,
  ): Promise<StoredSession | undefined> {
    return await this.#write(async () => {
      for (let left = CHANGES;; left--) {
        const stored = await this.#store.load() ?? undefined;
        const used = this.#noted(stored);
        const session = next(used, stored);
        const former = left > 0 ? stored ?? null : undefined;
        if (await this.#put(session, former)) return used;
      }
    });
  }

  /**
   * Deletes the session, and returns it. A value that is no session is deleted too:
   * otherwise its user could never sign out. One of another version stays, with tokens
   * that are to be revoked; and any other error of reading may be over in a moment.
   */
  async remove(): Promise<StoredSession | undefined> {
    const former = await this.change(() => undefined).catch(async (error) => {
      const isGarbage = isOAuthClientError(error, "invalid_session") &&
        !isOfOtherVersion(error);
      if (!isGarbage) throw error;
      await this.save(undefined);
      return undefined;
    });
    this.deletions++;
    return former;
  }

  /**
   * Stores the result of a renewal, under the lock. If that fails, it is tried again for
   * some seconds: this object may be gone with its request, and a second use of the
   * refresh token in the store may make the server revoke all tokens of the grant (RFC
   * 9700, section 4.14.2). What cannot be saved is kept in memory.
   *
   * @param next Returns what replaces the session in use; fails if that must not be
   * replaced.
   * @param failed Is called once if the session could not be saved at once.
   * @param isNew Whether the session is of a new sign-in, and replaces any other.
   */
  async keep(
    next: (used: StoredSession | undefined) => StoredSession | undefined,
    failed: (error: unknown) => void,
    isNew = false,
  ): Promise<void> {
    let session: StoredSession | undefined;
    try {
      await (isNew ? this.save(next(this.#inUse)) : this.change(next));
      return;
    } catch (error) {
      // Fails here too: the store may have failed before the session was compared.
      session = next(this.#inUse);
      failed(error);
    }
    const token = tokenOf(session);
    const replaced = this.#stored;
    this.memory.saveEnded({ session, replaced });
    // A mark, or the end of a session, can also be saved later.
    for (
      const waitMs of token && token !== tokenOf(replaced) ? SAVE_WAITS_MS : []
    ) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await this.#saveUnsaved().catch(() => {});
      if (this.memory.unsaved) continue;
      // Another process may have stored another one, or deleted it.
      if (tokenOf(this.#stored) !== token) next(this.#inUse);
      return;
    }
  }

  /** Saves a session that could not be saved, unless another one is stored by now. */
  async #saveUnsaved(): Promise<void> {
    const { unsaved } = this.memory;
    await this.change((_used, stored) => {
      // Another one may have been saved while this one was read.
      if (unsaved && unsaved === this.memory.unsaved) {
        if (isStored(unsaved.replaced, stored)) return unsaved.session;
        this.memory.saveEnded();
      }
      throw REPLACED;
    });
  }

  /**
   * Tries again to save what could not be saved, one attempt at a time. No caller waits
   * for it, as another process may hold the lock while its user signs in.
   */
  saveAgain(): void {
    const save = () => this.locked(() => Promise.resolve(), undefined);
    this.share("save", save, {}).catch(() => {});
  }

  /**
   * Runs a task under the lock; see {@linkcode TaskLock}. A session that could not be saved
   * is saved first: another process could use the refresh token that it replaces.
   */
  override locked<T>(
    task: () => Promise<T>,
    signal: AbortSignal | undefined,
    find?: () => Promise<T | undefined>,
  ): Promise<T> {
    const run = async () => {
      if (this.memory.unsaved) await this.#saveUnsaved().catch(() => {});
      return await task();
    };
    return super.locked(run, signal, find);
  }

  /**
   * Runs a short task under the lock; after a second without it, as another process may
   * hold it while its user signs in.
   */
  async lockedIfFree<T>(
    task: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    try {
      return await withLockTimeout(
        signal,
        (waiting) => this.locked(task, waiting),
      );
    } catch (error) {
      if (error !== LOCK_TIMEOUT) throw error;
      return await underSignal(signal, task);
    }
  }
}

const keepers = new WeakMap<SessionStore, SessionKeeper>();

/** Returns the keeper that all users of a store object share. */
export function keeperOf(
  store: SessionStore,
  memory?: SessionMemory,
): SessionKeeper {
  const keeper = keepers.get(store) ?? new SessionKeeper(store, memory);
  keepers.set(store, keeper);
  return keeper;
}

interface SessionUser extends ApiView {
  readonly keeper: SessionKeeper;
  readonly discovery: Pick<Discovery, "serverMetadata">;
  readonly context: Pick<GrantContext, "dpop">;
}

/** Returns the stored session, whatever it is for. */
export async function loadStored(
  api: Pick<SessionUser, "keeper" | "resource" | "apis">,
): Promise<StoredSession | undefined> {
  const session = await api.keeper.load();
  return session && sessionFor(api, session);
}

/** Returns a session in use, if it is for this resource, server and key. */
export function usableOf(
  api: SessionUser,
  used: StoredSession | undefined,
): StoredSession | undefined {
  const { resource, discovery, apis, context: { dpop } } = api;
  const session = used && sessionFor(api, used);
  const { issuer = session?.issuer } = discovery.serverMetadata ?? {};
  const isUsable = session && session.issuer === issuer &&
    (session.resource === resource.href ||
      isCovered(resource, { covered: [session.resource], apis })) &&
    session.dpopThumbprint === dpop?.thumbprint;
  if (!isUsable) return undefined;
  const { token } = session;
  return !token || isSendable(token.access_token)
    ? session
    : { ...session, token: { ...token, access_token: "" } };
}

export function loadSession(
  api: SessionUser,
  signal?: AbortSignal,
): Promise<StoredSession | undefined> {
  return underSignal(signal, () => api.keeper.load())
    .then((used) => usableOf(api, used));
}
