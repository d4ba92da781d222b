/**
 * The responses of the consumer tests' server: a protected resource that is its own
 * authorization server and checks the requests.
 */

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(base64url, { alphabet: "base64url" });
}

async function s256(verifier: string): Promise<string> {
  const bytes = new TextEncoder().encode(verifier);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return hash.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Checks the signature of a DPoP proof, and that it is for this request (RFC 9449). */
async function isProven(request: Request): Promise<boolean> {
  const [header, payload, signature] = request.headers.get("DPoP")
    ?.split(".") ?? [];
  if (!header || !payload || !signature) return false;
  const read = (part: string) =>
    JSON.parse(new TextDecoder().decode(bytesOf(part)));
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const key = await crypto.subtle.importKey(
    "jwk",
    read(header).jwk,
    algorithm,
    false,
    ["verify"],
  );
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  const { htm, htu } = read(payload);
  return htm === request.method && htu === request.url &&
    await crypto.subtle.verify(algorithm, key, bytesOf(signature), signed);
}

/** Responds as the authorization server; undefined for any other path. */
export async function authorize(
  request: Request,
  path: string,
  challenges: Map<string, string>,
): Promise<Response | undefined> {
  const { origin, searchParams } = new URL(request.url);
  switch (path) {
    case "/.well-known/oauth-authorization-server":
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
      });
    case "/register":
      return Response.json({ client_id: "c1", ...await request.json() }, {
        status: 201,
      });
    case "/authorize": {
      const code = crypto.randomUUID();
      challenges.set(code, searchParams.get("code_challenge") ?? "");
      const callback = new URL(searchParams.get("redirect_uri") ?? origin);
      callback.searchParams.set("code", code);
      callback.searchParams.set("state", searchParams.get("state") ?? "");
      callback.searchParams.set("iss", origin);
      return new Response(callback.href);
    }
    case "/token": {
      const form = new URLSearchParams(await request.clone().text());
      const challenge = challenges.get(form.get("code") ?? "");
      const isKnown = form.get("client_id") === "c1" &&
        challenge === await s256(form.get("code_verifier") ?? "");
      return isKnown && await isProven(request)
        ? Response.json({
          access_token: "a-token",
          token_type: "DPoP",
          expires_in: "3600",
          scope: "read",
          refresh_token: null,
        })
        : Response.json({ error: "invalid_grant" }, { status: 400 });
    }
  }
  return undefined;
}

/** Responds as the protected resource; undefined for any other path. */
export async function serveResource(
  request: Request,
  path: string,
): Promise<Response | undefined> {
  const { origin } = new URL(request.url);
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const document = (resource: string) =>
    Response.json({
      resource: `${origin}${resource}`,
      authorization_servers: [origin],
      scopes_supported: ["read"],
    });
  switch (path) {
    case "/mcp":
      return request.headers.get("Authorization") === "DPoP a-token" &&
          await isProven(request)
        ? new Response("Grüß Gott")
        : new Response("No token", {
          status: 401,
          headers: {
            "WWW-Authenticate":
              `DPoP algs="ES256", Bearer resource_metadata="${metadata}"`,
          },
        });
    case "/.well-known/oauth-protected-resource/mcp":
      return document("/mcp");
    case "/document":
      return document("/elsewhere");
  }
  return undefined;
}
