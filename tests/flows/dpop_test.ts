/** Tokens that are bound to a key (RFC 9449), at oidc-provider and a resource. */
import { assertEquals, assertRejects } from "@std/assert";
import {
  createDpop,
  getClaimsFromJWT,
  OAuthClientError,
  refreshToken,
} from "../../mod.ts";
import {
  callWithProof,
  registerPublicClient,
  signIn,
  startFlowServers,
  statusFor,
} from "../servers/_flow.ts";

Deno.test("a client binds the tokens of a code flow to its key, with the nonces of both servers", async () => {
  await using servers = await startFlowServers({ dpopNonce: true }, {
    dpop: "nonce",
  });
  const { server, context } = servers;
  const { serverMetadata, resource } = context;
  assertEquals(context.challenge?.scheme, "DPoP");
  const client = await registerPublicClient(context);
  const dpop = await createDpop();
  server.requests.length = 0;
  const token = await signIn(context, { client, dpop });
  const countRequests = () =>
    server.requests.filter((one) => one === "POST /token").length;
  // The response to the first request contains the nonce.
  assertEquals(countRequests(), 2);
  assertEquals(token.token_type, "DPoP");
  const { cnf } = getClaimsFromJWT(token.access_token);
  assertEquals(cnf, { jkt: dpop.thumbprint });

  const call = (url = resource, { access_token } = token) =>
    callWithProof(dpop, url, access_token);
  assertEquals(await call(), { status: 200, requests: 2 });
  // Each response has the nonce for the next request.
  assertEquals(await call(), { status: 200, requests: 1 });
  const withQuery = `${resource}?a=b#c`;
  assertEquals(await call(withQuery), { status: 200, requests: 1 });

  const fresh = await refreshToken(serverMetadata, token, { client, dpop });
  assertEquals(countRequests(), 3);
  assertEquals(await call(resource, fresh), { status: 200, requests: 1 });

  assertEquals(await statusFor(resource, fresh), 401);
  const stranger = await createDpop();
  const stolen = await callWithProof(stranger, resource, fresh.access_token);
  assertEquals(stolen.status, 401);
  // The refresh token of a public client is bound as well (RFC 9449, section 5).
  const failure = await assertRejects(
    () => refreshToken(serverMetadata, fresh, { client, dpop: stranger }),
    OAuthClientError,
  );
  assertEquals(failure.error, "invalid_grant");
});
