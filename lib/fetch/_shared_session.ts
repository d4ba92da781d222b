/**
 * The session of several APIs is one value: the members of one API, with the refresh token
 * of all, and the other APIs in `apis`. The API whose members these are is in front.
 */

import { readClaims } from "../core/_jwt.ts";
import { parseHttpUrl } from "../core/_url.ts";
import type { SharedNeed, SharedServer, Sharing } from "../flows/_sharing.ts";
import type { Context } from "../http/_context.ts";
import { errorOf, words } from "../http/_error.ts";
import {
  allTokensOf,
  type Session,
  type SessionApi,
} from "../session/session.ts";
import type { Token } from "../token/token.ts";
import { nearest } from "./policy/_covered_urls.ts";

type Apis = Record<string, SessionApi>;

/** A token that is still to be requested. */
const NONE: Token = { access_token: "", token_type: "Bearer" };

export function isSame(one: string, other: string): boolean {
  const href = parseHttpUrl(one)?.href;
  return one === other || (!!href && href === parseHttpUrl(other)?.href);
}

/** Fails if an API names another server than the stored session: it must not end that. */
export function requireServer(
  context: Context,
  { resource, serverMetadata: { issuer } }: SharedServer,
  stored: Session | null | undefined,
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

/** Divides a session into what each API has, and what the sign-in has. */
function splitApi(session: Session): [ofApi: SessionApi, common: Session] {
  const {
    omitResource,
    resourceIndicator,
    tokenParameters,
    isAlone,
    ...common
  } = session;
  const { scopes, token } = session;
  return [{
    ...(omitResource && { omitResource }),
    ...(resourceIndicator !== undefined && { resourceIndicator }),
    ...(tokenParameters && { tokenParameters }),
    ...(isAlone && { isAlone }),
    ...{ scopes, token },
  }, common];
}

/** Moves what belongs to the sign-in, and not to one API, from one token to another. */
function moveSignInTokens(from: Token, to: Token): [Token, Token] {
  const { refresh_token, refresh_expires_at, id_token, ...left } = from;
  return [left, {
    ...to,
    ...(refresh_token !== undefined && { refresh_token }),
    ...(refresh_expires_at !== undefined && { refresh_expires_at }),
    ...(id_token !== undefined && { id_token }),
  }];
}

/**
 * Returns a session with another API in front; the session itself if that is there
 * already, or is none of its APIs.
 */
export function viewOf(session: Session, resource: string | URL): Session {
  const { apis } = session;
  if (!apis) return session;
  const name = nearest([session.resource, ...Object.keys(apis)], resource);
  if (name === undefined || name === session.resource) return session;
  const [ofApi, common] = splitApi(session);
  const { [name]: next, ...rest } = apis;
  const others: Apis = { ...rest, [session.resource]: ofApi };
  let { token = NONE } = next!;
  if (!next!.isAlone) {
    for (const [other, api] of Object.entries(others)) {
      if (api.isAlone || !api.token) continue;
      const [left, whole] = moveSignInTokens(api.token, token);
      others[other] = { ...api, token: left };
      token = whole;
    }
  }
  return { ...common, ...next!, resource: name, token, apis: others };
}

/** An API, and how those that share a sign-in see their session. */
export interface ApiView {
  readonly resource: URL;
  readonly apis: Sharing | undefined;
}

/** Returns a stored session with this API in front, if it is one of several. */
export function sessionFor(
  { resource, apis }: ApiView,
  session: Session,
): Session {
  return apis?.viewOf(session, resource) ?? session;
}

/**
 * Returns a session without tokens: the refresh token of its sign-in has ended. Those who
 * have signed in alone keep theirs.
 */
export function withoutTokens(session: Session): Session {
  const { apis, isAlone, token: { token_type } } = session;
  const token = { access_token: "", token_type };
  if (!apis || isAlone) return { ...session, token };
  const others = Object.entries(apis).map(([name, { token, ...api }]) => [
    name,
    api.isAlone && token ? { ...api, token } : api,
  ]);
  return { ...session, token, apis: Object.fromEntries(others) };
}

/**
 * Returns a session whose API has to sign in alone, without tokens. The ID token of the
 * sign-in stays with another API.
 */
export function separateApi(session: Session): Session {
  const { token: { id_token }, apis } = session;
  const others = Object.entries(apis ?? {});
  const other = others.find(([, api]) => !api.isAlone && api.token);
  if (other && id_token) {
    const [name, api] = other;
    others.push([name, { ...api, token: { ...api.token!, id_token } }]);
  }
  return {
    ...withoutTokens({ ...session, isAlone: true }),
    apis: Object.fromEntries(others),
  };
}

/**
 * Returns the replacement of a session, with what was stored for the other APIs since the
 * session was loaded: finish() of another process does not wait for a lock for long.
 */
export function rebased(
  session: Session | undefined,
  former: Session,
  current: Session,
): Session | undefined {
  if (!session?.apis) return session;
  const newer = Object.entries(current.apis ?? {}).filter(([name, api]) =>
    JSON.stringify(api) !== JSON.stringify(former.apis?.[name])
  );
  return {
    ...session,
    apis: { ...session.apis, ...Object.fromEntries(newer) },
  };
}

/**
 * Checks whether two sessions are of one user, as far as that is known; who asks for a new
 * sign-in may be another user.
 */
function areOfOneUser(
  { token }: Session,
  former: Session,
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
 * Returns a new session with what is kept of the previous one. Tokens that the user obtained
 * before are kept for an API that has signed in alone, after a step-up of another API, and
 * where the server issues no refresh tokens; not if another user may have signed in.
 */
export function mergeSessions(
  session: Session,
  former: Session | undefined,
  need: SharedNeed | undefined,
): Session {
  const { isAlone, resource, client: { client_id }, token } = session;
  if (former?.issuer !== session.issuer || !former.apis) return session;
  let before = former;
  if (isAlone && !former.isAlone) {
    // The refresh token of the others stays with one of them.
    const other = Object.keys(former.apis)
      .find((name) => !former.apis![name]!.isAlone);
    if (other !== undefined) {
      const view = viewOf(former, other);
      before = { ...view, apis: { ...view.apis, [other]: splitApi(view)[0] } };
    }
  }
  const isSameSignIn = former.client.client_id === client_id &&
    areOfOneUser(session, former, need);
  const keepsAll = isAlone || need?.reason === "step_up" ||
    (!token.refresh_token && need?.reason !== "fresh");
  const names = Object.keys({ ...session.apis, ...before.apis });
  const apis = names.filter((name) => !isSame(name, resource)).map((name) => {
    const { token, ...api } = before.apis?.[name] ?? { scopes: [] };
    const isKept = token && isSameSignIn && (api.isAlone || keepsAll);
    const next = { ...api, ...session.apis?.[name] };
    return [name, isKept ? { ...next, token } : next];
  });
  return { ...session, apis: Object.fromEntries(apis) };
}
