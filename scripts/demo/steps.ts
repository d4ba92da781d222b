/** Every step from a 401 to a 200, with this library and two servers on loopback. */
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  buildClientCredentialsBody,
  clientSecretPost,
  codeFlow,
  type CodeFlowOptions,
  createAuthorizedFetch,
  createPkcePair,
  createState,
  DEFAULT_AUTH_FLOW_PORT,
  discoverAuthorization,
  fetchDeviceAuthorization,
  fetchDynamicRegistration,
  fetchToken,
  getClaimsFromJWT,
  parseAuthorizationResponse,
  parseWWWAuthenticateHeader,
  pollDeviceToken,
  type Token,
} from "../../mod.ts";
import { startAuthorizationServer } from "../../tests/servers/authorization_server.ts";
import { createBrowser } from "../../tests/servers/browser.ts";
import { startProtectedResource } from "../../tests/servers/protected_resource.ts";
import type { Output, RecordedRequest } from "./output.ts";

/** The redirect URI. Nothing listens there; the demo only reads the URL. */
const REDIRECT_URI = `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/`;
const CLIENT_NAME = "OAuth helper demo";
/** A client with a secret, for a token without a user. */
const MACHINE = { id: "demo-machine", secret: crypto.randomUUID() };

/** A user's browser that responds to what the authorization URL leads to. */
type Receiver = Pick<CodeFlowOptions, "redirectUri" | "visit">;

/** What a step found: the value for the next steps, and what is printed. */
type Found<T> = [value: T, result: string, details?: Record<string, string>];

/** A step has failed, and was printed. */
export class StepError extends Error {}

function foundToken(token: Token): Found<Token> {
  const { access_token, token_type, expires_in, refresh_token } = token;
  const result = `${token_type} token of ${access_token.length} characters ` +
    `for ${expires_in} s${refresh_token ? ", refreshable" : ""}`;
  return [token, result];
}

/**
 * Starts the servers and runs the steps. With the receiver of a person's browser, only
 * the last ones. Otherwise the browser of the tests plays the user.
 */
export async function runSteps(
  output: Output,
  own: Receiver | undefined,
): Promise<void> {
  await using server = await startAuthorizationServer({
    // With a path, so that the discovery requests several URLs.
    path: "/as",
    clients: [{
      client_id: MACHINE.id,
      client_secret: MACHINE.secret,
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["client_credentials"],
      redirect_uris: [],
      response_types: [],
    }],
  });
  await using protectedResource = startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:write", "mcp:read"],
  });
  const target = protectedResource.resource;
  output.text("From a 401 to a 200: each step of an OAuth client, then all of");
  output.text(
    "them in one call. Real servers on this machine, nothing else.\n",
  );
  output.text(`Resource ${target}`);
  output.text(`Authorization server ${server.issuer} (oidc-provider)`);

  /**
   * The requests of the current step. Requests of the user's browser are not recorded.
   */
  const requests: RecordedRequest[] = [];
  const recorded: typeof fetch = async (input, init) => {
    const { method, url } = new Request(input, init);
    const response = await fetch(input, init);
    const form = new URLSearchParams(String(init?.body ?? ""));
    const grant_type = form.get("grant_type")?.replace(/.*:/, "");
    const { status } = response;
    requests.push({ method, url, status, ...(grant_type && { grant_type }) });
    return response;
  };

  async function step<T>(
    step: string,
    action: string,
    run: () => Found<T> | Promise<Found<T>>,
  ): Promise<T> {
    const start = performance.now();
    requests.length = 0;
    const report = (result: string, ok: boolean) => ({
      ...{ step, action, requests, result, ok },
      ms: performance.now() - start,
    });
    try {
      const [value, result, details] = await run();
      output.step({ ...report(result, true), ...(details && { details }) });
      return value;
    } catch (thrown) {
      const error = thrown as Error;
      output.step({ ...report(error.message, false), error });
      throw new StepError(error.message);
    }
  }

  const call = async (expected: number, api = recorded, init?: RequestInit) => {
    const { status, statusText, headers, body } = await api(target, init);
    await body?.cancel();
    const result = `${status} ${statusText}`;
    if (status !== expected) throw new Error(`${result}, not ${expected}`);
    return { result, header: headers.get("WWW-Authenticate") };
  };
  const callWithToken = ({ access_token }: Token, name: string) =>
    step(name, "Call the resource with the token: fetch()", async () => {
      const headers = { Authorization: `Bearer ${access_token}` };
      return [undefined, (await call(200, recorded, { headers })).result];
    });

  async function runEach(): Promise<void> {
    output.text("\nDiscovery and registration");
    const header = await step(
      "unauthorized",
      "Call the resource without a token: fetch()",
      async () => {
        const { result, header } = await call(401);
        if (!header) throw new Error(`${result} without WWW-Authenticate`);
        return [header, `${result} with WWW-Authenticate`];
      },
    );
    await step(
      "challenge",
      "Parse the header: parseWWWAuthenticateHeader()",
      () => {
        const [challenge] = parseWWWAuthenticateHeader(header);
        const { scheme = "no", params = {} } = challenge ?? {};
        const result = `${scheme} challenge`;
        if (!params.resource_metadata) throw new Error(result);
        return [challenge, result, params];
      },
    );
    const context = await step(
      "discovery",
      "Find the authorization server: discoverAuthorization()",
      async () => {
        const found = await discoverAuthorization(target, {
          challenge: header,
          fetch: recorded,
        });
        const endpoints = Object.keys(found.serverMetadata)
          .filter((member) => member.endsWith("_endpoint"))
          .map((member) => member.replace("_endpoint", "")).join(", ");
        return [found, found.issuer, { endpoints }];
      },
    );
    const { serverMetadata, issuer, resource, scopes = [] } = context;
    const client = await step(
      "registration",
      "Register a client: fetchDynamicRegistration()",
      async () => {
        const registration = await fetchDynamicRegistration(
          serverMetadata,
          CLIENT_NAME,
          [...scopes],
          { redirectUris: [REDIRECT_URI], fetch: recorded },
        );
        const { client_id } = registration;
        return [{ ...registration, issuer }, `client_id ${client_id}`];
      },
    );
    const request = { client, fetch: recorded };

    output.text("\nClient credentials");
    const own = await step(
      "token",
      "Request a token: fetchToken()",
      async () => {
        const client = clientSecretPost(MACHINE.id, MACHINE.secret, { issuer });
        return foundToken(
          await fetchToken(
            serverMetadata,
            buildClientCredentialsBody({ resource, scopes }),
            { ...request, client },
          ),
        );
      },
    );
    await step(
      "claims",
      "Read the claims of the token, not verified: getClaimsFromJWT()",
      () => {
        // Some servers use the token itself as its identifier.
        const { aud, jti: _, ...others } = getClaimsFromJWT(own.access_token);
        const claims = Object.entries(others)
          .map(([name, value]) => `${name}=${value}`).join(", ");
        return [aud, `for ${aud}`, { claims }];
      },
    );
    await callWithToken(own, "call");

    output.text("\nDevice flow");
    const device = await step(
      "device_authorization",
      "Request codes for a device: fetchDeviceAuthorization()",
      async () => {
        const options = { ...request, resource, scopes };
        const found = await fetchDeviceAuthorization(serverMetadata, options);
        const { user_code, verification_uri, expires_in } = found;
        const result =
          `a code of ${user_code.length} characters for ${expires_in} s`;
        return [found, result, { verification_uri }];
      },
    );
    const deviceToken = await step(
      "device_token",
      "Poll while the user signs in: pollDeviceToken()",
      async () => {
        let polls = 0;
        // Does not wait: the user signs in between the polls.
        const delay = async () => {
          if (++polls < 2) return;
          const { verification_uri, user_code } = device;
          await createBrowser().activate(verification_uri, user_code);
        };
        const options = { ...request, delay };
        return foundToken(
          await pollDeviceToken(serverMetadata, device, options),
        );
      },
    );
    await callWithToken(deviceToken, "device_call");

    output.text("\nCode flow");
    const { codeVerifier, codeChallenge } = await createPkcePair();
    const code = await step(
      "authorization",
      "Request authorization by the user: buildAuthorizationUrl()",
      async () => {
        const state = createState();
        const url = buildAuthorizationUrl(serverMetadata, {
          clientId: client.client_id,
          redirectUri: REDIRECT_URI,
          state,
          codeChallenge,
          scopes,
          resource,
        });
        const callback = await createBrowser().authorize(url);
        const expected = { state, serverMetadata };
        const { code } = parseAuthorizationResponse(callback, expected);
        const namesOf = ({ searchParams }: URL) =>
          [...searchParams.keys()].join(", ");
        return [code, "the user is back; state and issuer match", {
          sent_to: url.origin + url.pathname,
          sent: namesOf(url),
          received: namesOf(callback),
        }];
      },
    );
    const token = await step(
      "code_token",
      "Exchange the code for a token: fetchToken()",
      async () => {
        const redirectUri = REDIRECT_URI;
        const grant = { code, codeVerifier, redirectUri, resource };
        const body = buildAuthorizationCodeBody(grant);
        return foundToken(await fetchToken(serverMetadata, body, request));
      },
    );
    await callWithToken(token, "code_call");
  }
  if (!own) await runEach();

  output.text("\nAll in one call");
  const { redirectUri, visit }: Receiver = own ?? {
    redirectUri: REDIRECT_URI,
    visit: (url) => createBrowser().authorize(url),
  };
  let visited = "";
  let aheadMs = 0;
  const api = createAuthorizedFetch(target, {
    flow: codeFlow({
      clientMetadata: { client_name: CLIENT_NAME },
      redirectUri,
      visit(url, context) {
        visited = url.origin + url.pathname;
        return visit(url, context);
      },
    }),
    fetch: recorded,
    now: () => Date.now() + aheadMs,
  });
  /** Calls the resource and counts the token requests. */
  const callAuthorized = async () => {
    const { result } = await call(200, api);
    const grants = requests.flatMap(({ grant_type }) => grant_type ?? []);
    const text = `${result} after ${grants.length} token request: ${grants}`;
    if (grants.length !== 1) throw new Error(text);
    return text;
  };
  await step(
    "authorized_fetch",
    "Call the resource: createAuthorizedFetch() with codeFlow()",
    async () => [undefined, await callAuthorized(), { visited }],
  );
  await step(
    "authorized_fetch_refresh",
    "Call it again after the token has expired",
    async () => {
      const { expires_in } = (await api.session())?.token ?? {};
      if (!expires_in) throw new Error("No session with an expiry");
      aheadMs = expires_in * 1_000;
      return [undefined, await callAuthorized()];
    },
  );
}
