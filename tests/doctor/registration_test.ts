/** The registration of a client, which a diagnosis makes on request only. */

import { assert, assertEquals } from "@std/assert";
import { diagnose } from "../../lib/doctor/mod.ts";
import { startWorld } from "./_world.ts";

Deno.test("diagnose() writes nothing to a server unless it may register", async () => {
  await using world = startWorld();
  const { target, requests } = world;
  const plain = await diagnose(target);
  assertEquals(plain.registration, undefined);
  assertEquals(requests.filter((line) => line.startsWith("POST")), []);
  const seen: string[] = [];
  const registered = await diagnose(target, {
    register: true,
    onRequest: ({ name, url }) => name === "registration" && seen.push(url),
  });
  assertEquals(requests.filter((line) => line.startsWith("POST")), [
    "POST /as/register",
  ]);
  assertEquals(seen, [`${world.model.origin}/as/register`]);
  assertEquals(registered.registration, { client_id: "c1" });
  const after = ["authorization_endpoint", "token_endpoint"];
  assertEquals(plain.notTried, ["registration_endpoint", ...after]);
  assertEquals(registered.notTried, after);
  assertEquals(
    registered.summary,
    `A client is registered at ${world.model.origin}/as. Not tried: ` +
      "authorization endpoint, token endpoint.",
  );
  assert(!JSON.stringify(registered).includes("s3cret-of-client"));
});

Deno.test("diagnose() registers as a flow does", async () => {
  const sent: string[] = [];
  await using world = startWorld(({ handlers, serverMetadata }) => {
    serverMetadata.scopes_supported = ["read", "write", "offline_access"];
    handlers["POST /as/register"] = () =>
      sent.length === 1
        ? Response.json({ error: "invalid_client_metadata" }, { status: 400 })
        : Response.json({ client_id: "c1" }, { status: 201 });
  });
  const { verdict, steps } = await diagnose(world.target, {
    register: true,
    fetch(url, init) {
      if (init.method === "POST") sent.push(String(init.body));
      return fetch(url, init);
    },
  });
  assertEquals(verdict, "ready");
  const [first, second] = sent.map((body) => JSON.parse(body));
  assertEquals(first.scope, "read write offline_access");
  assertEquals([second.scope, sent.length], [undefined, 2]);
  assertEquals(
    steps.filter(({ name }) => name === "registration")
      .map(({ result }) => result),
    ["refused", "registered"],
  );
});

Deno.test("diagnose() finds a registration that is refused", async () => {
  await using world = startWorld(({ handlers }) => {
    handlers["POST /as/register"] = () =>
      Response.json({ error: "invalid_redirect_uri" }, { status: 400 });
  });
  const { findings, verdict, options, notTried } = await diagnose(
    world.target,
    { register: true },
  );
  assertEquals(findings.map(({ id, severity }) => `${severity} ${id}`), [
    "error registration_failed",
  ]);
  assertEquals([verdict, options], ["needs_client", [{ name: "client" }]]);
  assertEquals(notTried, ["authorization_endpoint", "token_endpoint"]);
  assertEquals(
    findings[0]?.message,
    `Registration to ${world.model.origin}/as/register failed: ` +
      "invalid_redirect_uri.",
  );
});

Deno.test("diagnose() finds a registration endpoint that is out of order", async () => {
  for (const status of [429, 500, 503]) {
    await using world = startWorld(({ handlers }) => {
      handlers["POST /as/register"] = () => new Response("", { status });
    });
    const { verdict, options } = await diagnose(world.target, {
      register: true,
    });
    assertEquals([verdict, options], ["broken", undefined], `${status}`);
  }
});

Deno.test("diagnose() names a client metadata document where there is no registration", async () => {
  await using world = startWorld(({ serverMetadata }) => {
    delete serverMetadata.registration_endpoint;
    serverMetadata.client_id_metadata_document_supported = true;
  });
  const { summary, verdict, context } = await diagnose(world.target);
  assertEquals([verdict, context?.client], [
    "needs_option",
    "client_metadata_document",
  ]);
  assertEquals(
    summary,
    "This library continues with `clientMetadataUrl`. Not tried: " +
      "authorization endpoint, token endpoint.",
  );
});

Deno.test("diagnose() ignores an authentication method that is no string", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  for (const method of ["7", "{}", deep]) {
    await using world = startWorld(({ handlers }) => {
      handlers["POST /as/register"] = () =>
        new Response(
          `{"client_id":"c1","token_endpoint_auth_method":${method}}`,
          { status: 201 },
        );
    });
    const { registration } = await diagnose(world.target, { register: true });
    // What was requested holds.
    assertEquals(registration, {
      client_id: "c1",
      token_endpoint_auth_method: "none",
    });
  }
});
