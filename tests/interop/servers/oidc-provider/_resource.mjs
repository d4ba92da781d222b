/** A resource in front of oidc-provider, as the origin of both. */
import { createHash, randomBytes } from "node:crypto";
import {
  calculateJwkThumbprint,
  decodeProtectedHeader,
  EmbeddedJWK,
  jwtVerify,
} from "jose";
import { optionsFor } from "../_shared/provider_options.mjs";
import {
  origin,
  resource,
  serve as serveResource,
} from "../_shared/resource.mjs";

export { origin, resource };
export const options = optionsFor.bind(undefined, resource);

const nonce = crypto.randomUUID();

/** Returns whether the proof of a request is for it and this token, with the nonce. */
async function isBound({ method, url, headers: { dpop: proof } }, value, token) {
  const { payload } = await jwtVerify(proof, EmbeddedJWK, { typ: "dpop+jwt" });
  const { jwk } = decodeProtectedHeader(proof);
  return token.jkt === await calculateJwkThumbprint(jwk) &&
    payload.htm === method &&
    payload.htu === origin + new URL(url, origin).pathname &&
    payload.ath === createHash("sha256").update(value).digest("base64url") &&
    payload.nonce === nonce;
}

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

/**
 * Listens with the provider, and with a resource whose `/admin` requires more. With
 * `others`, a token is valid for the resource that it was requested for only.
 */
export const serve = (provider, { scopes, others, dpop = false }) =>
  serveResource({
    issuer: origin,
    scopes,
    others,
    admin: "mcp:write",
    ...dpop && { scheme: "DPoP", headers: { "DPoP-Nonce": nonce } },
    async scopesOf(value, request, called) {
      const token = await provider.AccessToken.find(value) ??
        await provider.ClientCredentials.find(value);
      if (!token?.isValid) return "invalid_token";
      if (others && token.aud !== called) return "invalid_token";
      const isRefused = dpop && !await isBound(request, value, token);
      return isRefused ? "use_dpop_nonce" : [...token.scopes];
    },
    remove: (id) => provider.Client.adapter.destroy(id),
    handle: provider.callback(),
  });
