/** The device flow (RFC 8628) at oidc-provider, whose user enters the code. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  fetchDeviceAuthorization,
  getClaimsFromJWT,
  type IDevicePollProgress,
  pollDeviceToken,
  refreshToken,
} from "../../mod.ts";
import {
  registerPublicClient,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";

/** A delay that does not wait, but runs the next action. */
function createDelay(...actions: (() => Promise<void>)[]) {
  const waits: number[] = [];
  const delay = async (milliseconds: number) => {
    waits.push(milliseconds);
    await actions.shift()?.();
  };
  return { waits, delay };
}

const nothing = () => Promise.resolve();

Deno.test("a client gets a token while the user enters a code on another device", async () => {
  await using servers = await startFlowServers({ path: "/tenant1" });
  const { serverMetadata, resource, scopes } = servers.context;
  const client = await registerPublicClient(servers.context);
  const request = { client, resource, scopes };
  const device = await fetchDeviceAuthorization(serverMetadata, request);
  assertEquals(device.expires_in, 600);
  assert(device.expires_at > Date.now() / 1000 + 590);

  const { waits, delay } = createDelay(nothing, async () => {
    const { verification_uri, user_code } = device;
    const page = await createBrowser().activate(verification_uri, user_code);
    assertStringIncludes(page, "Go back to your device.");
  });
  const pending: IDevicePollProgress[] = [];
  const options = {
    client,
    delay,
    onPending: (progress: IDevicePollProgress) => pending.push(progress),
  };
  const token = await pollDeviceToken(serverMetadata, device, options);
  assertEquals(waits, [5000, 5000]);
  assertEquals(pending.map(({ polls }) => polls), [1]);
  assertEquals([token.token_type, token.scope], ["Bearer", "mcp:read"]);
  const claims = getClaimsFromJWT(token.access_token);
  assertEquals([claims.aud, claims.sub], [resource, "alice"]);
  assertEquals(await statusFor(resource, token), 200);

  const fresh = await refreshToken(serverMetadata, token, { client });
  assertEquals(await statusFor(resource, fresh), 200);
});
