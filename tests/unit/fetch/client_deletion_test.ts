/** The deletion of the client of a session, and what the session keeps for it. */

import { clientIn } from "../../../lib/session/_parties.ts";
import { assert, assertEquals } from "@std/assert";
import {
  type AuthorizedFetchEvent,
  type AuthorizedFetchOptions,
  codeFlow,
  type CodeFlowOptions,
  createAuthorizedFetch,
  deleteRegistration,
  deviceFlow,
  finishAuthorization,
  OAuthClientError,
  type PendingAuthorization,
  type Session,
  startAuthorization,
} from "../../../mod.ts";
import {
  AS,
  assertRejectsCode,
  CODE_SERVER,
  comeBack,
  CONTEXT,
  DEVICE_AUTHORIZATION,
  MCP,
  REDIRECT_URI,
} from "../../support/fixtures.ts";
import { redirection, unauthorizedAt } from "../../support/resource.ts";
import { shown } from "../../support/shown.ts";

const SECRET = "registration-t0ken-of-";
const METADATA = { clientMetadata: { client_name: "Test" } };
const REVOKE = `POST ${AS}/revoke`;
const deletion = (client: string) => `DELETE ${AS}/register/${client}`;

/** The servers of a fetch: what they received, and what replaces a response. */
function createWorld(replace: Record<string, () => Response> = {}) {
  const received: string[] = [];
  const events: AuthorizedFetchEvent[] = [];
  const pendings: PendingAuthorization[] = [];
  let registered = 0;
  const defaults: Record<string, () => Response> = {
    [`POST ${AS}/register`]() {
      const client_id = `c${++registered}`;
      return Response.json({
        client_id,
        registration_access_token: SECRET + client_id,
        registration_client_uri: `${AS}/register/${client_id}`,
      });
    },
    [`POST ${AS}/device`]: () => Response.json(DEVICE_AUTHORIZATION),
    [`POST ${AS}/token`]: () =>
      Response.json({ access_token: "access-t0ken", refresh_token: "r-t0ken" }),
  };
  const fetch: AuthorizedFetchOptions["fetch"] = async (input, init) => {
    const request = new Request(input, init);
    const { method, url } = request;
    const name = `${method} ${url}`;
    received.push(name);
    if (method === "DELETE") {
      const token = `Bearer ${SECRET}${url.split("/").at(-1)}`;
      assertEquals(request.headers.get("Authorization"), token);
    }
    await request.text();
    return (replace[name] ?? defaults[name])?.() ??
      new Response(null, { status: 204 });
  };
  const visit: CodeFlowOptions["visit"] = (url, { pending }) => {
    pendings.push(pending);
    return comeBack(url);
  };
  const flow = (options: Partial<CodeFlowOptions> = {}) =>
    codeFlow({
      ...METADATA,
      redirectUri: REDIRECT_URI,
      visit,
      ...options,
    });
  const create = (options: Partial<AuthorizedFetchOptions> = {}) =>
    createAuthorizedFetch(MCP, {
      serverMetadata: CODE_SERVER,
      flow: flow(),
      fetch,
      onEvent: (event) => events.push(event),
      ...options,
    });
  return { create, flow, fetch, received, events, pendings, visit };
}

function kept({ client }: Pick<Session, "client">) {
  const { registration_access_token, registration_client_uri } = client!;
  return [registration_access_token, registration_client_uri];
}

const OF_C1 = [`${SECRET}c1`, `${AS}/register/c1`];

Deno.test("flows keep in the session what deletes the client that they have registered, and nowhere else", async () => {
  const world = createWorld();
  const delay = () => Promise.resolve();
  const device = deviceFlow({ ...METADATA, show() {}, delay });
  for (const authorize of [world.flow(), device]) {
    const { create, events, pendings } = createWorld();
    const api = create({ flow: authorize });
    assertEquals(kept(await api.signIn()), OF_C1);
    // Also after a refresh, and after a sign-in with the same client.
    const { token, ...session } = (await api.session())!;
    await api.save({ ...session, token: { ...token, expires_at: 1 } });
    assertEquals(kept(await api.signIn()), OF_C1);
    assertEquals(kept(await api.signIn({ fresh: true })), OF_C1);
    const others = JSON.stringify([events, pendings]);
    assert(!others.includes(SECRET), others);
  }
});

Deno.test("sessions do not keep what deletes a client that the caller has named", async () => {
  const { create, flow, fetch, visit } = createWorld();
  const client = {
    issuer: AS,
    client_id: "mine",
    registration_access_token: `${SECRET}mine`,
    registration_client_uri: `${AS}/register/mine`,
  };
  const flows = [flow({ client }), flow({ knownClients: [client] })];
  for (const authorize of flows) {
    const api = create({ flow: authorize });
    const session = await api.signIn();
    assertEquals(kept(session), [undefined, undefined]);
    await assertRejectsCode(
      () => deleteRegistration(clientIn(session)!),
      "unsupported",
    );
  }
  // As with the client secret of a web server, which all of its users share.
  const options = { client, redirectUri: REDIRECT_URI };
  const { url, pending } = await startAuthorization(CONTEXT, options);
  assert(!JSON.stringify(pending).includes(SECRET));
  const callback = await visit(url, { pending }) as URLSearchParams;
  const session = await finishAuthorization(callback, pending, {
    client,
    fetch: fetch as typeof globalThis.fetch,
  });
  assertEquals(kept(session), [undefined, undefined]);
});

Deno.test("deleteRegistration() deletes the client of a session after revoke(), which does not", async () => {
  const { create, fetch, received } = createWorld();
  const api = create();
  const client = clientIn(await api.signIn())!;
  received.length = 0;
  assertEquals(await api.revoke(), true);
  assertEquals(received, [REVOKE, REVOKE]);
  const options = { fetch: fetch as typeof globalThis.fetch };
  await deleteRegistration(client, options);
  assertEquals(received.at(-1), deletion("c1"));
  // The next sign-in has another client.
  assertEquals((await api.signIn()).client!.client_id, "c2");
});

Deno.test("errors and events of a fetch do not repeat the registration access token", async () => {
  const secret = `${SECRET}c1`;
  const description = { error_description: `No: ${secret}`, [secret]: 1 };
  const echo = () =>
    Response.json({ error: "invalid_request", ...description }, {
      status: 400,
    });
  // The first sign-in, a refresh, and a call.
  const first = createWorld({ [`POST ${AS}/token`]: echo });
  const failed = await first.create().signIn().catch((error) => error);
  assert(failed instanceof OAuthClientError);
  assert(!shown(failed).includes(SECRET), failed.message);

  const replace: Record<string, () => Response> = {};
  const world = createWorld(replace);
  const api = world.create();
  const session = await api.signIn();
  const expired = { ...session.token, expires_at: 1 };
  await api.save({ ...session, token: expired });
  replace[`POST ${AS}/token`] = echo;
  replace[`GET ${MCP}`] = () => redirection(`http://127.0.0.1/?${secret}`, 302);
  const refused = await api.renew(unauthorizedAt()).catch((error) => error);
  assert(refused instanceof OAuthClientError);
  await api.save(session);
  const redirected = await api(MCP).catch((error) => error);
  assertEquals(redirected.code, "redirect_refused");
  for (const error of [refused, redirected]) {
    assert(!shown(error).includes(SECRET), shown(error));
  }
  assert(!JSON.stringify([world.events, first.events]).includes(SECRET));
});
