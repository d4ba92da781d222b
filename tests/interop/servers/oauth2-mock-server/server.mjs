/** oauth2-mock-server, and a resource that verifies its tokens. */
import { createRemoteJWKSet, jwtVerify } from "jose";
import { OAuth2Server } from "oauth2-mock-server";
import { serve } from "../_shared/resource.mjs";

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
await server.start(Number(process.env.UPSTREAM_PORT), "127.0.0.1");
const issuer = server.issuer.url;
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));

serve({
  issuer,
  scopesOf: (token) =>
    jwtVerify(token, keys, { issuer }).then(() => [], () => undefined),
});
