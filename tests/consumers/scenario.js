/**
 * The scenario of every consumer: plain JavaScript with web standards only. The
 * consumers load the client in different ways and pass it in; `server` is the
 * origin of `scripts/consumers/server.ts`, and `entryPoints` has the modules of the
 * other entry points by name.
 *
 * The report must be the same everywhere (see `expected.json`): it contains no
 * times, no random values and `<server>` in place of the origin of the server.
 */
export async function runScenario(client, server, entryPoints) {
  const report = {
    entryPoints: await describeEntryPoints(client, entryPoints),
    testServers: await useTestServers(client, entryPoints.testing),
    pure: await parseAndBuild(client),
    loopback: await runLoopback(client, server),
    limits: await runLimits(client, server),
  };
  return JSON.parse(JSON.stringify(report).replaceAll(server, "<server>"));
}

const encode = (object) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(object))))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** Returns the error code of a promise that should fail. */
async function failureOf(client, promise) {
  try {
    await promise;
    return "no failure";
  } catch (error) {
    const isKnown = client.isOAuthClientError(error) &&
      error instanceof client.OAuthClientError && error instanceof Error;
    return isKnown ? error.code : String(error);
  }
}

/** The functions of the other entry points, and how they fail without arguments. */
async function describeEntryPoints(client, entryPoints) {
  const described = {};
  for (const [name, module] of Object.entries(entryPoints)) {
    described[name] = {};
    for (const key of Object.keys(module).sort()) {
      const value = module[key];
      if (typeof value !== "function") continue;
      // Also shows that the entry points share the class of the error.
      described[name][key] = await failureOf(
        client,
        Promise.resolve().then(() => value(0)),
      );
    }
  }
  return described;
}

/** A sign-in and a refresh at the servers for tests, which need no network. */
async function useTestServers(client, { createTestServers }) {
  const servers = createTestServers();
  const { resource, fetch, now, receiver } = servers;
  const flow = client.codeFlow(receiver);
  const api = client.createAuthorizedFetch(resource, { fetch, now, flow });
  const statuses = [String((await api(resource)).status)];
  servers.advance(3600);
  statuses.push(String((await api(resource)).status));
  const grants = servers.received("token")
    .map(({ params }) => params.get("grant_type"));
  return [...statuses, grants.join(" ")];
}

/** Challenges, claims, PKCE and keys, without the network. */
async function parseAndBuild(client) {
  const token = `${encode({ alg: "none" })}.${
    encode({ name: "Ada Løvelace 🧮", ["__proto__"]: 1, exp: 1 })
  }.`;
  const claims = client.getClaimsFromJWT(token);
  const { codeVerifier, codeChallenge } = await client.createPkcePair();
  const { privateKey } = await crypto.subtle.generateKey(
    { name: "Ed25519" },
    false,
    ["sign", "verify"],
  );
  const body = client.buildClientCredentialsBody({ scopes: ["read"] });
  await client.privateKeyJwt("c1", privateKey, {
    issuer: "https://as.example",
  }).authenticate({
    serverMetadata: { issuer: "https://as.example" },
    body,
    headers: {},
  });
  const assertion = body.get("client_assertion");
  return {
    challenges: client.parseWWWAuthenticateHeader(
      'Bearer realm="a, b", scope="read write", Basic realm="\\"x\\""',
    ),
    claims: Object.entries(claims),
    scopesMatch: client.scopesMatch(["a", "b"], ["b", "a"]),
    pkce: [codeVerifier.length, codeChallenge.length],
    assertion: Object.keys(client.getClaimsFromJWT(assertion)),
    invalid: await failureOf(
      client,
      Promise.resolve().then(() => client.getClaimsFromJWT("no token")),
    ),
  };
}

/** The whole flow on real sockets, from a 401 to a 200. */
async function runLoopback(client, server) {
  const target = `${server}/mcp`;
  const challenge = await fetch(target);
  await challenge.text();
  const context = await client.discoverAuthorization(target, { challenge });
  const { serverMetadata, resource, scopes } = context;
  const redirectUri = "http://127.0.0.1:8123/callback";
  const registration = await client.registerClient(serverMetadata, {
    client_name: "Consumer",
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: "none",
  });
  const { codeVerifier, codeChallenge } = await client.createPkcePair();
  const state = client.createState();
  const url = client.buildAuthorizationUrl(serverMetadata, {
    clientId: registration.client_id,
    redirectUri,
    state,
    codeChallenge,
    scopes,
    resource,
  });
  // The server responds with the callback URL in place of a redirect.
  const callback = await (await fetch(url)).text();
  const { code } = client.parseAuthorizationResponse(callback, {
    state,
    serverMetadata,
  });
  const dpop = await client.createDpop();
  const token = await client.fetchToken(
    serverMetadata,
    client.buildAuthorizationCodeBody({
      code,
      redirectUri,
      codeVerifier,
      resource,
    }),
    {
      client: registration,
      dpop,
      now: () => 0,
    },
  );
  const call = await fetch(target, {
    headers: await dpop.createHeaders({
      method: "GET",
      url: target,
      accessToken: token.access_token,
    }),
  });
  return {
    challenge: challenge.status,
    source: context.source,
    attempts: context.attempts.map(({ url }) => url),
    scopes,
    registration,
    token,
    call: [call.status, await call.text()],
  };
}

/** Error responses, redirects, timeouts, aborts, endless bodies, lost servers. */
async function runLimits(client, server) {
  const endpoint = (path) => ({
    issuer: server,
    token_endpoint: server + path,
    response_types_supported: [],
  });
  const token = (path, options) =>
    client.fetchToken(
      endpoint(path),
      client.buildClientCredentialsBody(),
      options,
    );
  const metadata = async (path) => {
    const found = await client.fetchResourceMetadata(
      `${server}/elsewhere`,
      server + path,
    );
    return found.discoveryUrl;
  };
  const controller = new AbortController();
  const reason = { given: "by the caller" };
  setTimeout(() => controller.abort(reason), 50);
  const aborted = await token("/hang", { signal: controller.signal })
    .catch((error) => error);
  return {
    aborted: aborted === reason ? "with the caller's own reason" : aborted,
    errorResponse: await failureOf(client, token("/token")),
    timeoutOfResponse: await failureOf(
      client,
      token("/hang", { timeoutMs: 100 }),
    ),
    timeoutOfBody: await failureOf(
      client,
      token("/endless/slow", { timeoutMs: 100 }),
    ),
    tooLarge: await failureOf(client, token("/endless/fast")),
    redirectedPost: await failureOf(client, token("/redirect/same")),
    redirectedGet: await metadata("/redirect/same").catch(firstCode),
    redirectedAway: await metadata("/redirect/away").catch(firstCode),
    unreachable: await failureOf(client, token("/broken")),
    // The connections of aborted requests must be closed.
    stillOpen: await stillOpen(server),
  };
}

function firstCode(error) {
  return error.errors?.[0]?.code ?? error.code ?? String(error);
}

/** Returns the paths of the open requests, after at most two seconds. */
async function stillOpen(server) {
  let open = "unknown";
  for (let tries = 0; tries < 40 && open !== ""; tries++) {
    open = await (await fetch(`${server}/open`)).text();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return open;
}
