/**
 * Several APIs share one stored session: the members of the front API, the common
 * refresh token, and the other APIs in `apis`.
 */

import { readClaims } from "../core/_jwt.ts";
import { parseHttpUrl } from "../core/_url.ts";
import type { SharedNeed, SharedServer, Sharing } from "../flows/_sharing.ts";
import type { Context } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import { type Internal, internalOf } from "../session/_internal.ts";
import {
  allTokensOf,
  type Session,
  type SessionApi,
  type StoredSession,
} from "../session/session.ts";
import type { Token } from "../token/token.ts";
import { nearest } from "./policy/_covered_urls.ts";

type Apis = Record<string, SessionApi>;

const NONE: Token = { access_token: "", token_type: "Bearer" };

export function isSame(one: string, other: string): boolean {
  const href = parseHttpUrl(one)?.href;
  return one === other || (!!href && href === parseHttpUrl(other)?.href);
}

/** Fails if an API names another server than the stored session, which must stay. */
export function requireServer(
  context: Context,
  { resource, serverMetadata: { issuer } }: SharedServer,
  stored: StoredSession | null | undefined,
): void {
  const hasTokens = allTokensOf(stored ?? undefined)
    .some(({ access_token, refresh_token }) => access_token || refresh_token);
  if (!stored || stored.issuer === issuer || !hasTokens) return;
  const message = words`The server of ${{ url: resource }} is ${{
    url: issuer,
  }}, expected ${{
    url: stored.issuer,
  }}, as of the other APIs (call revoke() if they have moved)`;
  throw errorOf(context, "issuer_mismatch", message);
}

/** Divides a session into an API's part and the sign-in's part. */
function splitApi(
  session: StoredSession,
): [ofApi: SessionApi, common: StoredSession] {
  const { token, ...common } = session;
  const { resourceIndicator, tokenParameters, isAlone, ...internal } =
    internalOf(session);
  const own: Internal = {
    ...(resourceIndicator !== undefined && { resourceIndicator }),
    ...(tokenParameters && { tokenParameters }),
    ...(isAlone && { isAlone }),
  };
  return [
    { scopes: session.scopes, internal: own, ...(token && { token }) },
    { ...common, internal },
  ];
}

/** An empty access token removes the token. */
function withToken(
  { token: _, ...api }: SessionApi,
  token: Token | undefined,
): SessionApi {
  return token?.access_token ? { ...api, token } : api;
}

/** Moves the sign-in's members from one token to another. */
function moveSignInTokens(from: Token, to: Token): [Token, Token] {
  const { refresh_token, refresh_expires_at, id_token, ...left } = from;
  return [left, {
    ...to,
    ...(refresh_token !== undefined && { refresh_token }),
    ...(refresh_expires_at !== undefined && { refresh_expires_at }),
    ...(id_token !== undefined && { id_token }),
  }];
}

function isAlone(api: Pick<SessionApi, "internal">): boolean {
  return internalOf(api).isAlone === true;
}

/**
 * Returns a session with another API in front. In memory, the front API carries the
 * refresh token even before its first access token, which is then empty.
 */
export function viewOf(
  session: StoredSession,
  resource: string | URL,
): StoredSession {
  const { apis } = session;
  if (!apis) return session;
  const name = nearest([session.resource, ...Object.keys(apis)], resource);
  if (name === undefined || name === session.resource) return session;
  const [ofApi, common] = splitApi(session);
  const { [name]: next, ...rest } = apis;
  const others: Apis = { ...rest, [session.resource]: ofApi };
  let token = next!.token ?? NONE;
  for (const [other, api] of Object.entries(others)) {
    if (isAlone(next!) || isAlone(api) || !api.token) continue;
    const [left, whole] = moveSignInTokens(api.token, token);
    others[other] = withToken(api, left);
    token = whole;
  }
  const hasToken = token.access_token || token.refresh_token || token.id_token;
  return {
    ...common,
    resource: name,
    scopes: next!.scopes,
    internal: { ...common.internal, ...next!.internal },
    ...(hasToken && { token }),
    apis: others,
  };
}

export interface ApiView {
  readonly resource: URL;
  readonly apis: Sharing | undefined;
}

/** Returns a stored session with this API in front. */
export function sessionFor(
  { resource, apis }: ApiView,
  session: StoredSession,
): StoredSession {
  return apis?.viewOf(session, resource) ?? session;
}

/**
 * Removes the tokens after their refresh token became invalid. Separate sign-ins keep
 * theirs.
 */
export function withoutTokens(session: StoredSession): StoredSession {
  const { token: _, apis, ...rest } = session;
  if (!apis || isAlone(session)) return { ...rest, ...(apis && { apis }) };
  const others = Object.entries(apis).map(([name, api]) => [
    name,
    withToken(api, isAlone(api) ? api.token : undefined),
  ]);
  return { ...rest, apis: Object.fromEntries(others) };
}

/**
 * Returns a session whose API needs a separate sign-in, without tokens. The sign-in's
 * ID token stays with another API.
 */
export function separateApi(session: StoredSession): StoredSession {
  const { token: { id_token } = {}, apis } = session;
  const others = Object.entries(apis ?? {});
  const other = others.find(([, api]) => !isAlone(api) && api.token);
  if (other && id_token) {
    const [name, api] = other;
    others.push([name, { ...api, token: { ...api.token!, id_token } }]);
  }
  const internal: Internal = { ...session.internal, isAlone: true };
  return {
    ...withoutTokens({ ...session, internal }),
    apis: Object.fromEntries(others),
  };
}

/**
 * Returns the stored form of a session: with an API in front that has an access token,
 * if the sign-in has tokens.
 */
function storable(session: StoredSession): StoredSession {
  if (!session.token || session.token.access_token) return session;
  const [other] = Object.entries(session.apis ?? {})
    .find(([, api]) => !isAlone(api) && api.token) ?? [];
  return other === undefined ? session : viewOf(session, other);
}

/**
 * Returns a session's replacement, with other APIs' tokens that were stored since it
 * was loaded. Another process's finish() does not wait long for a lock.
 */
export function rebased(
  session: StoredSession | undefined,
  former: StoredSession,
  current: StoredSession,
): StoredSession | undefined {
  if (!session?.apis) return session;
  const newer = Object.entries(current.apis ?? {}).filter(([name, api]) =>
    JSON.stringify(api) !== JSON.stringify(former.apis?.[name])
  );
  return storable({
    ...session,
    apis: { ...session.apis, ...Object.fromEntries(newer) },
  });
}

/**
 * Checks whether two sessions belong to the same known user. A new sign-in may be for
 * another user.
 */
function areOfOneUser(
  { token }: Session,
  former: StoredSession,
  need: SharedNeed | undefined,
): boolean {
  const sub = readClaims(token.id_token)?.sub;
  const others = allTokensOf(former)
    .flatMap(({ id_token }) => readClaims(id_token)?.sub ?? []);
  return sub === undefined || others.length === 0
    ? need?.reason !== "fresh"
    : others.every((one) => one === sub);
}

/**
 * Merges a new session with the previous one. Keeps earlier tokens of separate
 * sign-ins, after another API's step-up, and if the server issues no refresh tokens;
 * but not if another user may have signed in.
 */
export function mergeSessions(
  session: Session,
  former: StoredSession | undefined,
  need: SharedNeed | undefined,
): Session {
  const { resource, client, token } = session;
  if (former?.issuer !== session.issuer || !former.apis) return session;
  let before = former;
  if (isAlone(session) && !isAlone(former)) {
    // The others' refresh token stays with one API.
    const other = Object.keys(former.apis)
      .find((name) => !isAlone(former.apis![name]!));
    if (other !== undefined) {
      const view = viewOf(former, other);
      const [ofApi] = splitApi(view);
      before = { ...view, apis: { ...view.apis, [other]: ofApi } };
    }
  }
  const isSameSignIn = former.client?.client_id === client?.client_id &&
    areOfOneUser(session, former, need);
  const keepsAll = isAlone(session) || need?.reason === "step_up" ||
    (!token.refresh_token && need?.reason !== "fresh");
  const names = Object.keys({ ...session.apis, ...before.apis });
  const apis = names.filter((name) => !isSame(name, resource)).map((name) => {
    const stored = before.apis?.[name] ?? { scopes: [] };
    const isKept = isSameSignIn && (isAlone(stored) || keepsAll);
    const next = session.apis?.[name];
    const internal = { ...stored.internal, ...next?.internal };
    const api = { ...stored, ...next, internal };
    return [name, withToken(api, isKept ? stored.token : undefined)];
  });
  return { ...session, apis: Object.fromEntries(apis) };
}
