import type { AuthorizationServerState } from "./_authorization_settings.ts";
import { type Client, hasRedirectUri } from "./_clients.ts";
import { refusal } from "./_refusals.ts";
import {
  newGrant,
  requireResource,
  requireSingle,
  USER,
} from "./_requested_grant.ts";
import type { TestRequest } from "./request.ts";

function challengeOf(params: URLSearchParams): string {
  // 43 characters are a SHA-256 hash in base64url.
  const challenge = params.get("code_challenge") ?? "";
  const isS256 = params.get("code_challenge_method") === "S256";
  if (!isS256 || !/^[\w-]{43}$/.test(challenge)) {
    const why = "code_challenge is not one of the method S256";
    throw refusal("invalid_request", why);
  }
  return challenge;
}

/** Returns a code; undefined if the user leaves, and the page waits. */
function grantCode(
  server: AuthorizationServerState,
  client: Client,
  request: TestRequest,
): string | undefined {
  const { params } = request;
  const { grants, switches: { user, dpop } } = server;
  requireSingle(params);
  if (params.get("response_type") !== "code") {
    throw refusal("unsupported_response_type", "response_type is not code");
  }
  const challenge = challengeOf(params);
  requireResource(server, request);
  const grant = newGrant(server, client, request, { user: USER });
  if (user === "refuses") throw refusal("access_denied", "The user declines");
  if (user === "leaves") return undefined;
  const redirectUri = params.get("redirect_uri") ?? "";
  const nonce = params.get("nonce");
  const jkt = dpop === "ignored" ? null : params.get("dpop_jkt");
  return grants.newCode(grant, { redirectUri, challenge, nonce, jkt });
}

/** Responds immediately, instead of the user (RFC 6749, section 4.1). */
export async function respondToAuthorization(
  server: AuthorizationServerState,
  request: TestRequest,
): Promise<Response> {
  const { clients, switches } = server;
  const { params } = request;
  const get = (name: string) => params.get(name) ?? "";
  const client = clients.get(get("client_id"));
  const redirectUri = get("redirect_uri");
  // The URL may be an attacker's (section 4.1.2.1).
  if (!client || !hasRedirectUri(client, redirectUri)) {
    const why = client
      ? `redirect_uri ${redirectUri} is not registered`
      : `Client ${get("client_id")} is not registered`;
    return new Response(why, { status: 400 });
  }
  const members = new URLSearchParams();
  try {
    const code = grantCode(server, client, request);
    if (code === undefined) {
      return new Response("This page waits for the user");
    }
    members.set("code", code);
  } catch (refused) {
    if (!(refused instanceof Response)) throw refused;
    const error: Record<string, string> = await refused.json();
    for (const name in error) members.set(name, error[name]!);
  }
  if (params.has("state")) members.set("state", get("state"));
  if (switches.iss !== null) members.set("iss", switches.iss);
  const callback = new URL(redirectUri);
  for (const [name, value] of members) callback.searchParams.set(name, value);
  return new Response(null, {
    status: 302,
    headers: { Location: callback.href },
  });
}
