/** Authlib with Flask, see authlib_server.py. */
import { introspection, run, serve, upstream } from "./_resource.mjs";

await run(["/usr/bin/python3", "authlib_server.py"]);
serve({
  issuer: upstream,
  scopes: ["read"],
  admin: "write",
  scopesOf: introspection(`${upstream}/introspect`, "resource", "secret"),
  remove: (id) =>
    fetch(`${upstream}/clients/${encodeURIComponent(id)}`, {
      method: "DELETE",
    }),
});
