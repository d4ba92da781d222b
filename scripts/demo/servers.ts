/** The two servers of the demo, on loopback. */
import { startAuthorizationServer } from "../../tests/servers/authorization_server.ts";
import { startProtectedResource } from "../../tests/servers/protected_resource.ts";

export async function startServers() {
  const machine = { id: "demo-machine", secret: crypto.randomUUID() };
  await using started = new AsyncDisposableStack();
  const server = started.use(
    await startAuthorizationServer({
      // With a path, so that the discovery requests several URLs.
      path: "/as",
      clients: [{
        client_id: machine.id,
        client_secret: machine.secret,
        token_endpoint_auth_method: "client_secret_post",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: [],
      }],
    }),
  );
  const resource = started.use(startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:write", "mcp:read"],
  }));
  const running = started.move();
  return {
    target: resource.resource,
    issuer: server.issuer,
    machine,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
