/** A session that is refreshed, or obtained from the user. */

import { isOAuthClientError } from "../core/errors.ts";
import { printable } from "../core/_quote.ts";
import { quoteUrl, withAsciiHosts } from "../core/_url.ts";
import type { AuthorizedFetchEvent } from "../http/events.ts";
import { createAuthorizedFetch } from "../fetch/authorized_fetch.ts";
import type { Client } from "../client/known_client.ts";
import type { Flow } from "../flows/flow.ts";
import type { InitialAccessToken } from "../flows/initial_access_token.ts";
import { tokenOf } from "../fetch/policy/_need.ts";
import type { Session, StoredSession } from "../session/session.ts";
import {
  bearerFor,
  isUnwanted,
  type ResourceArguments,
  withMinTtl,
} from "./_wanted_session.ts";
import type { Host } from "./_host.ts";
import { personNeeded } from "./_person_needed.ts";
import type { PlacedSessionStore } from "./_place.ts";
import {
  initialAccessTokenOf,
  namedServerOf,
  USER_AGENT,
} from "./_server_options.ts";

interface RenewalPlace {
  readonly store: PlacedSessionStore;
  readonly host: Host;
}

/** A sign-in's values from the files that the arguments name. */
interface SignInParts {
  readonly client: Client | undefined;
  readonly initialAccessToken: InitialAccessToken | undefined;
}

function noticeOf(event: AuthorizedFetchEvent): string | undefined {
  return event.type === "session_dropped"
    ? `The session is no longer valid: ${printable(event.message)}`
    : undefined;
}

/**
 * Returns the flow of a sign-in. While this process waited for the lock, another one
 * may have finished the same sign-in.
 */
function authorizeOf(
  given: ResourceArguments,
  seen: StoredSession | undefined,
  { store, host }: RenewalPlace,
  { client, initialAccessToken }: SignInParts,
): Flow {
  return async (request) => {
    const stored = await store.load();
    const token = tokenOf(stored);
    const isFit = stored && token && token !== tokenOf(seen) &&
      stored.issuer === request.context.issuer && !isUnwanted(stored, given);
    if (isFit) return stored as Session;
    // A missing key must not lose a finished sign-in.
    await store.requireKey();
    const { flowOf, ownFlowOf } = await import("./_sign_in.ts");
    const flow = given.clientCredentials && client
      ? await ownFlowOf(given, client)
      : await flowOf(given, host, initialAccessToken);
    const { source, serverMetadataUrl, issuer } = request.context;
    const isGuess = source === "fallback" && serverMetadataUrl === undefined;
    if (!isGuess) return await flow(request);
    const server = withAsciiHosts(quoteUrl(issuer));
    if (!given.quiet) {
      host.printError(
        `${server} publishes no metadata: /authorize, /token and /register ` +
          "are a guess.",
      );
    }
    try {
      return await flow(request);
    } catch (error) {
      const { explainGuess } = await import("./_remedy.ts");
      throw explainGuess(error, server);
    }
  };
}

/**
 * Saves a session that the fetch could not save, unless another process saves one at
 * the same moment. Fails with the store's error.
 */
async function requireSaved(
  session: Session,
  store: PlacedSessionStore,
): Promise<void> {
  const stored = await store.load();
  if (tokenOf(stored) === session.token.access_token) return;
  await store.save(session, stored ?? null);
}

export async function renewedSession(
  given: ResourceArguments,
  place: RenewalPlace,
): Promise<Session> {
  const { url, command, minTtlSeconds, noInput, quiet } = given;
  const { allowHttp, trustedIssuers } = given;
  const { store, host } = place;
  // A script or a host that needs a token does not expect a browser to open.
  const mayAsk = given.clientCredentials ||
    !noInput && (command === "login" || host.isTerminal());
  const seen = await store.load();
  const signal = host.endSignal();
  // An unreadable file is an error of the arguments, before any request.
  const initialAccessToken = await initialAccessTokenOf(given);
  // Read once: a file may be a pipe, such as `<(command)` of a shell.
  const { client, serverMetadata } = await namedServerOf(given);
  const api = createAuthorizedFetch(url, {
    userAgent: USER_AGENT,
    client,
    serverMetadata,
    allowHttp,
    trustedIssuers,
    bearer: bearerFor(given),
    skewSeconds: minTtlSeconds,
    store: {
      ...store,
      async load() {
        const session = await store.load();
        return session && withMinTtl(session, minTtlSeconds);
      },
    },
    flow: mayAsk
      ? authorizeOf(given, seen, place, { client, initialAccessToken })
      : undefined,
    onEvent(event) {
      const notice = noticeOf(event);
      if (notice !== undefined && !quiet) host.printError(notice);
    },
  });
  const unwanted = seen !== undefined && isUnwanted(seen, given);
  if (unwanted && !mayAsk) throw await personNeeded(given, host);
  let session: Session;
  try {
    session = await api.signIn({ fresh: unwanted, signal });
  } catch (error) {
    const isMissing = !mayAsk && isOAuthClientError(error, "unsupported");
    throw isMissing ? await personNeeded(given, host) : error;
  }
  try {
    await requireSaved(session, store);
  } catch (error) {
    if (command === "login") throw error;
    // The token can be used this time.
    host.printError(`The session is not saved: ${(error as Error).message}`);
  }
  return session;
}
