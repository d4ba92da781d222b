/**
 * A client that was registered at oidc-provider can be deleted there, with its own
 * token only.
 */

import { clientIn } from "../../lib/session/_parties.ts";
import { assert, assertEquals } from "@std/assert";
import {
  codeFlow,
  createAuthorizedFetch,
  deleteRegistration,
  deviceFlow,
  type Flow,
  registerClient,
  type Session,
} from "../../mod.ts";
import { REDIRECT_URI, startFlowServers } from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";
import { LIMIT_MS, within } from "../support/within.ts";

const clientMetadata = { client_name: "Deletion test" };

Deno.test("deleteRegistration() deletes the client of the session of a code flow and of a device flow at oidc-provider", async () => {
  await using servers = await startFlowServers();
  const { server, protectedResource: { resource } } = servers;
  const browser = createBrowser();
  const flows: Flow[] = [
    codeFlow({
      clientMetadata,
      redirectUri: REDIRECT_URI,
      visit: (url) => browser.authorize(url),
    }),
    deviceFlow({
      clientMetadata,
      async show({ verification_uri, user_code }) {
        await createBrowser().activate(verification_uri, user_code);
      },
      delay: () => Promise.resolve(),
    }),
  ];
  for (const authorize of flows) {
    const api = createAuthorizedFetch(resource, { flow: authorize });
    const isKnown = async ({ client }: Session) =>
      await server.provider.Client.find(client!.client_id) !== undefined;
    const first = await within(LIMIT_MS, api.signIn());
    assert(await isKnown(first));
    server.requests.length = 0;
    assertEquals(await api.revoke(), true);
    await deleteRegistration(clientIn(first)!);
    const { client_id } = first.client!;
    assertEquals(server.requests.at(-1), `DELETE /reg/${client_id}`);
    assertEquals([await isKnown(first), await api.session()], [
      false,
      undefined,
    ]);
    // The server responds with 401 to its former client.
    await deleteRegistration(clientIn(first)!);

    const second = await within(LIMIT_MS, api.signIn());
    assert(second.client!.client_id !== client_id);
    await api.revoke();
    assert(await isKnown(second));
    await deleteRegistration(clientIn(second)!);
    assertEquals(await isKnown(second), false);
  }
});

Deno.test("deleteRegistration() deletes a client of registerClient() at oidc-provider, with its own token only", async () => {
  await using servers = await startFlowServers();
  const { server, context: { serverMetadata } } = servers;
  const register = () =>
    registerClient(serverMetadata, {
      ...clientMetadata,
      redirect_uris: [REDIRECT_URI],
    });
  const [client, other] = [await register(), await register()];
  const isKnown = async () =>
    await server.provider.Client.find(client.client_id) !== undefined;
  // With the token of another client, as if this one had been registered anew: 401.
  const { registration_access_token } = other;
  await deleteRegistration({ ...client, registration_access_token });
  assert(await isKnown());
  await deleteRegistration(client);
  assertEquals(await isKnown(), false);
});
