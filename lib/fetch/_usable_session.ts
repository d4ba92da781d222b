/** Which sessions a fetch may use, and how to replace a stored session. */

import { clientIdOf } from "../client/_authentication_selection.ts";
import { requireArgument } from "../core/_arguments.ts";
import type { OAuthClientError, OAuthClientErrorCode } from "../core/errors.ts";
import type { AuthorizationContext } from "../discovery/discover.ts";
import { isSendable } from "../token/_usable_token.ts";
import { bearerOf } from "../session/_bearer.ts";
import { reaches } from "./policy/_covered_urls.ts";
import { errorOf, words } from "../http/_error.ts";
import type { GrantContext } from "../token/_grant_context.ts";
import { tokenOf } from "./policy/_need.ts";
import type { ApiContext } from "./_api_context.ts";
import { reportUnsaved } from "./_session_events.ts";
import { REPLACED, revoked, usableOf } from "./keeper/_session_keeper.ts";
import type { Session, StoredSession } from "../session/session.ts";

export function hasClient(
  session: StoredSession,
  { context }: ApiContext,
): boolean {
  return (context.client ?? session.client) !== undefined;
}

/**
 * Checks whether the refresh token was issued to the refreshing client (RFC 6749,
 * section 10.4).
 */
export function mayRefresh(
  session: StoredSession,
  { context: { client } }: ApiContext,
): boolean {
  const own = session.client?.client_id;
  const used = client ? clientIdOf(client) : own;
  return used !== undefined && (own ?? used) === used;
}

/**
 * Replaces a session that was loaded under the lock. Another process's `save()` and
 * `revoke()` wait at most a second for a lock. Fails with `REPLACED` for another
 * session, because a user who has just signed in must not lose it. Fails for no
 * session, because a signed-out user stays signed out.
 */
export async function replaceSession(
  former: StoredSession,
  session: StoredSession | undefined,
  api: ApiContext,
): Promise<void> {
  const { keeper, context, apis } = api;
  const next = (used: StoredSession | undefined) => {
    const current = usableOf(api, used);
    if (!current) throw revoked();
    const isFormer = tokenOf(current) === tokenOf(former) &&
      current.token?.refresh_token === former.token?.refresh_token;
    if (!isFormer) throw REPLACED;
    return apis ? apis.rebased(session, former, current) : session;
  };
  const failed = (error: unknown) => reportUnsaved(context, former, error);
  await keeper.keep(next, failed);
}

function mismatch(
  context: GrantContext,
  code: OAuthClientErrorCode,
  found: string,
  expected: string,
): OAuthClientError {
  const message = words`The session is for ${{ url: found }}, expected ${{
    url: expected,
  }}`;
  return errorOf(context, code, message);
}

/**
 * Fails unless a session matches its fetch and the discovery. A hostile resource's
 * issuer may repeat values that the resource received.
 */
export function requireMatch(
  { issuer, resource, dpopThumbprint }: StoredSession,
  { resource: { href }, discovery, context }: ApiContext,
  found?: AuthorizationContext,
): void {
  const { dpop } = context;
  const server = found ?? discovery.serverMetadata;
  if (server && issuer !== server.issuer) {
    throw mismatch(context, "issuer_mismatch", issuer, server.issuer);
  }
  const expected = found?.resource ?? href;
  if (!reaches(resource, href) || (found && resource !== expected)) {
    throw mismatch(context, "identifier_mismatch", resource, expected);
  }
  requireArgument(
    dpopThumbprint === dpop?.thumbprint,
    "session",
    dpop ? "bound to the key of dpop" : "without a DPoP key",
  );
}

export function requireUsable(
  session: Session,
  api: ApiContext,
  found?: AuthorizationContext,
): Session {
  const { access_token } = session?.token ?? {};
  requireArgument(
    typeof access_token === "string" && isSendable(access_token),
    "session",
    "a Session with an access_token that a header field can contain",
  );
  requireArgument(
    bearerOf(session, api.rules) !== undefined,
    "session",
    'a Session with an ID token, as bearer is "id_token"',
  );
  requireMatch(session, api, found);
  const { bearer } = api.rules;
  return bearer === "id_token" ? { ...session, bearer } : session;
}
