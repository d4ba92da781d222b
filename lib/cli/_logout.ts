/** The command `logout`: revokes the tokens, and deletes the session. */

import { createAuthorizedFetch } from "../session/authorized_fetch.ts";
import type { IArguments } from "./_arguments.ts";
import { requireUrl } from "./_wanted_session.ts";
import { ExitCode } from "./_failure.ts";
import type { IHost } from "./_host.ts";
import { storeOf } from "./_place.ts";
import { serverOptionsOf } from "./_server_options.ts";

/** Deletes the session; succeeds if there is none. */
export async function run(given: IArguments, host: IHost): Promise<ExitCode> {
  const resource = requireUrl(given);
  const store = await storeOf(resource, host);
  const session = await store.load();
  const api = createAuthorizedFetch(resource.url, {
    ...await serverOptionsOf(resource),
    store,
  });
  const isRevoked = session !== undefined &&
    await api.revoke({ signal: host.endSignal() });
  if (given.quiet) return ExitCode.Done;
  host.printError(
    !session
      ? `There is no session for ${resource.url.href}.`
      : isRevoked
      ? "Signed out: the tokens are revoked, and the session is deleted."
      : "Signed out: the session is deleted. The server has not revoked the tokens.",
  );
  return ExitCode.Done;
}
