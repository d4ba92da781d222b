/**
 * An authorization server that exchanges the tokens of callers (RFC 8693): oidc-provider
 * with one more grant; and the API behind.
 */
import {
  GRANT_TYPE_TOKEN_EXCHANGE,
  TOKEN_TYPE_ACCESS_TOKEN,
} from "../../mod.ts";
import { createJwtVerifier } from "./_jwt_verifier.ts";
import { startAuthorizationServer } from "./authorization_server.ts";
import { addGrant, issueToken, TokenError } from "./cross_app_access.ts";
import { startProtectedResource } from "./protected_resource.ts";

/** Seconds; the tokens of callers are valid for an hour. */
const LIFETIME = 300;

/** Starts both; tokens for `resource` are exchanged for tokens for the API. */
export async function startTokenExchange(resource: string) {
  await using started = new AsyncDisposableStack();
  const service = { id: "mcp-server", secret: crypto.randomUUID() };
  const server = started.use(
    await startAuthorizationServer({
      clients: [{
        client_id: service.id,
        client_secret: service.secret,
        grant_types: [GRANT_TYPE_TOKEN_EXCHANGE],
        redirect_uris: [],
        response_types: [],
      }],
    }),
  );
  const { issuer } = server;
  const api = started.use(startProtectedResource({
    authorizationServers: [issuer],
    scopes: ["mcp:read"],
  }));
  const verify = createJwtVerifier([issuer], resource);
  /** The tokens that were exchanged, with their subjects; and those that have ended. */
  const exchanged: { sub: string; token: string }[] = [];
  const ended = new Set<string>();
  addGrant(server, GRANT_TYPE_TOKEN_EXCHANGE, async (ctx, form) => {
    if (form.subject_token_type !== TOKEN_TYPE_ACCESS_TOKEN) {
      throw new TokenError("invalid_request");
    }
    const { subject_token: token = "" } = form;
    const { sub = "" } = await verify(token);
    exchanged.push({ sub, token });
    if (ended.has(token)) throw new TokenError("invalid_grant");
    if (form.resource !== api.resource) throw new TokenError("invalid_target");
    const { resource, scope = "" } = form;
    return {
      ...await issueToken(ctx, sub, { resource, scope, lifetime: LIFETIME }),
      issued_token_type: TOKEN_TYPE_ACCESS_TOKEN,
      refresh_token: "outlasts-the-caller",
    };
  });
  const running = started.move();
  return {
    server,
    api,
    exchanged,
    ended,
    client: { issuer, client_id: service.id, client_secret: service.secret },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
