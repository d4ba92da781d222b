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

/** Delays before a session is saved again: a failover takes some seconds. */
const SAVE_WAITS_MS = [100, 300, 900, 2_700];
/** How long a write waits for an earlier one, which a store may never answer. */
const WRITE_TIMEOUT_MS = 5_000;
/** The tries of a change. A store that always reports a difference loses no token. */
const CHANGES = 5;

/** Stops renewals when a session is saved: they start over. */
export const REPLACED: DOMException = /* @__PURE__ */ new DOMException(
  "Another session was saved",
  "AbortError",
);

/** Checks whether nobody has stored another session since, or signed out. */
function isStored(
  replaced: StoredSession | undefined,
  stored: StoredSession | undefined,
): boolean {
  const isDeleted = replaced !== undefined && stored === undefined;
  return tokenOf(replaced) === tokenOf(stored) && !isDeleted;
}

/** Stops renewals and sign-ins when the session is revoked. */
export function revoked(): DOMException {
  return new DOMException("The session was revoked", "AbortError");
}

/**
 * The only object that reads and writes a fetch's store. All fetches with one store
 * object share it.
 */
export class SessionKeeper extends TaskLock {
  readonly memory: SessionMemory;
  readonly #store: SessionStore;
  #writes: Promise<unknown> = Promise.resolve();
  /** The session in use at the last read; see the memory's `unsaved`. */
  lastRead: StoredSession | undefined;
  /** The session in use at the last read or write. */
  #inUse: StoredSession | undefined;
  #stored: StoredSession | undefined;
  /** The number of deletions: `revoke()` may not wait for a refresh. */
  deletions = 0;
  /** The session of the program's last `save()`. */
  saved: StoredSession | undefined;
  /** A refresh's session that a `save()` replaces. */
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

  /**
   * A refresh finished after `save()`. Its session is stored until `save()` is done.
   */
  refreshSuperseded(session: StoredSession): void {
    this.superseded = session;
  }

  /** Notes the store's result. Returns the session in use, which may replace it. */
  #noted(stored: StoredSession | undefined): StoredSession | undefined {
    requireWhole(stored);
    this.#stored = stored;
    const { lastRead, memory: { unsaved } } = this;
    let used = stored;
    // Another process may have stored a session in the meantime.
    if (unsaved && isStored(unsaved.replaced, stored)) used = unsaved.session;
    // One object, even if the store parses JSON: the server's accepted encoding is
    // noted for the client object.
    else if (
      stored && lastRead?.client && stored.client !== lastRead.client &&
      JSON.stringify(lastRead.client) === JSON.stringify(stored.client)
    ) used = { ...stored, client: lastRead.client };
    return this.lastRead = this.#inUse = used;
  }

  async load(): Promise<StoredSession | undefined> {
    return this.#noted(await this.#store.load() ?? undefined);
  }

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

  /**
   * Stores a session if the expected one is stored, or always. Returns whether it did.
   */
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

  /** Stores or deletes a session, whatever is stored. */
  async save(session: StoredSession | undefined): Promise<void> {
    await this.#write(() => this.#put(session));
  }

  /**
   * Replaces the session in use by the result of `next`, unless that throws. Returns
   * the former session. Starts over if another process changed the stored one.
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
   * Deletes and returns the session. Also deletes a value that is no session: otherwise
   * its user could never sign out. Another version's session stays, because its tokens
   * need revocation. Other read errors may be temporary.
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
   * Stores a renewal's result, under the lock. Retries a failure for some seconds: this
   * object may disappear with its request, and a second use of the stored refresh token
   * may make the server revoke the grant's tokens (RFC 9700, section 4.14.2). Keeps an
   * unsaved session in memory.
   *
   * @param next Returns the new session. Fails if the session in use must stay.
   * @param failed Called once if the session could not be saved at once.
   * @param isNew Whether the session is from a new sign-in, and replaces any other.
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
    // A mark, or a deletion, can also be saved later.
    for (
      const waitMs of token && token !== tokenOf(replaced) ? SAVE_WAITS_MS : []
    ) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await this.#saveUnsaved().catch(() => {});
      if (this.memory.unsaved) continue;
      // Another process may have stored or deleted a session.
      if (tokenOf(this.#stored) !== token) next(this.#inUse);
      return;
    }
  }

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
   * Retries a failed save, one attempt at a time. No caller waits, because another
   * process may hold the lock while its user signs in.
   */
  saveAgain(): void {
    const save = () => this.locked(() => Promise.resolve(), undefined);
    this.share("save", save, {}).catch(() => {});
  }

  /**
   * Runs a task under the lock; see {@linkcode TaskLock}. First saves an unsaved
   * session: another process could use the refresh token that it replaces.
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
   * Runs a short task under the lock, or without it after a second: another process may
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

/** All users of a store object share one keeper. */
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

/** Returns the stored session for any resource. */
export async function loadStored(
  api: Pick<SessionUser, "keeper" | "resource" | "apis">,
): Promise<StoredSession | undefined> {
  const session = await api.keeper.load();
  return session && sessionFor(api, session);
}

/** Returns a session in use for this resource, server and key. */
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
