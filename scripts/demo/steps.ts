/** Every step from a 401 to a 200, as functions that show how to use the library. */
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  buildClientCredentialsBody,
  clientSecretPost,
  codeFlow,
  createAuthorizedFetch,
  createPkcePair,
  createState,
  DEFAULT_AUTH_FLOW_PORT,
  discoverAuthorization,
  fetchDeviceAuthorization,
  fetchDynamicRegistration,
  fetchToken,
  getClaimsFromJWT,
  type IAuthorizationContext,
  type ICodeFlowOptions,
  type IKnownClient,
  type IToken,
  parseAuthorizationResponse,
  parseWWWAuthenticateHeader,
  pollDeviceToken,
} from "../../mod.ts";
import { createBrowser } from "../../tests/servers/browser.ts";
import type { IDemo, IFound } from "./step.ts";

/** The redirect URI. Nothing listens there; the demo only reads the URL. */
const REDIRECT_URI = `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/`;
const CLIENT_NAME = "OAuth helper demo";

/** What the flows need. */
interface IKnown extends IAuthorizationContext {
  client: IKnownClient;
}

/** Strict discovery, as a client should do it, and registration. */
export async function discover(demo: IDemo): Promise<IKnown> {
  const { target, fetch, step } = demo;
  const header = await step(
    "unauthorized",
    "Call the resource without a token: fetch()",
    "401 with WWW-Authenticate",
    async () => {
      const { status, statusText, headers, body } = await fetch(target);
      await body?.cancel();
      const value = headers.get("WWW-Authenticate");
      const result = `${status} ${statusText} ` +
        `${value ? "with" : "without"} WWW-Authenticate`;
      if (status !== 401 || !value) throw new Error(result);
      return { value, result };
    },
  );
  await step(
    "challenge",
    "Parse the header: parseWWWAuthenticateHeader()",
    "a challenge with resource_metadata",
    () => {
      const [challenge] = parseWWWAuthenticateHeader(header);
      const { scheme = "no", params: details = {} } = challenge ?? {};
      const result = `${scheme} challenge`;
      if (!details.resource_metadata) throw new Error(result);
      return { value: challenge, result, details };
    },
  );
  const context = await step(
    "discovery",
    "Find the authorization server: discoverAuthorization()",
    "metadata of the resource and of its authorization server",
    async () => {
      const value = await discoverAuthorization(target, {
        challenge: header,
        fetch,
      });
      const endpoints = Object.keys(value.serverMetadata)
        .filter((member) => member.endsWith("_endpoint"))
        .map((member) => member.replace("_endpoint", "")).join(", ");
      return { value, result: value.issuer, details: { endpoints } };
    },
  );
  const client = await step(
    "registration",
    "Register a client: fetchDynamicRegistration()",
    "a client_id",
    async () => {
      const { serverMetadata, scopes = [], issuer } = context;
      const registration = await fetchDynamicRegistration(
        serverMetadata,
        CLIENT_NAME,
        [...scopes],
        { redirectUris: [REDIRECT_URI], fetch },
      );
      const value = { ...registration, issuer };
      return { value, result: `client_id ${value.client_id}` };
    },
  );
  return { ...context, client };
}

/** Describes a token without its value. */
function foundToken(value: IToken): IFound<IToken> {
  const { access_token, token_type, expires_in, refresh_token } = value;
  const result = `${token_type} token of ${access_token.length} characters ` +
    `for ${expires_in} s${refresh_token ? ", refreshable" : ""}`;
  return { value, result };
}

async function callWithToken(
  { target, fetch, step }: IDemo,
  name: string,
  { access_token }: IToken,
): Promise<void> {
  const action = "Call the resource with the token: fetch()";
  await step(name, action, "200", async () => {
    const { status, statusText, body } = await fetch(target, {
      headers: { Authorization: `Bearer ${access_token}` },
    });
    await body?.cancel();
    const result = `${status} ${statusText}`;
    if (status !== 200) throw new Error(result);
    return { value: undefined, result };
  });
}

/** The client credentials flow, without a user. */
export async function clientCredentials(
  demo: IDemo,
  { serverMetadata, issuer, resource, scopes }: IKnown,
): Promise<void> {
  const { machine: { id, secret }, fetch, step } = demo;
  const token = await step(
    "token",
    "Request a token: fetchToken()",
    "a token",
    async () => {
      const body = buildClientCredentialsBody({ resource, scopes });
      const client = clientSecretPost(id, secret, { issuer });
      return foundToken(
        await fetchToken(serverMetadata, body, { client, fetch }),
      );
    },
  );
  await step(
    "claims",
    "Read the claims of the token, not verified: getClaimsFromJWT()",
    "a JWT",
    () => {
      // Some servers use the token itself as its identifier.
      const { aud, jti: _, ...others } = getClaimsFromJWT(token.access_token);
      const claims = Object.entries(others)
        .map(([name, value]) => `${name}=${value}`).join(", ");
      return { value: aud, result: `for ${aud}`, details: { claims } };
    },
  );
  await callWithToken(demo, "call", token);
}

/** The device flow; the browser of the tests plays the user. */
export async function device(
  demo: IDemo,
  { serverMetadata, client, resource, scopes }: IKnown,
): Promise<void> {
  const { fetch, step } = demo;
  const authorization = await step(
    "device_authorization",
    "Request codes for a device: fetchDeviceAuthorization()",
    "a device_code and a user_code",
    async () => {
      const options = { client, resource, scopes, fetch };
      const value = await fetchDeviceAuthorization(serverMetadata, options);
      const { user_code, verification_uri, expires_in } = value;
      return {
        value,
        result: `a code of ${user_code.length} characters for ${expires_in} s`,
        details: { verification_uri },
      };
    },
  );
  const token = await step(
    "device_token",
    "Poll while the user signs in: pollDeviceToken()",
    "a token",
    async () => {
      let polls = 0;
      return foundToken(
        await pollDeviceToken(serverMetadata, authorization, {
          client,
          fetch,
          // Does not wait: the user signs in between the polls.
          delay: async () => {
            if (++polls < 2) return;
            const { verification_uri, user_code } = authorization;
            await createBrowser().activate(verification_uri, user_code);
          },
        }),
      );
    },
  );
  await callWithToken(demo, "device_call", token);
}

/** The code flow; the browser of the tests plays the user. */
export async function code(
  demo: IDemo,
  { serverMetadata, client, resource, scopes }: IKnown,
): Promise<void> {
  const { fetch, step } = demo;
  const grant = await step(
    "authorization",
    "Request authorization by the user: buildAuthorizationUrl()",
    "a callback with code, state and iss",
    async () => {
      const { codeVerifier, codeChallenge } = await createPkcePair();
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
      const { code } = parseAuthorizationResponse(callback, {
        state,
        serverMetadata,
      });
      const namesOf = ({ searchParams }: URL) =>
        [...searchParams.keys()].join(", ");
      return {
        value: { code, codeVerifier },
        result: "the user is back; state and issuer match",
        details: {
          sent_to: url.origin + url.pathname,
          sent: namesOf(url),
          received: namesOf(callback),
        },
      };
    },
  );
  const token = await step(
    "code_token",
    "Exchange the code for a token: fetchToken()",
    "a token",
    async () => {
      const body = buildAuthorizationCodeBody({
        ...grant,
        redirectUri: REDIRECT_URI,
        resource,
      });
      return foundToken(
        await fetchToken(serverMetadata, body, { client, fetch }),
      );
    },
  );
  await callWithToken(demo, "code_call", token);
}

/**
 * All of the other steps in one: a `fetch` that obtains its token and refreshes it. The
 * user is the browser of the tests, or a person with theirs.
 */
export async function session(
  { target, fetch, requests, step }: IDemo,
  receiver: Pick<ICodeFlowOptions, "redirectUri" | "visit"> = {
    redirectUri: REDIRECT_URI,
    visit: (url) => createBrowser().authorize(url),
  },
): Promise<void> {
  let visited = "";
  let aheadMs = 0;
  const api = createAuthorizedFetch(target, {
    authorize: codeFlow({
      clientMetadata: { client_name: CLIENT_NAME },
      redirectUri: receiver.redirectUri,
      visit(url, visit) {
        visited = url.origin + url.pathname;
        return receiver.visit(url, visit);
      },
    }),
    fetch,
    now: () => Date.now() + aheadMs,
  });
  /** Calls the resource and counts the token requests. */
  const call = async () => {
    const { status, statusText, body } = await api(target);
    await body?.cancel();
    const grants = requests.flatMap(({ grant_type }) => grant_type ?? []);
    const result = `${status} ${statusText} after ${grants.length} token ` +
      `request: ${grants.join(", ")}`;
    if (status !== 200 || grants.length !== 1) throw new Error(result);
    return { value: undefined, result };
  };
  const expected = "200 after 1 token request";
  await step(
    "authorized_fetch",
    "Call the resource: createAuthorizedFetch() with codeFlow()",
    expected,
    async () => ({ ...await call(), details: { visited } }),
  );
  await step(
    "authorized_fetch_refresh",
    "Call it again after the token has expired",
    expected,
    async () => {
      const { expires_in } = (await api.session())?.token ?? {};
      if (!expires_in) throw new Error("No session with an expiry");
      aheadMs = expires_in * 1_000;
      return await call();
    },
  );
}
