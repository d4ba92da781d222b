/** What a diagnosis has registered, and deletes at its end (RFC 7592). */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { publicClient } from "../../mod.ts";
import { diagnose } from "../../lib/doctor/mod.ts";
import { factRows, LIBRARY_WORDS } from "../../lib/doctor/report/_text.ts";
import { REDIRECT_URI, startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { all } from "./_changes.ts";
import {
  absent,
  handler,
  members,
  signedIn,
  type SignInModel,
  startSignInWorld,
  user,
} from "./_sign_in_world.ts";
import { idsOf } from "./_world.ts";

const TOKEN = "t0ken-of-client-1";

/** A server that offers to delete registrations, and what it was asked to delete. */
function offering(
  status = 204,
  uri = (origin: string) => `${origin}/as/register/client-1`,
) {
  const deleted: (string | null)[] = [];
  const change = (model: SignInModel) => {
    members("/as/register", {
      registration_access_token: TOKEN,
      registration_client_uri: uri(model.origin),
    })(model);
    model.handlers["DELETE /as/register/client-1"] = ({ headers }) => {
      deleted.push(headers.get("Authorization"));
      const error = { error: "server_error", error_description: TOKEN };
      return status === 204
        ? new Response(null, { status })
        : Response.json(error, { status });
    };
  };
  return { deleted, change };
}

const ONCE = [`Bearer ${TOKEN}`];

Deno.test("diagnose() deletes the client that its sign-in has registered, after all other requests", async () => {
  const { deleted, change } = offering();
  const diagnosis = await signedIn(change);
  assertEquals([deleted, diagnosis.ids], [ONCE, []]);
  const { origin } = diagnosis.model;
  assertEquals(
    diagnosis.summary,
    `A user has signed in at ${origin}/as: the resource accepts the token, and ` +
      "the refresh succeeds. Its tokens are revoked. Its client is deleted.",
  );
  assertEquals(diagnosis.signIn?.client?.isDeleted, true);
  const last = diagnosis.steps.at(-1)!;
  assertEquals(
    [last.name, last.method, last.status, last.result, last.isExtra],
    ["deregistration", "DELETE", 204, "deleted", true],
  );
  assertEquals(last.sent, { Authorization: "Bearer [hidden]" });
  const rows = new Map(factRows(diagnosis, LIBRARY_WORDS));
  assertEquals(rows.get("Client"), "client-1 (registered, and deleted)");
  assert(!JSON.stringify({ ...diagnosis, model: 0 }).includes(TOKEN));
});

Deno.test("diagnose() deletes the client also if nobody signs in", async () => {
  const { deleted, change } = offering();
  await using world = startSignInWorld(change);
  const { target } = world;
  const elsewhere = { ...user, visit: () => Promise.reject(new Error("no")) };
  await assertRejects(
    () => diagnose(target, { signIn: elsewhere }),
    Error,
    "no",
  );
  assertEquals(deleted.splice(0), ONCE);
  const controller = new AbortController();
  const aborted = {
    ...user,
    visit() {
      controller.abort(new Error("enough"));
      return Promise.reject(controller.signal.reason);
    },
  };
  const { signal } = controller;
  await assertRejects(
    () => diagnose(target, { signIn: aborted, signal }),
    Error,
    "enough",
  );
  assertEquals(deleted.splice(0), ONCE);
  const { signIn, verdict } = await diagnose(target, { signIn: absent });
  assertEquals(deleted, ONCE);
  assertEquals([verdict, signIn?.client?.isDeleted], ["broken", true]);
});

Deno.test("diagnose() reports a client that is not deleted, and deletes none that is not its own", async () => {
  const failing = offering(500);
  const failed = await signedIn(failing.change);
  assertEquals(failed.ids, ["warning request_failed"]);
  assertEquals(failed.signIn?.client?.isDeleted, false);
  assert(!failed.summary.includes("client is deleted"));
  const [finding] = failed.findings;
  assertEquals(
    finding?.client,
    "The client of this diagnosis stays registered.",
  );
  assert(!JSON.stringify({ ...failed, model: 0 }).includes(TOKEN));

  // Without the routes of RFC 7592 that change something, as oidc-provider.
  const unable = offering(404);
  const found = await signedIn(
    all(
      unable.change,
      handler(
        "GET /as/register/client-1",
        () => Response.json({ client_id: "client-1", x: TOKEN }),
      ),
    ),
  );
  assertEquals(found.ids, ["warning request_failed"]);
  assertEquals(found.signIn?.client?.isDeleted, false);
  assert(!found.summary.includes("client is deleted"));
  assertEquals(
    found.steps.slice(-2).map(({ method, result }) => [method, result]),
    [["DELETE", "server_error"], ["GET", "still there"]],
  );
  assert(!JSON.stringify({ ...found, model: 0 }).includes(TOKEN));

  // Another origin, as servers may name one by mistake or on purpose.
  const other = offering(204, () => "https://evil.example/register/client-1");
  const kept = await signedIn(other.change);
  assertEquals([other.deleted, kept.ids], [[], []]);
  assertEquals(kept.signIn?.client, {
    client_id: "client-1",
    source: "registration",
  });

  const own = offering();
  await signedIn(
    all(
      own.change,
      handler("POST /as/register", () => {
        throw new Error("A client is registered");
      }),
    ),
    { client: publicClient("mine") },
  );
  assertEquals(own.deleted, []);
});

Deno.test("diagnose() asks allowUrl before it deletes a client", async () => {
  const { deleted, change } = offering();
  await using world = startSignInWorld(change);
  const diagnosis = await diagnose(world.target, {
    signIn: user,
    allowUrl: ({ pathname }) => !pathname.endsWith("/client-1"),
  });
  assertEquals(deleted, []);
  assertEquals(idsOf(diagnosis), ["warning request_failed"]);
});

Deno.test("diagnose() leaves no client at oidc-provider", async () => {
  await using servers = await startFlowServers();
  const { server, protectedResource: { resource } } = servers;
  const browser = createBrowser();
  const { signIn, findings } = await diagnose(resource, {
    signIn: {
      redirectUri: REDIRECT_URI,
      visit: (url) => browser.authorize(url),
    },
  });
  assertEquals(signIn?.client?.isDeleted, true);
  const { client_id = "" } = signIn?.client ?? {};
  assertEquals(server.requests.at(-1), `DELETE /reg/${client_id}`);
  assertEquals(await server.provider.Client.find(client_id), undefined);
  assertEquals(
    findings.filter(({ id }) => id === "request_failed"),
    [],
  );
});

Deno.test("diagnose() claims no deletion at oidc-provider without registration management", async () => {
  await using servers = await startFlowServers({
    registrationManagement: false,
  });
  const { server, protectedResource: { resource } } = servers;
  const browser = createBrowser();
  const { signIn, findings, summary } = await diagnose(resource, {
    signIn: {
      redirectUri: REDIRECT_URI,
      visit: (url) => browser.authorize(url),
    },
  });
  assertEquals(signIn?.client?.isDeleted, false);
  const { client_id = "" } = signIn?.client ?? {};
  assertEquals(server.requests.slice(-2), [
    `DELETE /reg/${client_id}`,
    `GET /reg/${client_id}`,
  ]);
  assert(await server.provider.Client.find(client_id) !== undefined);
  assert(!summary.includes("client is deleted"));
  const failed = findings.find(({ id }) => id === "request_failed");
  assertEquals(
    failed?.client,
    "The client of this diagnosis stays registered.",
  );
});
