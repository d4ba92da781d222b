/**
 * A resource and its authorization server, which rotates refresh tokens: a second
 * use of one revokes all tokens (RFC 9700, section 4.14.2).
 */

import type { ISession } from "../../mod.ts";
import { serve } from "./_serve.ts";

/** A running server. */
export interface IRotatingServer extends AsyncDisposable {
  readonly origin: string;
  /** URL of the protected resource. */
  readonly resource: string;
  /** How many tokens were refreshed. */
  readonly refreshes: number;
  /** Whether a refresh token was used twice. */
  readonly isRevoked: boolean;
  /** Makes the current access token invalid. */
  expire(): void;
  /** A session with the current tokens; its access token has expired. */
  session(): ISession;
}

/** How long a refresh takes: long enough for others to come in between. */
const REFRESH_MS = 30;

/** Starts a server; `handle` responds to what is neither token request nor resource. */
export function startRotatingServer(
  handle: (request: Request) => Promise<Response> | Response = () =>
    new Response(null, { status: 404 }),
): IRotatingServer {
  let refreshes = 0;
  let isRevoked = false;
  let accessToken = crypto.randomUUID();
  let refreshToken = crypto.randomUUID();

  const respond = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/mcp") {
      await request.body?.cancel();
      const isValid = !isRevoked &&
        request.headers.get("Authorization") === `Bearer ${accessToken}`;
      return isValid ? new Response("ok") : new Response(null, {
        status: 401,
        headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' },
      });
    }
    if (pathname !== "/token") return await handle(request);
    const form = new URLSearchParams(await request.text());
    if (isRevoked || form.get("refresh_token") !== refreshToken) {
      isRevoked = true;
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    refreshes++;
    accessToken = crypto.randomUUID();
    refreshToken = crypto.randomUUID();
    const token = {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: refreshToken,
    };
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
    return Response.json(token);
  };

  const { origin, close } = serve(respond);
  const resource = `${origin}/mcp`;
  return {
    origin,
    resource,
    get refreshes() {
      return refreshes;
    },
    get isRevoked() {
      return isRevoked;
    },
    expire() {
      accessToken = crypto.randomUUID();
    },
    session: () => ({
      issuer: origin,
      resource,
      serverMetadata: {
        issuer: origin,
        token_endpoint: `${origin}/token`,
        token_endpoint_auth_methods_supported: ["none"],
      },
      client: { issuer: origin, client_id: "client" },
      token: {
        access_token: "expired",
        token_type: "Bearer",
        expires_in: 0,
        expires_at: 1,
        refresh_token: refreshToken,
      },
      scopes: [],
    }),
    [Symbol.asyncDispose]: close,
  };
}
