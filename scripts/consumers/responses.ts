/**
 * The responses of the consumer tests' server: a protected resource that is its own
 * authorization server and checks the requests.
 */

import { createHash } from "node:crypto";
import { createDpopVerifier } from "../../tests/servers/_dpop_verifier.ts";

export function createResponder() {
  const challenges = new Map<string, string>();
  const proofs = createDpopVerifier(false);
  const isProven = (request: Request, accessToken?: string) =>
    proofs.verify(request, accessToken).then(() => true, () => false);
  const s256 = (text: string) =>
    createHash("sha256").update(text).digest("base64url");

  return async (request: Request): Promise<Response> => {
    const { origin, pathname, searchParams } = new URL(request.url);
    const metadata = "/.well-known/oauth-protected-resource/mcp";
    const document = (resource: string) =>
      Response.json({
        resource: `${origin}${resource}`,
        authorization_servers: [origin],
        scopes_supported: ["read"],
      });
    switch (pathname) {
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
          challenge === s256(form.get("code_verifier") ?? "");
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
      case "/mcp":
        return request.headers.get("Authorization") === "DPoP a-token" &&
            await isProven(request, "a-token")
          ? new Response("Grüß Gott")
          : new Response("No token", {
            status: 401,
            headers: {
              "WWW-Authenticate":
                `DPoP algs="ES256", Bearer resource_metadata="${origin}${metadata}"`,
            },
          });
      case metadata:
        return document("/mcp");
      case "/document":
        return document("/elsewhere");
    }
    return new Response("No such page", { status: 404 });
  };
}
