/** The printed summary of a session: never a token, a code or a secret. */

import { scopesFrom } from "../core/_scope_values.ts";
import { printable } from "../core/_quote.ts";
import { quoteUrl, withAsciiHosts } from "../core/_url.ts";
import type { StoredSession } from "../session/session.ts";
import { rfc3339 } from "./_time.ts";

/** Whether a session can still be used. */
export type SessionState = "valid" | "refreshable" | "ended";

/**
 * A session in the output of `status --json`. Times are in seconds since the Unix
 * epoch.
 */
export interface Summary {
  readonly url: string;
  readonly account?: string;
  /** `ended` if a user has to sign in. */
  readonly state: SessionState;
  readonly resource: string;
  readonly issuer: string;
  readonly client_id?: string | undefined;
  /** Whether `logout --client` can delete the client. */
  readonly can_delete_client: boolean;
  /** The granted scopes. */
  readonly scopes: readonly string[];
  /** When the access token expires; absent if the server did not specify that. */
  readonly expires_at?: number;
  readonly has_refresh_token: boolean;
  readonly refresh_expires_at?: number;
}

export interface NamedSession {
  readonly url: string;
  readonly account?: string | undefined;
  readonly session: StoredSession;
}

function stateOf({ token }: StoredSession, nowSeconds: number): SessionState {
  const {
    access_token,
    refresh_token,
    expires_at = Infinity,
    refresh_expires_at = Infinity,
  } = token ?? {};
  if (access_token && expires_at > nowSeconds) return "valid";
  return refresh_token && refresh_expires_at > nowSeconds
    ? "refreshable"
    : "ended";
}

export function summaryOf(
  { url, account, session }: NamedSession,
  now: () => number = Date.now,
): Summary {
  const { resource, issuer, client, token, scopes } = session;
  const { expires_at, refresh_expires_at, refresh_token, scope } = token ?? {};
  return {
    url,
    ...(account !== undefined && { account }),
    state: stateOf(session, now() / 1000),
    resource,
    issuer,
    client_id: client?.client_id,
    can_delete_client: Boolean(
      client?.registration_access_token && client.registration_client_uri,
    ),
    scopes: scope ? scopesFrom(scope) : scopes,
    ...(expires_at !== undefined && { expires_at }),
    has_refresh_token: refresh_token !== undefined,
    ...(refresh_expires_at !== undefined && { refresh_expires_at }),
  };
}

const UNITS = [["days", 86_400], ["hours", 3_600], ["min", 60]] as const;

/** Returns the distance of a time from now, and the time itself. */
export function describeTime(seconds: number, nowSeconds: number): string {
  const distance = Math.abs(seconds - nowSeconds);
  const [unit, length] = UNITS.find(([, length]) => distance >= 2 * length) ??
    ["s", 1];
  const text = `${Math.floor(distance / length)} ${unit}`;
  const date = rfc3339(seconds);
  const at = date === undefined ? "" : ` (${date})`;
  return (seconds > nowSeconds ? `in ${text}` : `${text} ago`) + at;
}

/** Returns the lines about a session for a user, the first with its URL. */
export function summaryLines(
  summary: Summary,
  now: () => number = Date.now,
): string[] {
  const { url, account, resource, issuer, scopes, expires_at } = summary;
  const { state, has_refresh_token, refresh_expires_at } = summary;
  const { can_delete_client } = summary;
  const nowSeconds = now() / 1_000;
  const expiry = expires_at === undefined
    ? "valid, expiry unknown"
    : `${expires_at > nowSeconds ? "expires" : "expired"} ${
      describeTime(expires_at, nowSeconds)
    }`;
  const refreshExpiry = refresh_expires_at === undefined
    ? "yes"
    : `expires ${describeTime(refresh_expires_at, nowSeconds)}`;
  const rows: [name: string, value: string][] = [
    ...(resource === url
      ? []
      : [["resource", withAsciiHosts(quoteUrl(resource))] as const]),
    ["issuer", withAsciiHosts(quoteUrl(issuer))],
    ["scopes", scopes.map(printable).join(" ") || "not listed"],
    ["token", state === "ended" ? "ended: sign in again" : expiry],
    ["refresh", has_refresh_token ? refreshExpiry : "no refresh token"],
    ...(can_delete_client
      ? [["client", "can be deleted: logout --client"] as const]
      : []),
  ].map(([name = "", value = ""]) => [name, value]);
  return [
    quoteUrl(url) + (account === undefined ? "" : ` (${printable(account)})`),
    ...rows.map(([name, value]) => `  ${name.padEnd(10)}${value}`),
  ];
}
