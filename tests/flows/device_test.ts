/** The device flow at oidc-provider, with a user at its page for codes. */
import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import {
  fetchDeviceAuthorization,
  getClaimsFromJWT,
  type IAuthorizationContext,
  type IDevicePollProgress,
  OAuthClientError,
  pollDeviceToken,
  refreshToken,
} from "../../mod.ts";
import {
  registerPublicClient,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";
import { createBrowser } from "../servers/browser.ts";

/** A delay that nobody waits for, during which something happens instead. */
function createDelay(...happenings: (() => Promise<void>)[]) {
  const waits: number[] = [];
  const delay = async (milliseconds: number) => {
    waits.push(milliseconds);
    await happenings.shift()?.();
  };
  return { waits, delay };
}

/** A device that has registered itself and asked for its codes. */
async function requestCodes(context: IAuthorizationContext) {
  const { serverMetadata, scopes } = context;
  const client = await registerPublicClient(context);
  const authorization = await fetchDeviceAuthorization(serverMetadata, {
    client,
    scopes,
  });
  return { client, authorization };
}

const nothing = () => Promise.resolve();

for (const path of ["", "/tenant1"]) {
  Deno.test(`pollDeviceToken() gets a token when the user is done, issuer path "${path}"`, async () => {
    await using servers = await startFlowServers({ path });
    const { serverMetadata, resource, scopes } = servers.context;
    const client = await registerPublicClient(servers.context);
    const options = { client, resource, scopes };
    const authorization = await fetchDeviceAuthorization(
      serverMetadata,
      options,
    );
    assertEquals(authorization.expires_in, 600);
    assert(authorization.expires_at > Date.now() / 1000 + 590);

    const { user_code, verification_uri } = authorization;
    const { waits, delay } = createDelay(nothing, async () => {
      const text = await createBrowser().activate(verification_uri, user_code);
      assertStringIncludes(text, "Go back to your device.");
    });
    const pending: IDevicePollProgress[] = [];
    const token = await pollDeviceToken(serverMetadata, authorization, {
      client,
      delay,
      onPending: (progress) => pending.push(progress),
    });
    assertEquals(waits, [5000, 5000]);
    assertEquals(pending.map(({ polls, interval }) => [polls, interval]), [
      [1, 5],
    ]);
    assertEquals(token.token_type, "Bearer");
    assertEquals(token.scope, "mcp:read");
    const claims = getClaimsFromJWT(token.access_token);
    assertEquals([claims.aud, claims.sub], [resource, "alice"]);
    assertEquals(await statusFor(resource, token), 200);

    const fresh = await refreshToken(serverMetadata, token, { client });
    assertEquals(await statusFor(resource, fresh), 200);
    // A code serves once.
    const failure = await assertRejects(
      () => pollDeviceToken(serverMetadata, authorization, { client, delay }),
      OAuthClientError,
    );
    assertEquals(failure.error, "invalid_grant");
  });
}

Deno.test("fetchDeviceAuthorization() has an address with the code in it", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata, resource, scopes } = servers.context;
  const client = await registerPublicClient(servers.context);
  const authorization = await fetchDeviceAuthorization(serverMetadata, {
    client,
    resource,
    scopes,
  });
  const complete = authorization.verification_uri_complete ?? "";
  assertStringIncludes(complete, authorization.user_code);
  await createBrowser({ login: "bob" }).activate(complete);
  const { waits, delay } = createDelay();
  const token = await pollDeviceToken(serverMetadata, authorization, {
    client,
    delay,
  });
  assertEquals(waits.length, 1);
  assertEquals(getClaimsFromJWT(token.access_token).sub, "bob");
});

Deno.test("pollDeviceToken() tells that the user said no", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata } = servers.context;
  const { client, authorization } = await requestCodes(servers.context);
  const { verification_uri, user_code } = authorization;
  const { waits, delay } = createDelay(nothing, async () => {
    const browser = createBrowser({ deny: true });
    const text = await browser.activate(verification_uri, user_code);
    assertStringIncludes(text, "the interaction was aborted");
  });
  const failure = await assertRejects(
    () => pollDeviceToken(serverMetadata, authorization, { client, delay }),
    OAuthClientError,
  );
  assertEquals([failure.code, failure.error], [
    "oauth_error",
    "access_denied",
  ]);
  assertEquals(waits.length, 2);
  for (const code of [authorization.device_code, user_code]) {
    assert(!failure.message.includes(code));
    assert(!JSON.stringify(failure).includes(code));
  }
});

Deno.test("pollDeviceToken() ends when the codes have expired", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata } = servers.context;
  const { client, authorization } = await requestCodes(servers.context);
  let now = Date.now();
  const failure = await assertRejects(
    () =>
      pollDeviceToken(serverMetadata, authorization, {
        client,
        now: () => now,
        delay: (milliseconds) => Promise.resolve(void (now += milliseconds)),
      }),
    OAuthClientError,
  );
  assertEquals(failure.code, "expired");
});

Deno.test("pollDeviceToken() ends with the reason of the caller's signal", async () => {
  await using servers = await startFlowServers();
  const { serverMetadata } = servers.context;
  const { client, authorization } = await requestCodes(servers.context);
  const reason = new Error("The user went for lunch");
  const stop = new AbortController();
  const failure = await assertRejects(() =>
    pollDeviceToken(serverMetadata, authorization, {
      client,
      signal: stop.signal,
      delay: nothing,
      onPending: () => stop.abort(reason),
    })
  );
  assertEquals(failure, reason);
});
