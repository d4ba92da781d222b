/**
 * A protected resource for tests, on loopback: it challenges as RFC 6750 and
 * RFC 9728 say, publishes its metadata, and verifies the tokens it is given.
 */
import { errors, type JWTPayload } from "jose";
import { createDpopVerifier, DpopError } from "./_dpop_verifier.ts";
import { createJwtVerifier, scopesOf } from "./_jwt_verifier.ts";

export interface IProtectedResourceOptions {
  /** The issuers that the metadata names and whose tokens are accepted. */
  authorizationServers: string[];
  /** Default `/mcp`. */
  path?: string;
  /** What the challenge and the metadata name, and a token must carry. */
  scopes?: string[];
  /** Laid over the metadata document, to make it wrong on purpose. */
  metadata?: Record<string, unknown>;
  /**
   * Where the metadata document stands; default is the well-known path followed
   * by `path`. With `null` there is none, and no challenge names it.
   */
  metadataPath?: string | null;
  /**
   * Whether tokens must be bound to a key by DPoP and come with a proof, which
   * with `nonce` carries the nonce of the answer before; default false.
   */
  dpop?: boolean | "nonce";
}

export interface IProtectedResource extends AsyncDisposable {
  origin: string;
  /** The resource identifier, which is the address to ask. */
  resource: string;
  /** The address of the metadata document, when there is one. */
  metadataUrl: string | undefined;
  /** What was asked so far: method and path, without the query. */
  requests: string[];
  close(): Promise<void>;
}

export function startProtectedResource(
  options: IProtectedResourceOptions,
): IProtectedResource {
  const { authorizationServers, path = "/mcp", scopes = [], dpop = false } =
    options;
  const {
    metadataPath = `/.well-known/oauth-protected-resource${
      path === "/" ? "" : path
    }`,
  } = options;
  const requests: string[] = [];
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
  }, answer);
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const resource = origin + path;
  const metadataUrl = metadataPath === null ? undefined : origin + metadataPath;
  const verify = createJwtVerifier(authorizationServers, resource);
  const proofs = dpop ? createDpopVerifier(dpop === "nonce") : undefined;
  const scheme = proofs ? "DPoP" : "Bearer";

  function refuse(status: number, error?: string): Response {
    const parameters = {
      error,
      resource_metadata: metadataUrl,
      scope: scopes.length > 0 ? scopes.join(" ") : undefined,
    };
    const challenge = Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}="${value}"`);
    const headers = {
      "WWW-Authenticate": `${scheme} ${challenge.join(", ")}`.trim(),
    };
    return Response.json({ error: error ?? "unauthorized" }, {
      status,
      headers,
    });
  }

  async function guard(request: Request): Promise<Response> {
    const [given, token] = (request.headers.get("Authorization") ?? "").split(
      / +/,
    );
    // RFC 6750, 3.1: without credentials, no error code.
    if (!token || given?.toLowerCase() !== scheme.toLowerCase()) {
      return refuse(401);
    }
    let claims: JWTPayload;
    try {
      claims = await verify(token, await proofs?.verify(request, token));
    } catch (error) {
      if (error instanceof DpopError) return refuse(401, error.code);
      // Anything else is a fault of the test, which must not pass as a refusal.
      if (!(error instanceof errors.JOSEError)) throw error;
      return refuse(401, "invalid_token");
    }
    const granted = scopesOf(claims);
    if (!scopes.every((scope) => granted.includes(scope))) {
      return refuse(403, "insufficient_scope");
    }
    return Response.json({ resource, claims });
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    requests.push(`${request.method} ${pathname}`);
    if (pathname === path) {
      const response = await guard(request);
      if (proofs?.nonce) response.headers.set("DPoP-Nonce", proofs.nonce);
      return response;
    }
    if (pathname === metadataPath) {
      return Response.json({
        resource,
        authorization_servers: authorizationServers,
        bearer_methods_supported: ["header"],
        ...scopes.length > 0 && { scopes_supported: scopes },
        ...proofs && { dpop_bound_access_tokens_required: true },
        ...options.metadata,
      });
    }
    return Response.json({ error: "not_found" }, { status: 404 });
  }

  const close = () => server.shutdown();
  return {
    origin,
    resource,
    metadataUrl,
    requests,
    close,
    [Symbol.asyncDispose]: close,
  };
}
