/**
 * What a fetch keeps for long does not grow with its calls, nor change with the
 * caller's options.
 */

import { assert, assertEquals } from "@std/assert";
import { fetchToken, memoryStore } from "../../../mod.ts";
import { callsOf } from "../../../lib/fetch/call/_resource_call.ts";
import { ResourceRequest } from "../../../lib/fetch/call/_resource_request.ts";
import { apiContextOf } from "../../../lib/fetch/_settings.ts";
import { revokeSessionWith } from "../../../lib/session/session.ts";
import { finishWith } from "../../../lib/flows/sign_in.ts";
import { literal } from "../../../lib/http/_error.ts";
import { deleteWith } from "../../../lib/client/client_configuration.ts";
import { grantContextOf } from "../../../lib/token/_grant_context.ts";
import { pollForToken } from "../../../lib/token/_polling.ts";
import {
  AS,
  CODE_SERVER,
  MCP,
  OAUTH,
  PRM,
  REDIRECT_URI,
  SERVER,
} from "../../support/fixtures.ts";
import { SESSION, SESSION_CLIENT } from "../../support/resource.ts";

Deno.test("the context of a fetch notes nothing of 100 calls, their refreshes and sign-ins", async () => {
  const counts = { resource: 0, token: 0 };
  const settings = apiContextOf(MCP, {
    store: memoryStore(SESSION),
    flow: async ({ fetch, context: { serverMetadata } }) => {
      const body = new URLSearchParams({ code: "c0de-of-the-user" });
      const token = await fetchToken(serverMetadata, body, { fetch });
      return { ...SESSION, token };
    },
    onEvent: () => {},
    fetch: (input, init) => {
      const { url } = new Request(input, init);
      if (url === `${PRM}/mcp`) {
        const document = { resource: MCP, authorization_servers: [AS] };
        return Promise.resolve(Response.json(document));
      }
      if (url === OAUTH) return Promise.resolve(Response.json(SERVER));
      if (url === MCP) {
        const status = counts.resource++ % 2 === 0 ? 401 : 200;
        return Promise.resolve(new Response(null, { status }));
      }
      counts.token++;
      const isRefused = String(init?.body).includes("refresh_token") &&
        counts.token % 3 === 0;
      return Promise.resolve(
        isRefused
          ? Response.json({ error: "invalid_grant" }, { status: 400 })
          : Response.json({
            access_token: `access-token-${counts.token}`,
            refresh_token: `refresh-token-${counts.token}`,
          }),
      );
    },
  });
  const { context } = settings;
  const { call } = callsOf(settings);
  for (let calls = 0; calls < 100; calls++) {
    const url = new URL(MCP);
    const init = { headers: {} };
    const response = await call(new ResourceRequest(context, url, url, init));
    assertEquals(response.status, 200);
  }
  assert(counts.token > 100);
  assertEquals(context.sent, []);
});

Deno.test("the discovery of a fetch stays as it was when the caller changes the options", () => {
  const strings = () => ({ [AS]: MCP });
  const options = {
    flow: () => Promise.resolve(SESSION),
    authorizationServer: new URL(AS),
    serverMetadata: structuredClone(CODE_SERVER),
    trustedIssuers: strings(),
    sameOriginHeaders: strings(),
    additionalHeaders: strings(),
  };
  const { discovery } = apiContextOf(MCP, options);
  const before = structuredClone(discovery);
  options.authorizationServer.host = "evil.example";
  options.serverMetadata.code_challenge_methods_supported?.push("plain");
  for (const members of Object.values(options)) {
    Object.assign(members, { [AS]: "https://evil.example", issuer: MCP });
  }
  assertEquals(discovery, before);
});

Deno.test("a context notes nothing of a finish(), a revocation, a deletion and polls, which it outlives", async () => {
  const sent: string[] = [];
  const context = grantContextOf({
    client: SESSION_CLIENT,
    fetch: (url, init) => {
      sent.push(url);
      const isPending = String(init?.body).includes("device_code") &&
        sent.length < 6;
      return Promise.resolve(
        isPending
          ? Response.json({ error: "authorization_pending" }, { status: 400 })
          : Response.json({ access_token: "access-token" }),
      );
    },
  });
  const session = { ...SESSION, server: CODE_SERVER };
  await finishWith(context, "code=c0de-of-the-user&state=s1", {
    ...session,
    state: "s1",
    codeVerifier: "v".repeat(43),
    redirectUri: REDIRECT_URI,
  });
  await revokeSessionWith(context, session);
  await deleteWith(context, {
    ...SESSION_CLIENT,
    registration_access_token: "registration-token",
    registration_client_uri: `${AS}/register/c1`,
  });
  const body = new URLSearchParams({ device_code: "device-c0de" });
  await pollForToken(context, SERVER, body, {
    expires_at: Date.now() / 1000 + 600,
    interval: undefined,
    expiry: literal("The code has expired"),
    delay: () => Promise.resolve(),
  });
  assertEquals(sent.length, 6);
  assertEquals(context.sent, []);
});
