/** The command `logout`: revokes the tokens, and deletes the session. */

import { isOutage } from "../../core/advice.ts";
import { printable } from "../../core/_quote.ts";
import { isOAuthClientError } from "../../core/errors.ts";
import { deleteWith } from "../../client/client_configuration.ts";
import { tokenOf } from "../../fetch/policy/_need.ts";
import { SessionKeeper } from "../../fetch/keeper/_session_keeper.ts";
import { clientIn } from "../../session/_parties.ts";
import { buildEndSessionUrl } from "../../session/end_session.ts";
import {
  type Revocation,
  revokeSessionWith,
  sessionContextOf,
  type StoredSession,
} from "../../session/session.ts";
import type { Arguments } from "../_arguments.ts";
import { ExitCode, Failure } from "../_failure.ts";
import type { Host } from "../_host.ts";
import { nearestSession } from "../_person_needed.ts";
import { storeOf } from "../_place.ts";
import { explain } from "../_remedy.ts";
import { describeTime } from "../_summary.ts";
import { USER_AGENT } from "../_server_options.ts";
import { requireUrl, type ResourceArguments } from "../_wanted_session.ts";

/** The server's part of a sign-out. */
interface Ended {
  /** The result for each token; empty without a token to revoke. */
  readonly revocations: readonly Revocation[];
  /** Why the client is kept although it should be deleted. */
  readonly keptClient?: string | undefined;
}

/** The error of a server that currently cannot do its part. */
function kept(what: string, error: unknown): Failure {
  const { exitCode, message } = explain(error);
  const remedy = `${what}, and the session is kept: run the ` +
    "command again later, or with --force, which only deletes the session.";
  return new Failure(exitCode, message, remedy);
}

/**
 * Runs the server's part; returns why it failed. Fails if it may succeed later, unless
 * the session is deleted by force.
 */
async function attempt(
  what: string,
  { force }: Arguments,
  signal: AbortSignal,
  run: () => Promise<void>,
): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    // Many servers cannot revoke tokens, or delete clients.
    if (!isOAuthClientError(error)) throw error;
    if (force || !isOutage(error)) return error.message;
    throw kept(what, error);
  }
}

/** Revokes a session's tokens, and deletes its client if requested. */
async function endAtServer(
  session: StoredSession,
  given: ResourceArguments,
  signal: AbortSignal,
): Promise<Ended> {
  const { allowHttp } = given;
  const context = {
    ...sessionContextOf({ allowHttp, signal }),
    userAgent: USER_AGENT,
  };
  const client = clientIn(session);
  const hasTokens = tokenOf(session) && client;
  const revocations: Revocation[] = [];
  if (hasTokens) {
    await attempt(
      "Not every token is revoked",
      given,
      signal,
      () => revokeSessionWith(context, session, (one) => revocations.push(one)),
    );
  }
  const keptClient = given.client && client
    ? await attempt(
      "The client is not deleted",
      given,
      signal,
      () => deleteWith(context, client),
    )
    : undefined;
  return { revocations, keptClient };
}

/**
 * Opens the page that signs the user out. Without the ID token: other users of the
 * machine can read a program's arguments.
 */
async function openPage(
  session: StoredSession,
  { allowHttp, quiet }: ResourceArguments,
  host: Host,
): Promise<void> {
  const { token: _, ...withoutToken } = session;
  const url = buildEndSessionUrl(withoutToken, { allowHttp })?.href;
  if (url === undefined) {
    const why = "No sign-out page is opened: the server has no " +
      "end_session_endpoint, or one that must not be used.";
    if (!quiet) host.printError(why);
    return;
  }
  const { openBrowser } = await import("../../native/_browser.ts");
  // Even with `--quiet`: the page may not appear.
  host.printError(
    `Opening the browser. If no page appears, open this URL:\n${url}`,
  );
  // Not awaited: some commands run as long as the browser does.
  openBrowser(url).catch(() => {});
}

/** Succeeds without a session. */
export async function run(given: Arguments, host: Host): Promise<ExitCode> {
  const resource = requireUrl(given);
  const store = await storeOf(resource, host);
  const signal = host.endSignal();
  // `--force` also deletes an unreadable session.
  const load = () =>
    store.load().catch((error) => {
      if (!given.force) throw error;
      return null;
    });
  const end = async (): Promise<
    Ended & { session: StoredSession | null } | undefined
  > => {
    const session = await load();
    if (session === undefined) return undefined;
    const ended = session
      ? await endAtServer(session, resource, signal)
      : { revocations: [], keptClient: "the session is unreadable" };
    // Another process may have saved a session that is not revoked yet.
    const isDeleted = await store.save(undefined, session ?? undefined);
    return isDeleted === false ? await end() : { session, ...ended };
  };
  // The lock uses a directory, which is not created without a session.
  const hasSession = await load() !== undefined;
  const ended = hasSession
    ? await new SessionKeeper(store).lockedIfFree(end, signal)
    : undefined;
  if (!given.quiet) {
    for (const line of await linesOf(ended, resource, host)) {
      host.printError(line);
    }
  }
  if (given.browser && ended?.session) {
    await openPage(ended.session, resource, host);
  }
  return ExitCode.Done;
}

/** Names an unrevoked token, with the end of its validity. */
function keptToken(
  { type, token: { expires_at, refresh_expires_at } }: Revocation,
  nowSeconds: number,
): string {
  const end = type === "access_token" ? expires_at : refresh_expires_at;
  const name = type.replace("_", " ");
  if (end === undefined) return `the ${name}, whose expiry is unknown`;
  const verb = end > nowSeconds ? "expires" : "expired";
  return `the ${name}, which ${verb} ${describeTime(end, nowSeconds)}`;
}

/** Describes which tokens a server has revoked, and how long the others are valid. */
export function revocationLine(
  revocations: readonly Revocation[],
  now: () => number = Date.now,
): string {
  const ended = revocations.filter(({ error }) => !error)
    .map(({ type }) => `the ${type.replace("_", " ")}`);
  const kept = revocations.filter(({ error }) => error)
    .map((one) => keptToken(one, now() / 1_000));
  return "Signed out: the session is deleted" +
    (ended.length > 0
      ? `, and the server has revoked ${ended.join(" and ")}.`
      : ".") +
    (kept.length > 0
      ? ` The server has not revoked ${kept.join(", and ")}.`
      : ended.length > 0
      ? ""
      : " No token is revoked.");
}

/** Returns the final lines. */
async function linesOf(
  ended: Ended | undefined,
  given: ResourceArguments,
  host: Host,
): Promise<string[]> {
  if (!ended) {
    const nearest = await nearestSession(given, host);
    return [`There is no session for ${given.url.href}.${nearest}`];
  }
  const { revocations, keptClient } = ended;
  const tokens = revocationLine(revocations);
  const client = keptClient === undefined
    ? "The client is deleted at the server."
    : `The client is not deleted: ${keptClient}.`;
  return given.client ? [tokens, printable(client)] : [tokens];
}
