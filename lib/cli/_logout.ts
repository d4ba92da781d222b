/** The command `logout`: revokes the tokens, and deletes the session. */

import { adviceFor } from "../core/advice.ts";
import { isOAuthClientError } from "../core/errors.ts";
import { tokenOf } from "../session/_renewal_reason.ts";
import { SharedStore } from "../session/_shared_store.ts";
import {
  type ISession,
  revokeSessionWith,
  sessionContextOf,
} from "../session/session.ts";
import type { IArguments } from "./_arguments.ts";
import { ExitCode, Failure } from "./_failure.ts";
import type { IHost } from "./_host.ts";
import { nearestSession } from "./_person_needed.ts";
import { storeOf } from "./_place.ts";
import { explain } from "./_remedy.ts";
import { USER_AGENT } from "./_server_options.ts";
import { requireUrl, type ResourceArguments } from "./_wanted_session.ts";

/** Returns the error of a server that cannot revoke tokens at present. */
function kept(error: unknown): Failure {
  const { exitCode, message } = explain(error);
  const remedy =
    "The tokens are not revoked, and the session is kept: run the " +
    "command again later, or with --force, which only deletes the session.";
  return new Failure(exitCode, message, remedy);
}

/**
 * Revokes the tokens of a session; returns whether the server has done so. Fails if it
 * may do so later, unless the session is deleted by force.
 */
async function revoke(
  session: ISession,
  given: ResourceArguments,
  signal: AbortSignal,
): Promise<boolean> {
  if (!tokenOf(session) || session.client.client_id === "") return false;
  try {
    const { allowHttp } = given;
    const context = sessionContextOf({ allowHttp, signal });
    await revokeSessionWith({ ...context, userAgent: USER_AGENT }, session);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    // Many servers cannot revoke tokens.
    if (!isOAuthClientError(error)) throw error;
    if (given.force || adviceFor(error).action !== "retry") return false;
    throw kept(error);
  }
}

/** Deletes the session; succeeds if there is none. */
export async function run(given: IArguments, host: IHost): Promise<ExitCode> {
  const resource = requireUrl(given);
  const store = await storeOf(resource, host);
  const signal = host.endSignal();
  // `--force` also deletes what cannot be read.
  const load = () =>
    store.load().catch((error) => {
      if (!given.force) throw error;
      return null;
    });
  const end = async () => {
    const session = await load();
    if (session === undefined) return undefined;
    const isRevoked = session !== null &&
      await revoke(session, resource, signal);
    await store.save(undefined);
    return isRevoked;
  };
  const isRevoked = await new SharedStore(store).soon(end, signal);
  if (given.quiet) return ExitCode.Done;
  host.printError(
    isRevoked === undefined
      ? `There is no session for ${resource.url.href}.${await nearestSession(
        resource,
        host,
      )}`
      : isRevoked
      ? "Signed out: the tokens are revoked, and the session is deleted."
      : "Signed out: the session is deleted. The server has not revoked the tokens.",
  );
  return ExitCode.Done;
}
