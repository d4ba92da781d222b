/**
 * The flows in which no user is asked at the server of the resource: an application of
 * an enterprise, and a workload. Both servers are real, and sessions are renewed.
 */
import { internalOf } from "../../lib/session/_internal.ts";
import { assertEquals } from "@std/assert";
import {
  assertionFlow,
  type AuthorizedFetchOptions,
  createAuthorizedFetch,
  createDpop,
  crossAppFlow,
  type CrossAppFlowOptions,
  getClaimsFromJWT,
  memoryStore,
  type Session,
  type SubjectTokenRequest,
  TOKEN_TYPE_REFRESH_TOKEN,
} from "../../mod.ts";
import { createSigner, startCrossApp } from "../servers/cross_app_access.ts";
import { statusOf } from "../support/stub_fetch.ts";

type Servers = Awaited<ReturnType<typeof startCrossApp>>;

/** The lifetime of an access token of the server, in milliseconds. */
const TOKEN_MS = 3_600_000;

/** Returns the token requests that a server has received since the last call. */
function takeTokenRequests({ requests }: { requests: string[] }): number {
  return requests.splice(0).filter((one) => one.endsWith("/token")).length;
}

async function createApplication(
  servers: Servers,
  flow: Partial<CrossAppFlowOptions> = {},
  options: Partial<AuthorizedFetchOptions> = {},
) {
  const { idp, idpClient, client, server, context } = servers;
  const clock = { aheadMs: 0 };
  const asked: SubjectTokenRequest[] = [];
  const idToken = await servers.signInAtIdp("ada");
  const authorize = crossAppFlow({
    idp: idp.issuer,
    idpClient,
    client,
    getSubjectToken({ signal: _, ...why }) {
      asked.push(why);
      return idToken;
    },
    ...flow,
  });
  const store = memoryStore();
  const api = createAuthorizedFetch(context.resource, {
    flow: authorize,
    store,
    now: () => Date.now() + clock.aheadMs,
    ...options,
  });
  /** Returns the token requests at both servers since the last call. */
  const take = () => [takeTokenRequests(idp), takeTokenRequests(server)];
  take();
  return { api, asked, authorize, clock, store, take };
}

Deno.test("an application of an enterprise calls a resource, and is renewed without a user", async () => {
  await using servers = await startCrossApp();
  const { policy, context: { resource }, server } = servers;
  policy.idJagLifetime = 2 * 3600;
  const { api, asked, clock, take } = await createApplication(servers);
  const calls = async () =>
    await Promise.all([1, 2, 3].map(() => statusOf(api(resource))));

  assertEquals(await calls(), [200, 200, 200]);
  assertEquals([take(), asked.length], [[1, 1], 1]);
  const session = await api.session();
  const { sub, iss } = getClaimsFromJWT(session!.token.access_token);
  assertEquals([sub, iss], ["ada", server.issuer]);
  assertEquals(session!.token.refresh_token, undefined);
  const claims = getClaimsFromJWT(internalOf(session).idJag!.assertion);
  assertEquals([claims.iss, claims.aud], [servers.idp.issuer, server.issuer]);
  assertEquals([claims.sub, claims.client_id], [
    "ada",
    servers.client.clientId,
  ]);

  // The token has expired, the ID-JAG has not.
  clock.aheadMs = TOKEN_MS;
  assertEquals(await calls(), [200, 200, 200]);
  assertEquals([take(), asked.length], [[0, 1], 1]);
  assertEquals(
    internalOf(await api.session()).idJag,
    internalOf(session).idJag,
  );

  // Both have expired, and so has the ID token.
  clock.aheadMs = 2 * TOKEN_MS;
  policy.idJagLifetime = 4 * 3600;
  assertEquals(await calls(), [200, 200, 200]);
  assertEquals(take(), [1, 1]);
  assertEquals(asked.map((one) => Boolean(one.refusedToken)), [
    ...[false, false],
    true,
  ]);
});

Deno.test("an application of an enterprise continues after a restart with what it has stored", async () => {
  await using servers = await startCrossApp();
  const { context: { resource } } = servers;
  const first = await createApplication(servers);
  await statusOf(first.api(resource));
  const stored: Session = JSON.parse(
    JSON.stringify(await first.api.session()),
  );
  stored.token.expires_at = 1;
  const second = await createApplication(servers, {}, {
    store: memoryStore(stored),
  });
  assertEquals(await statusOf(second.api(resource)), 200);
  assertEquals([second.take(), second.asked], [[0, 1], []]);
  // Nothing of it may be used for another user.
  await second.api.signIn({ fresh: true });
  assertEquals([second.take(), second.asked.length], [[1, 1], 1]);
  // The server rejects the revocation of an access token that is a JWT.
  assertEquals(await second.api.revoke(), false);
  assertEquals(await second.api.session(), undefined);
});

Deno.test("an application of an enterprise uses the refresh token of its sign-in", async () => {
  await using servers = await startCrossApp();
  const token = await servers.refreshTokenOf("grace");
  const { api } = await createApplication(servers, {
    getSubjectToken: () => ({ token, type: TOKEN_TYPE_REFRESH_TOKEN }),
  });
  assertEquals(await statusOf(api(servers.context.resource)), 200);
  const session = await api.session();
  assertEquals(getClaimsFromJWT(session!.token.access_token).sub, "grace");
});

Deno.test("an application of an enterprise binds its tokens to a key", async () => {
  await using servers = await startCrossApp({ dpop: true });
  const { context: { resource } } = servers;
  const dpop = await createDpop();
  const { api, clock, take } = await createApplication(servers, {}, { dpop });
  servers.policy.idJagLifetime = 7200;
  assertEquals(await statusOf(api(resource)), 200);
  const session = await api.session();
  assertEquals(session?.token.token_type, "DPoP");
  const { cnf } = getClaimsFromJWT(internalOf(session).idJag!.assertion);
  assertEquals(cnf, { jkt: dpop.thumbprint });
  take();
  clock.aheadMs = TOKEN_MS;
  assertEquals(await statusOf(api(resource)), 200);
  assertEquals(take(), [0, 1]);
});

/** A fetch of a workload, with a clock that a test moves. */
async function createWorkload(servers: Servers) {
  const { client, trusted, context: { resource } } = servers;
  const platform = await createSigner("https://platform.example");
  trusted.set(platform.issuer, { signer: platform, typ: "JWT" });
  const clock = { aheadMs: 0 };
  let asked = 0;
  const api = createAuthorizedFetch(resource, {
    flow: assertionFlow({
      client,
      getAssertion(request) {
        asked++;
        return platform.sign("JWT", { sub: "agent", aud: request.audience });
      },
    }),
    now: () => Date.now() + clock.aheadMs,
  });
  return { api, clock, askedTimes: () => asked };
}

Deno.test("a workload calls a resource, and is renewed with a new assertion", async () => {
  await using servers = await startCrossApp();
  const { context: { resource }, server } = servers;
  const { api, clock, askedTimes } = await createWorkload(servers);
  const calls = () => Promise.all([1, 2, 3].map(() => statusOf(api(resource))));
  assertEquals(await calls(), [200, 200, 200]);
  assertEquals([takeTokenRequests(server), askedTimes()], [1, 1]);
  clock.aheadMs = TOKEN_MS;
  assertEquals(await calls(), [200, 200, 200]);
  assertEquals([takeTokenRequests(server), askedTimes()], [1, 2]);
});
