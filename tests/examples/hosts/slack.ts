import * as oauth from "@oauth-helper/client";

/** What Slack responds with 200 and `ok: false` for a token that has ended. */
const ENDED = [
  ...["account_inactive", "invalid_auth", "not_authed"],
  ...["token_expired", "token_revoked"],
];
const issuer = "https://slack.com";
const token_endpoint = `${issuer}/api/oauth.v2.access`;
const authorization_endpoint = `${issuer}/oauth/v2/authorize`;

/** A `fetch` whose responses are as the standards have them. */
export async function slackFetch(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const response = await fetch(input, init);
  if (!response.headers.get("Content-Type")?.includes("json")) return response;
  const body = await response.clone().json();
  if (input === token_endpoint && body.ok) {
    // The token of the user, not of the bot; its scopes are separated by commas.
    const token = { ...body, ...body.authed_user, token_type: "Bearer" };
    return Response.json({ ...token, scope: token.scope?.replace(/,/g, " ") });
  }
  if (body.ok !== false || !ENDED.includes(body.error)) return response;
  const headers = { "WWW-Authenticate": 'Bearer error="invalid_token"' };
  return new Response(JSON.stringify(body), { status: 401, headers });
}

/** Calls Slack for its user, with scopes such as `users:read`. */
export const slackOf = (
  { id, secret, scopes, ...receiver }:
    & { id: string; secret: string; scopes: string[] }
    & Pick<oauth.CodeFlowOptions, "redirectUri" | "visit">,
) =>
  oauth.createAuthorizedFetch(`${issuer}/api`, {
    serverMetadata: { issuer, authorization_endpoint, token_endpoint },
    tokenRequired: true,
    fetch: slackFetch,
    flow: oauth.codeFlow({
      ...receiver,
      client: oauth.clientSecretPost(id, secret, { issuer }),
      resourceIndicator: false,
      parameters: { user_scope: scopes.join(",") },
    }),
  });
