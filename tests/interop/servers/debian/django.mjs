/** django-oauth-toolkit, see django_server.py. */
import { data, introspection, run, serve, upstream } from "./_resource.mjs";

const issuer = `${upstream}/o`;
await run(["/usr/bin/python3", "django_server.py"], { DATA: data });
serve({
  issuer,
  scopes: ["read"],
  admin: "write",
  scopesOf: introspection(`${issuer}/introspect/`, "resource", "secret"),
});
