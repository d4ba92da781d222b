/** @hellocoop/mockin, and a resource that verifies its tokens. */
import { createRemoteJWKSet, jwtVerify } from "jose";
import { serve, upstream as issuer } from "../_shared/resource.mjs";

process.env.PORT = process.env.UPSTREAM_PORT;
// The program prints what it does.
console.log = () => {};
await import("@hellocoop/mockin/src/server.js");
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));

serve({
  issuer,
  scopes: ["openid"],
  scopesOf: (token) =>
    jwtVerify(token, keys, { issuer }).then(() => [], () => undefined),
});
