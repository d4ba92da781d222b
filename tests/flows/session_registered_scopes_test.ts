/**
 * Servers that grant registered scopes only, and list none. So are those of the Python
 * SDK of MCP with `required_scopes`, and without `valid_scopes`.
 */

import { assertEquals } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  isOAuthClientError,
  memoryStore,
} from "../../mod.ts";
import { createTestServers } from "../../lib/testing/mod.ts";
import { pinMessage } from "../support/pin_message.ts";

function world(ofResource: string[] | undefined) {
  const registered: (string | undefined)[] = [];
  const servers = createTestServers({
    requiredScopes: ["read"],
    serverMetadata: { scopes_supported: undefined },
    resourceMetadata: { scopes_supported: ofResource },
    intercept({ endpoint, params, body }) {
      if (endpoint === "registration") {
        registered.push(JSON.parse(body).scope);
      }
      const allowed = registered.at(-1)?.split(" ") ?? [];
      const refused = params.get("scope")?.split(" ").find((one) =>
        !allowed.includes(one)
      );
      if (endpoint !== "authorization" || !refused) return undefined;
      const url = new URL(params.get("redirect_uri") ?? "");
      url.searchParams.set("error", "invalid_scope");
      url.searchParams.set("iss", servers.issuer);
      url.searchParams.set("state", params.get("state") ?? "");
      return Response.redirect(url, 302);
    },
  });
  const { resource, fetch, now, receiver } = servers;
  const store = memoryStore();
  const call = (scope?: string) => {
    const clientMetadata = { client_name: "Test", ...scope && { scope } };
    const authorize = codeFlow({ ...receiver, clientMetadata });
    const api = createAuthorizedFetch(resource, {
      ...{ fetch, now, flow: authorize, store },
    });
    const request = async () =>
      await api(resource).then(
        ({ status }) => status,
        (error) => isOAuthClientError(error) ? pinMessage(error).error : error,
      );
    return { api, request };
  };
  return { servers, registered, call };
}

Deno.test("createAuthorizedFetch() registers the scopes that it requests and those of the resource, where the server lists none", async () => {
  const { servers, registered, call } = world(["read", "write"]);
  const { request } = call();
  assertEquals(await request(), 200);
  // A step-up, with the same registration.
  servers.requiredScopes = ["read", "write"];
  assertEquals(await request(), 200);
  assertEquals(registered, ["read write"]);
});

Deno.test("a step-up that neither server nor resource lists needs a new registration with the scope of clientMetadata", async () => {
  const { servers, registered, call } = world(undefined);
  const { api, request } = call();
  assertEquals(await request(), 200);
  servers.requiredScopes = ["read", "write"];
  assertEquals(await request(), "invalid_scope");
  await api.revoke();
  assertEquals(await call("read write").request(), 200);
  assertEquals(registered, ["read", "read write"]);
});
