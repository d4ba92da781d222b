/** Doorkeeper, see doorkeeper_server.rb. Arguments are scopes of the resource. */
import { introspection, run, serve, upstream } from "./_resource.mjs";

await run(["/usr/bin/ruby", "doorkeeper_server.rb"]);
serve({
  issuer: upstream,
  scopes: process.argv.slice(2),
  admin: "write",
  scopesOf: introspection(`${upstream}/oauth/introspect`, "resource", "secret"),
});
