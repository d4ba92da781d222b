/** The registration of a client, which a diagnosis makes for a sign-in only. */

import { assert, assertEquals } from "@std/assert";
import { diagnose, type Diagnosis } from "../../lib/doctor/mod.ts";
import { all, only, server, status } from "./_changes.ts";
import {
  absent,
  handler,
  members,
  signedIn,
  startSignInWorld,
  user,
} from "./_sign_in_world.ts";
import { diagnosed } from "./_world.ts";

/** Responds to every registration in this way. */
const registering = (respond: () => Response) =>
  handler("POST /as/register", respond);

Deno.test("diagnose() writes nothing to a server unless a user may sign in", async () => {
  await using world = startSignInWorld(
    members("/as/register", { client_secret: "s3cret-of-client" }),
  );
  const { target, requests } = world;
  const plain = await diagnose(target);
  assertEquals(plain.signIn, undefined);
  assertEquals(requests.filter((line) => line.startsWith("POST")), []);
  const seen: string[] = [];
  const registered = await diagnose(target, {
    signIn: absent,
    onRequest: ({ name, url }) => name === "registration" && seen.push(url),
  });
  assertEquals(requests.filter((line) => line.startsWith("POST")), [
    "POST /as/register",
  ]);
  assertEquals(seen, [`${world.model.origin}/as/register`]);
  assertEquals(registered.signIn?.client, {
    client_id: "client-1",
    source: "registration",
  });
  const after = ["authorization_endpoint", "token_endpoint"];
  assertEquals(plain.notTried, ["registration_endpoint", ...after]);
  assertEquals(registered.notTried, after);
  assert(!JSON.stringify(registered).includes("s3cret-of-client"));
});

Deno.test("diagnose() registers as a flow does", async () => {
  const scopes: (string | undefined)[] = [];
  const { steps } = await signedIn(all(
    server({ scopes_supported: ["read", "write", "offline_access"] }),
    handler("POST /as/register", async (request, usual) => {
      const { scope } = await request.json();
      scopes.push(scope);
      return scope === undefined
        ? await usual(request)
        : Response.json({ error: "invalid_client_metadata" }, { status: 400 });
    }),
  ));
  assertEquals(scopes, ["read write offline_access", undefined]);
  assertEquals(
    steps.filter(({ name }) => name === "registration")
      .map(({ result }) => result),
    ["invalid_client_metadata", "registered"],
  );
});

Deno.test("diagnose() finds a registration that is refused", async () => {
  const { ids, findings, verdict, options, notTried, model } = await signedIn(
    registering(() =>
      Response.json({ error: "invalid_redirect_uri" }, { status: 400 })
    ),
  );
  assertEquals(ids, ["error request_failed"]);
  assertEquals([verdict, options], ["needs_client", [{ name: "client" }]]);
  assertEquals(notTried, ["authorization_endpoint", "token_endpoint"]);
  assertEquals(
    findings[0]?.message,
    `Registration to ${model.origin}/as/register failed: 400: invalid_redirect_uri.`,
  );
});

Deno.test("diagnose() finds a registration endpoint that is out of order", async () => {
  for (const status of [429, 500, 503]) {
    const { verdict, options } = await signedIn(
      registering(() => new Response("", { status })),
    );
    assertEquals([verdict, options], ["broken", undefined], `${status}`);
  }
});

Deno.test("diagnose() tries a registration endpoint that is assumed, and responds to POST alone", async () => {
  for (const isThere of [true, false]) {
    await using world = startSignInWorld((model) => {
      const { handlers, origin } = model;
      for (const path of ["GET /authorize", "POST /register", "POST /token"]) {
        const usual = handlers[path.replace(" ", " /as")];
        handlers[path] = (request) => {
          const url = request.url.replace(origin, `${origin}/as`);
          return usual!(Object.defineProperty(request, "url", { value: url }));
        };
      }
      if (!isThere) delete handlers["POST /register"];
      members("/as/authorize", { iss: undefined })(model);
      all(status(401), only())(model);
    });
    const { target } = world;
    const without = await diagnose(target);
    const message = "A GET finds no /register.";
    const isSaid = ({ findings }: Diagnosis) =>
      findings.some((one) => one.message.endsWith(message));
    assertEquals([without.verdict, isSaid(without)], ["needs_client", true]);
    const diagnosis = await diagnose(target, { signIn: user });
    const { verdict, signIn } = diagnosis;
    assertEquals(
      [verdict, signIn?.callStatus, isSaid(diagnosis)].join(),
      isThere ? "ready,200,false" : "needs_client,,false",
    );
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
    "A client continues if it has a client metadata document. Not tried: " +
      "authorization endpoint, token endpoint.",
  );
});

Deno.test("diagnose() ignores an authentication method that is no string", async () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  for (const method of ["7", "{}", deep]) {
    const body = `{"client_id":"c1","token_endpoint_auth_method":${method}}`;
    // What was requested holds, so the client is used.
    const { verdict, signIn, steps } = await signedIn(
      registering(() => new Response(body, { status: 201 })),
    );
    assertEquals([verdict, signIn?.client?.client_id], ["ready", "c1"]);
    assert(JSON.stringify(steps).length < 20_000);
  }
});
