/** The registration of a client, which a diagnosis makes on request only. */

import { assert, assertEquals } from "@std/assert";
import { diagnose } from "../../lib/doctor/mod.ts";
import { server } from "./_changes.ts";
import { diagnosed, type IModel, startWorld } from "./_world.ts";

/** Responds to every registration in this way. */
const registering = (respond: () => Response) => ({ handlers }: IModel) => {
  handlers["POST /as/register"] = respond;
};

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
  const scopes: (string | undefined)[] = [];
  const { verdict, steps } = await diagnosed(({ handlers, serverMetadata }) => {
    serverMetadata.scopes_supported = ["read", "write", "offline_access"];
    handlers["POST /as/register"] = async (request) => {
      const { scope } = await request.json();
      scopes.push(scope);
      return scope === undefined
        ? Response.json({ client_id: "c1" }, { status: 201 })
        : Response.json({ error: "invalid_client_metadata" }, { status: 400 });
    };
  }, { register: true });
  assertEquals(verdict, "ready");
  assertEquals(scopes, ["read write offline_access", undefined]);
  assertEquals(
    steps.filter(({ name }) => name === "registration")
      .map(({ result }) => result),
    ["refused", "registered"],
  );
});

Deno.test("diagnose() finds a registration that is refused", async () => {
  const { ids, findings, verdict, options, notTried, model } = await diagnosed(
    registering(() =>
      Response.json({ error: "invalid_redirect_uri" }, { status: 400 })
    ),
    { register: true },
  );
  assertEquals(ids, ["error request_failed"]);
  assertEquals([verdict, options], ["needs_client", [{ name: "client" }]]);
  assertEquals(notTried, ["authorization_endpoint", "token_endpoint"]);
  assertEquals(
    findings[0]?.message,
    `Registration to ${model.origin}/as/register failed: invalid_redirect_uri.`,
  );
});

Deno.test("diagnose() finds a registration endpoint that is out of order", async () => {
  for (const status of [429, 500, 503]) {
    const { verdict, options } = await diagnosed(
      registering(() => new Response("", { status })),
      { register: true },
    );
    assertEquals([verdict, options], ["broken", undefined], `${status}`);
  }
});

Deno.test("diagnose() names a client metadata document where there is no registration", async () => {
  const { summary, context } = await diagnosed(server({
    registration_endpoint: undefined,
    client_id_metadata_document_supported: true,
  }));
  assertEquals(context?.client, "client_metadata_document");
  assertEquals(
    summary,
    "This library continues with `clientMetadataUrl`. Not tried: " +
      "authorization endpoint, token endpoint.",
  );
});

Deno.test("diagnose() ignores an authentication method that is no string", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  for (const method of ["7", "{}", deep]) {
    const body = `{"client_id":"c1","token_endpoint_auth_method":${method}}`;
    const { registration } = await diagnosed(
      registering(() => new Response(body, { status: 201 })),
      { register: true },
    );
    // What was requested holds.
    assertEquals(registration, {
      client_id: "c1",
      token_endpoint_auth_method: "none",
    });
  }
});
