import { scopesFrom } from "../core/_scope_values.ts";
import { findChallenges } from "../core/challenge.ts";
import type { OAuthClientError } from "../core/errors.ts";
import { mergeScopes } from "../core/scopes.ts";
import { type Context, fork, report } from "../http/_context.ts";
import type { EventToEmit } from "../http/events.ts";
import { lacksRefreshToken } from "../flows/_consent.ts";
import { type Need, tokensOf } from "./policy/_need.ts";
import type { Session, StoredSession } from "../session/session.ts";

function commonOf({ issuer, token }: Session) {
  const { expires_at, refresh_expires_at } = token;
  return { issuer, expires_at, refresh_expires_at };
}

export function stepUp(
  { requiredScopes, acrValues, maxAge }: Need,
): EventToEmit {
  return {
    type: "step_up",
    scopes: requiredScopes === undefined
      ? undefined
      : mergeScopes(requiredScopes),
    acr_values: acrValues,
    max_age: maxAge,
  };
}

export function refreshed(session: Session): EventToEmit {
  return { type: "refreshed", ...commonOf(session) };
}

export function reportAbout(
  context: Context,
  session: StoredSession | undefined,
  event: EventToEmit,
): void {
  report(fork(context, tokensOf(session)), event);
}

export function reportSignIn(context: Context, session: Session): void {
  const { issuer, token, scopes: requested } = session;
  const scopes = token.scope ? scopesFrom(token.scope) : requested;
  const event = { ...commonOf(session), scopes };
  reportAbout(context, session, { type: "sign_in_finished", ...event });
  if (!lacksRefreshToken(session)) return;
  reportAbout(context, session, {
    type: "refresh_token_missing",
    issuer,
    message: "The server issued no refresh token for offline_access (set " +
      'parameters: { prompt: "consent" }, and register the client with ' +
      "this scope and the grant type refresh_token)",
  });
}

/** Omits the store's message, which may contain the session. */
export function reportUnsaved(
  context: Context,
  { issuer }: Pick<Session, "issuer">,
  error: unknown,
): void {
  const { code, name = "error" } = Object(error);
  report(context, {
    type: "save_failed",
    issuer,
    code: typeof code === "string" ? code : name,
  });
}

/** Removes the queries of URLs, even without a scheme or host. */
function withoutQueries(text: string): string {
  return text.replace(
    /\S+/g,
    (word) => word.includes("/") ? word.replace(/\?.*/s, "") : word,
  );
}

export function sessionDropped(
  issuer: string,
  { error, code, message: full }: OAuthClientError,
): EventToEmit {
  const message = withoutQueries(full);
  return { type: "session_dropped", issuer, code: error ?? code, message };
}

export function tokenRefused(
  method: string,
  { origin, pathname }: URL,
  { status, headers }: Pick<Response, "status" | "headers">,
): EventToEmit {
  const { error, error_description } = findChallenges(headers)
    .find(({ params }) => params.error !== undefined)?.params ?? {};
  return {
    type: "token_refused",
    method,
    url: origin + pathname,
    status,
    error,
    error_description: error_description && withoutQueries(error_description),
  };
}
