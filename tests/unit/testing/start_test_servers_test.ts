/** The servers for tests over sockets. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  OAuthClientError,
} from "../../../mod.ts";
import { startTestServers } from "../../../lib/testing/mod.ts";
import { statusOf } from "../../support/stub_fetch.ts";

Deno.test("startTestServers() serves a sign-in, a refresh, faults and streams over sockets, until close()", async () => {
  const received: Uint8Array[] = [];
  const servers = await startTestServers({
    async handle(request) {
      received.push(new Uint8Array(await request.arrayBuffer()));
      return new Response(new Blob(["one", "two"]).stream());
    },
  });
  const { resource, receiver, now } = servers;
  const authorize = codeFlow(receiver);
  const api = createAuthorizedFetch(resource, { authorize, now });
  const body = new Uint8Array([0, 255, 128]);
  const call = async () => {
    const response = await api(resource, { method: "POST", body });
    return await response.text();
  };
  assertEquals(await call(), "onetwo");
  assertEquals(received, [body]);
  servers.advance(3600);
  servers.failNext("token", "lose_request");
  servers.failNext("resource", 503);
  assertEquals(await statusOf(api(resource)), 503);
  assertEquals(servers.received("token", "refresh_token").length, 2);
  const post = async () => {
    const response = await fetch(resource, { method: "POST", body: "a=1" });
    return await response.text();
  };
  assertEquals(await post(), "refused");
  servers.failNext("resource", "lose_response");
  await assertRejects(post);
  servers.failNext("resource", "lose_response");
  await assertRejects(call);
  assertEquals(received.length, 2);
  assertEquals(servers.received("resource").at(-1)?.status, undefined);

  const preflight = await fetch(resource, { method: "OPTIONS" });
  assertEquals(preflight.status, 204);
  assertEquals(preflight.headers.get("Access-Control-Allow-Origin"), "*");
  await servers.close();
  await assertRejects(() => fetch(resource));
  await assertRejects(() => api.authorize({ fresh: true }), OAuthClientError);
});
