/** Which sessions a fetch may use. */

import { requireArgument } from "../core/_arguments.ts";
import type { OAuthClientError, OAuthClientErrorCode } from "../core/errors.ts";
import type {
  IAuthorizationContext,
  IDiscovery,
} from "../discovery/discover.ts";
import { isSendable } from "../token/_usable_token.ts";
import { bearerOf, type IBearerRules } from "./_bearer.ts";
import { reaches } from "./_covered_urls.ts";
import { errorOf, words } from "../http/_error.ts";
import type { OnEvent } from "../http/events.ts";
import { tokenOf } from "./_renewal_reason.ts";
import { REPLACED, type SharedStore } from "./_shared_store.ts";
import type { Authorize } from "./flow.ts";
import type { ISession, ISessionOptions } from "./session.ts";

/** What a renewal uses of its fetch. */
export interface IRenewal {
  readonly resource: URL;
  readonly store: SharedStore;
  /** Without it, sessions are only refreshed. */
  readonly authorize: Authorize | undefined;
  readonly rules: IBearerRules;
  readonly onEvent: OnEvent | undefined;
  readonly discovery: IDiscovery;
  /** The options of requests to the authorization server, without a signal. */
  readonly options: ISessionOptions;
}

/**
 * Checks whether a session has a client that the server knows, or the caller gives one.
 */
export function hasClient(session: ISession, { options }: IRenewal): boolean {
  return Boolean(options.client ?? session.client.client_id);
}

/** Returns the stored session, if it is for this resource, server and key. */
export async function loadSession(
  { store, resource, discovery, options: { dpop } }: IRenewal,
): Promise<ISession | undefined> {
  const session = await store.load();
  const { issuer = session?.issuer } = discovery.serverMetadata ?? {};
  const isUsable = session && session.issuer === issuer &&
    reaches(session.resource, resource) &&
    session.dpopThumbprint === dpop?.thumbprint;
  if (!isUsable) return undefined;
  const { token } = session;
  return isSendable(token.access_token)
    ? session
    : { ...session, token: { ...token, access_token: "" } };
}

/**
 * Stores the replacement of a session that was loaded under the lock. Fails with
 * `REPLACED` if the store has another session by now: `save()` does not wait for a lock
 * for more than a second, and a user who has just signed in must not lose that session.
 */
export async function replaceSession(
  former: ISession,
  session: ISession | undefined,
  renewal: IRenewal,
): Promise<void> {
  // A store that cannot be read is not known to have another session.
  const current = await loadSession(renewal).catch(() => former);
  // Neither is one that reads nothing for a moment, such as a replica.
  if (current && tokenOf(current) !== tokenOf(former)) throw REPLACED;
  await renewal.store.keep(session);
}

/** Returns the error for a session of another issuer or resource. */
function mismatch(
  code: OAuthClientErrorCode,
  found: string,
  expected: string,
  sent: readonly string[],
): OAuthClientError {
  const message = words`The session is for ${{ url: found }}, expected ${{
    url: expected,
  }}`;
  return errorOf({ sent: [...sent] }, code, message);
}

/**
 * Fails unless a session may be used, and matches the discovery, if given. The error
 * repeats nothing of `sent`, which the issuer of a hostile resource may contain.
 */
export function requireUsable(
  session: ISession,
  { resource: { href }, discovery, rules, options: { dpop } }: IRenewal,
  context?: IAuthorizationContext,
  sent: readonly string[] = [],
): void {
  const { access_token } = session?.token ?? {};
  requireArgument(
    typeof access_token === "string" && isSendable(access_token),
    "session",
    "an ISession with an access_token that a header field can contain",
  );
  requireArgument(
    access_token === "" || bearerOf(session, rules) !== undefined,
    "session",
    'an ISession with an ID token, as bearer is "id_token"',
  );
  const { issuer, resource, dpopThumbprint } = session;
  const server = context ?? discovery.serverMetadata;
  if (server && issuer !== server.issuer) {
    throw mismatch("issuer_mismatch", issuer, server.issuer, sent);
  }
  const expected = context?.resource ?? href;
  if (!reaches(resource, href) || (context && resource !== expected)) {
    throw mismatch("identifier_mismatch", resource, expected, sent);
  }
  requireArgument(
    dpopThumbprint === dpop?.thumbprint,
    "session",
    dpop ? "bound to the key of dpop" : "without a DPoP key",
  );
}
