/** What the flow tests share: two servers, and a user who has signed in. */
import { assertEquals } from "@std/assert";
import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  createPkcePair,
  createState,
  discoverAuthorization,
  fetchToken,
  type IAuthorizationContext,
  type IClientAuthentication,
  type IFetchTokenOptions,
  type IToken,
  parseAuthorizationResponse,
  registerClient,
  selectClientAuthentication,
} from "../../mod.ts";
import {
  type IAuthorizationServer,
  type IAuthorizationServerOptions,
  startAuthorizationServer,
} from "./authorization_server.ts";
import { createBrowser, type IBrowser } from "./browser.ts";
import {
  type IProtectedResource,
  type IProtectedResourceOptions,
  startProtectedResource,
} from "./protected_resource.ts";

export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** Nothing listens there: the browser stops before it asks this address. */
export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

export interface IFlowServers extends AsyncDisposable {
  server: IAuthorizationServer;
  protectedResource: IProtectedResource;
  /** What a `401` of the resource leads to. */
  context: IAuthorizationContext;
}

/** An authorization server, a resource that names it, and their discovery. */
export async function startFlowServers(
  serverOptions: IAuthorizationServerOptions = {},
  resourceOptions: Partial<IProtectedResourceOptions> = {},
): Promise<IFlowServers> {
  await using started = new AsyncDisposableStack();
  const server = started.use(await startAuthorizationServer(serverOptions));
  const protectedResource = started.use(startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
    ...resourceOptions,
  }));
  const context = await discoverFrom(protectedResource.resource);
  const running = started.move();
  return {
    server,
    protectedResource,
    context,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Asks a resource without a token, and goes on from its `401`. */
export async function discoverFrom(
  resource: string,
): Promise<IAuthorizationContext> {
  const challenge = await fetch(resource);
  assertEquals(challenge.status, 401);
  await challenge.body?.cancel();
  return await discoverAuthorization(resource, { challenge });
}

/** A public client that may do all that a user takes part in. */
export async function registerPublicClient(
  { serverMetadata }: IAuthorizationContext,
): Promise<IClientAuthentication> {
  const registration = await registerClient(serverMetadata, {
    client_name: "Flow test",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token", DEVICE_GRANT],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  });
  return selectClientAuthentication(serverMetadata, registration);
}

export interface ISignInOptions extends IFetchTokenOptions {
  client: IClientAuthentication;
  browser?: IBrowser;
  /** In place of those of the context. */
  scopes?: readonly string[];
  /** In place of that of the context; false for none. */
  resource?: string | false;
}

/** The code flow from the authorization request to the token. */
export async function signIn(
  context:
    & Pick<IAuthorizationContext, "serverMetadata">
    & Partial<Pick<IAuthorizationContext, "resource" | "scopes">>,
  options: ISignInOptions,
): Promise<IToken> {
  const { serverMetadata } = context;
  const {
    browser = createBrowser(),
    scopes = context.scopes,
    resource = context.resource,
    ...requestOptions
  } = options;
  const { codeVerifier, codeChallenge } = await createPkcePair();
  const state = createState();
  const callback = await browser.authorize(
    buildAuthorizationUrl(serverMetadata, {
      clientId: options.client.clientId,
      redirectUri: REDIRECT_URI,
      state,
      codeChallenge,
      scopes,
      resource,
    }),
  );
  const { code } = parseAuthorizationResponse(callback, {
    state,
    serverMetadata,
  });
  const body = buildAuthorizationCodeBody({
    code,
    redirectUri: REDIRECT_URI,
    codeVerifier,
    resource,
  });
  return await fetchToken(serverMetadata, body, requestOptions);
}

/** The status that a resource gives a bearer token. */
export async function statusFor(
  resource: string,
  { access_token }: Pick<IToken, "access_token">,
): Promise<number> {
  const response = await fetch(resource, {
    headers: { Authorization: `Bearer ${access_token}` },
  });
  await response.body?.cancel();
  return response.status;
}
