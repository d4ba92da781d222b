/**
 * An authorization server and a resource by the OAuth profile of the AT Protocol, on
 * loopback: requests must be pushed, every proof needs a nonce, and the `client_id` is
 * the URL of a metadata document.
 */
import { createHash } from "node:crypto";
import { createDpopVerifier, DpopError } from "./_dpop_verifier.ts";
import { serve } from "./_serve.ts";

export interface AtprotoOptions {
  clientDocuments: Record<string, { redirect_uris: string[] }>;
  did: string;
}

export interface AtprotoServers extends AsyncDisposable {
  issuer: string;
  resource: string;
  /** The requests so far: method, path and status. */
  requests: string[];
}

interface Grant {
  clientId: string;
  redirectUri: string;
  scope: string;
  state: string;
  codeChallenge: string;
  thumbprint: string;
}

/** An error response (RFC 6749, section 5.2). */
class Refusal extends Error {}

function require(condition: unknown, error: string): asserts condition {
  if (!condition) throw new Refusal(error);
}

/** Removes and returns the value of a key, which can be used once. */
function take<T>(values: Map<string, T>, key: string | null): T {
  const value = values.get(key ?? "");
  require(value, "invalid_grant");
  values.delete(key ?? "");
  return value;
}

export function startAtprotoServers(
  { clientDocuments, did }: AtprotoOptions,
): AtprotoServers {
  const requests: string[] = [];
  const pushed = new Map<string, Grant>();
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, Grant>();
  const accessTokens = new Map<string, Grant>();
  const serverProofs = createDpopVerifier(true);
  const resourceProofs = createDpopVerifier(true);

  function start(handler: (request: Request, url: URL) => Promise<Response>) {
    return serve(async (request) => {
      const url = new URL(request.url);
      const response = await handler(request, url);
      requests.push(`${request.method} ${url.pathname} ${response.status}`);
      return response;
    });
  }

  function push(form: URLSearchParams, thumbprint: string): Response {
    const read = (name: string) => form.get(name) ?? "";
    const clientId = read("client_id");
    const redirectUri = read("redirect_uri");
    const { redirect_uris = [] } = clientDocuments[clientId] ?? {};
    require(clientDocuments[clientId], "invalid_client");
    require(redirect_uris.includes(redirectUri), "invalid_request");
    require(read("response_type") === "code", "unsupported_response_type");
    require(read("code_challenge_method") === "S256", "invalid_request");
    require(read("state"), "invalid_request");
    require(read("scope").split(" ").includes("atproto"), "invalid_scope");
    const jkt = form.get("dpop_jkt") ?? thumbprint;
    require(jkt === thumbprint, "invalid_dpop_proof");
    const request_uri =
      `urn:ietf:params:oauth:request_uri:${crypto.randomUUID()}`;
    pushed.set(request_uri, {
      clientId,
      redirectUri,
      scope: read("scope"),
      state: read("state"),
      codeChallenge: read("code_challenge"),
      thumbprint,
    });
    return Response.json({ request_uri, expires_in: 299 }, { status: 201 });
  }

  /** The user consents at once. */
  function authorize(query: URLSearchParams): Response {
    const names = [...query.keys()].sort().join(" ");
    require(names === "client_id request_uri", "invalid_request");
    const grant = take(pushed, query.get("request_uri"));
    require(grant.clientId === query.get("client_id"), "invalid_request");
    const code = crypto.randomUUID();
    codes.set(code, grant);
    const callback = new URL(grant.redirectUri);
    callback.searchParams.set("code", code);
    callback.searchParams.set("state", grant.state);
    callback.searchParams.set("iss", as.origin);
    return Response.redirect(callback);
  }

  function token(form: URLSearchParams, thumbprint: string): Response {
    const isCode = form.get("grant_type") === "authorization_code";
    const grant = isCode
      ? take(codes, form.get("code"))
      : take(refreshTokens, form.get("refresh_token"));
    require(grant.clientId === form.get("client_id"), "invalid_client");
    require(grant.thumbprint === thumbprint, "invalid_dpop_proof");
    if (isCode) {
      const verifier = form.get("code_verifier") ?? "";
      const hash = createHash("sha256").update(verifier).digest("base64url");
      require(hash === grant.codeChallenge, "invalid_grant");
      require(grant.redirectUri === form.get("redirect_uri"), "invalid_grant");
    }
    const access_token = crypto.randomUUID();
    const refresh_token = crypto.randomUUID();
    accessTokens.set(access_token, grant);
    refreshTokens.set(refresh_token, grant);
    return Response.json({
      access_token,
      refresh_token,
      token_type: "DPoP",
      expires_in: 300,
      scope: grant.scope,
      sub: did,
    });
  }

  const as = start(async (request, { pathname, searchParams }) => {
    const { origin } = as;
    if (pathname === "/.well-known/oauth-authorization-server") {
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        pushed_authorization_request_endpoint: `${origin}/par`,
        require_pushed_authorization_requests: true,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
        token_endpoint_auth_signing_alg_values_supported: ["ES256"],
        scopes_supported: ["atproto", "transition:generic"],
        authorization_response_iss_parameter_supported: true,
        dpop_signing_alg_values_supported: ["ES256"],
        client_id_metadata_document_supported: true,
      });
    }
    try {
      if (pathname === "/authorize") return authorize(searchParams);
      const form = new URLSearchParams(await request.text());
      const thumbprint = await serverProofs.verify(request);
      const response = pathname === "/par"
        ? push(form, thumbprint)
        : token(form, thumbprint);
      response.headers.set("DPoP-Nonce", serverProofs.nonce!);
      return response;
    } catch (error) {
      if (!(error instanceof Refusal || error instanceof DpopError)) {
        throw error;
      }
      return Response.json(
        { error: error instanceof DpopError ? error.code : error.message },
        { status: 400, headers: { "DPoP-Nonce": serverProofs.nonce! } },
      );
    }
  });

  const rs = start(async (request, { pathname }) => {
    if (pathname === "/.well-known/oauth-protected-resource") {
      return Response.json({
        resource: rs.origin,
        authorization_servers: [as.origin],
      });
    }
    const refuse = (error: string) =>
      Response.json({ error }, {
        status: 401,
        headers: {
          "WWW-Authenticate": `DPoP error="${error}"`,
          "DPoP-Nonce": resourceProofs.nonce!,
        },
      });
    const [scheme, value = ""] =
      request.headers.get("Authorization")?.split(" ") ?? [];
    const grant = accessTokens.get(value);
    if (scheme !== "DPoP" || !grant) return refuse("invalid_token");
    try {
      const thumbprint = await resourceProofs.verify(request, value);
      if (thumbprint !== grant.thumbprint) return refuse("invalid_token");
    } catch (error) {
      if (error instanceof DpopError) return refuse(error.code);
      throw error;
    }
    return Response.json({ did }, {
      headers: { "DPoP-Nonce": resourceProofs.nonce! },
    });
  });

  return {
    issuer: as.origin,
    resource: rs.origin,
    requests,
    async [Symbol.asyncDispose]() {
      await Promise.all([as.close(), rs.close()]);
    },
  };
}
