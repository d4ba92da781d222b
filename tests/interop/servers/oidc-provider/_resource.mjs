/** A resource in front of oidc-provider: RFC 9728 metadata, RFC 6750 challenges. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import {
  calculateJwkThumbprint,
  decodeProtectedHeader,
  EmbeddedJWK,
  jwtVerify,
} from "jose";

export const origin = `http://127.0.0.1:${process.env.PORT}`;
export const resource = `${origin}/mcp`;

const nonce = crypto.randomUUID();

/** Returns whether a proof is for this token, with the nonce of the resource. */
async function isBound(proof, token) {
  const { payload } = await jwtVerify(proof, EmbeddedJWK, { typ: "dpop+jwt" });
  const { jwk } = decodeProtectedHeader(proof);
  return token.jkt === await calculateJwkThumbprint(jwk) &&
    payload.nonce === nonce;
}

/** Returns options of a provider that knows the resource, which has these scopes. */
export const options = (scopes, features) => ({
  scopes: ["openid", "offline_access", ...scopes],
  issueRefreshToken: (_ctx, client) =>
    client.grantTypeAllowed("refresh_token"),
  features: {
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({
        scope: scopes.join(" "),
        audience: resource,
        accessTokenFormat: "opaque",
      }),
    },
    ...features,
  },
});

/** Pushed authorization requests, and DPoP with nonces. */
export const PAR_DPOP = {
  dPoP: {
    enabled: true,
    nonceSecret: randomBytes(32),
    requireNonce: () => true,
  },
  pushedAuthorizationRequests: {
    enabled: true,
    requirePushedAuthorizationRequests: true,
  },
};

/** Listens with the provider, and with a resource whose `/admin` requires more. */
export function serve(provider, { scopes, dpop = false }) {
  const handle = provider.callback();
  const scheme = dpop ? "DPoP" : "Bearer";
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;

  async function protect(request, response) {
    const challenge = (status, ...params) => {
      const all = [`resource_metadata="${metadata}"`, ...params];
      response.writeHead(status, {
        "WWW-Authenticate": `${scheme} ${all.join(", ")}`,
        ...dpop && { "DPoP-Nonce": nonce },
      }).end();
    };
    const [given, value] = request.headers.authorization?.split(" ") ?? [];
    if (!value || given !== scheme) return challenge(401);
    const token = await provider.AccessToken.find(value) ??
      await provider.ClientCredentials.find(value);
    if (!token?.isValid) return challenge(401, 'error="invalid_token"');
    if (dpop && !await isBound(request.headers.dpop, token)) {
      return challenge(401, 'error="use_dpop_nonce"');
    }
    const isAdmin = request.url.startsWith("/mcp/admin");
    if (isAdmin && !token.scopes.has("mcp:write")) {
      return challenge(403, 'error="insufficient_scope"', 'scope="mcp:write"');
    }
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ scope: token.scope ?? "" }));
  }

  createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, origin);
    if (pathname === new URL(metadata).pathname) {
      response.setHeader("Content-Type", "application/json");
      const document = { resource, authorization_servers: [origin] };
      response.end(JSON.stringify({ ...document, scopes_supported: scopes }));
    } else if (pathname === "/operator/clients") {
      provider.Client.adapter.destroy(searchParams.get("id"))
        .then(() => response.end());
    } else if (pathname.startsWith("/mcp")) {
      protect(request, response).catch((error) =>
        response.writeHead(500).end(error.message)
      );
    } else handle(request, response);
  }).listen(process.env.PORT, "127.0.0.1", () => console.log(resource));
}
