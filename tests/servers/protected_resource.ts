/**
 * A protected resource on loopback, with challenges (RFC 6750), metadata
 * (RFC 9728) and verification of tokens.
 */
import { errors, type JWTPayload } from "jose";
import { createDpopVerifier, DpopError } from "./_dpop_verifier.ts";
import { createJwtVerifier, scopesOf } from "./_jwt_verifier.ts";
import { serve } from "./_serve.ts";

export interface ProtectedResourceOptions {
  /** The issuers in the metadata, whose tokens are accepted. */
  authorizationServers: string[];
  /** The scopes in the challenge and the metadata, which a token requires. */
  scopes?: string[];
  /**
   * Whether tokens must be bound to a key by DPoP; with `nonce`, a proof must have
   * the nonce of the previous response. @default false
   */
  dpop?: boolean | "nonce";
  /** Whether pages of other origins may call it. @default false */
  cors?: boolean;
}

export interface ProtectedResource extends AsyncDisposable {
  origin: string;
  resource: string;
  metadataUrl: string;
  /** The requests so far: method and path, without the query. */
  requests: string[];
}

const PATH = "/mcp";
const METADATA_PATH = `/.well-known/oauth-protected-resource${PATH}`;

/** Allows requests of pages, and to read the challenge (Fetch, section 3.3). */
function withCors(respond: (request: Request) => Promise<Response>) {
  return async (request: Request): Promise<Response> => {
    const response = request.method === "OPTIONS"
      ? new Response(null, { status: 204 })
      : await respond(request);
    response.headers.set("Access-Control-Allow-Origin", "*");
    response.headers.set("Access-Control-Allow-Headers", "*, Authorization");
    response.headers.set("Access-Control-Expose-Headers", "WWW-Authenticate");
    return response;
  };
}

export function startProtectedResource(
  options: ProtectedResourceOptions,
): ProtectedResource {
  const { authorizationServers, scopes = [], dpop = false, cors = false } =
    options;
  const requests: string[] = [];
  const { origin, close } = serve(cors ? withCors(respond) : respond);
  const resource = origin + PATH;
  const metadataUrl = origin + METADATA_PATH;
  const verify = createJwtVerifier(authorizationServers, resource);
  const proofs = dpop ? createDpopVerifier(dpop === "nonce") : undefined;
  const scheme = proofs ? "DPoP" : "Bearer";

  function challenge(status: number, error?: string): Response {
    const parameters = {
      error,
      resource_metadata: metadataUrl,
      scope: scopes.length > 0 ? scopes.join(" ") : undefined,
    };
    const listed = Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}="${value}"`);
    const headers = {
      "WWW-Authenticate": `${scheme} ${listed.join(", ")}`.trim(),
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
    // RFC 6750, section 3.1: no error code without credentials.
    if (!token || given?.toLowerCase() !== scheme.toLowerCase()) {
      return challenge(401);
    }
    let claims: JWTPayload;
    try {
      claims = await verify(token, await proofs?.verify(request, token));
    } catch (error) {
      if (error instanceof DpopError) return challenge(401, error.code);
      // Any other error is a fault of the test, and no error response.
      if (!(error instanceof errors.JOSEError)) throw error;
      return challenge(401, "invalid_token");
    }
    const granted = scopesOf(claims);
    if (!scopes.every((scope) => granted.includes(scope))) {
      return challenge(403, "insufficient_scope");
    }
    return Response.json({ resource, claims });
  }

  async function respond(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    requests.push(`${request.method} ${pathname}`);
    if (pathname === PATH) {
      const response = await guard(request);
      if (proofs?.nonce) response.headers.set("DPoP-Nonce", proofs.nonce);
      return response;
    }
    if (pathname === METADATA_PATH) {
      return Response.json({
        resource,
        authorization_servers: authorizationServers,
        bearer_methods_supported: ["header"],
        ...scopes.length > 0 && { scopes_supported: scopes },
        ...proofs && { dpop_bound_access_tokens_required: true },
      });
    }
    return Response.json({ error: "not_found" }, { status: 404 });
  }

  return {
    origin,
    resource,
    metadataUrl,
    requests,
    [Symbol.asyncDispose]: close,
  };
}
