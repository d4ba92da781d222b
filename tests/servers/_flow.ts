/** What the tests of flows share: two servers, and the sign-in of a user. */
import { assertEquals } from "@std/assert";
import {
  type AuthorizationContext,
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  type Client,
  createPkcePair,
  createState,
  discoverAuthorization,
  fetchToken,
  type FetchTokenOptions,
  type KnownClient,
  parseAuthorizationResponse,
  registerClient,
  type Token,
} from "../../mod.ts";
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from "./authorization_server.ts";
import { type Browser, createBrowser } from "./browser.ts";
import {
  type ProtectedResource,
  type ProtectedResourceOptions,
  startProtectedResource,
} from "./protected_resource.ts";

export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** The browser of the tests does not request this URL. */
export const REDIRECT_URI = "http://127.0.0.1:33418/callback";

export interface FlowServers extends AsyncDisposable {
  server: AuthorizationServer;
  protectedResource: ProtectedResource;
  /** What discovery finds from a `401` of the resource. */
  context: AuthorizationContext;
}

export async function startFlowServers(
  serverOptions: AuthorizationServerOptions = {},
  resourceOptions: Partial<ProtectedResourceOptions> = {},
): Promise<FlowServers> {
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

/** Requests a resource without a token, and runs discovery from its `401`. */
export async function discoverFrom(
  resource: string,
): Promise<AuthorizationContext> {
  const challenge = await fetch(resource);
  assertEquals(challenge.status, 401);
  await challenge.body?.cancel();
  return await discoverAuthorization(resource, { challenge });
}

/** Registers a public client for all grants that involve a user. */
export async function registerPublicClient(
  { serverMetadata }: AuthorizationContext,
): Promise<KnownClient> {
  return await registerClient(serverMetadata, {
    client_name: "Flow test",
    redirect_uris: [REDIRECT_URI],
    grant_types: ["authorization_code", "refresh_token", DEVICE_GRANT],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  });
}

export interface SignInOptions extends FetchTokenOptions {
  client: Client;
  browser?: Browser;
  /** @default the scopes of the context */
  scopes?: readonly string[];
  /** `false` for none. @default the resource of the context */
  resource?: string | false;
}

/** Runs the code flow from the authorization request to the token. */
export async function signIn(
  context:
    & Pick<AuthorizationContext, "serverMetadata">
    & Partial<Pick<AuthorizationContext, "resource" | "scopes">>,
  options: SignInOptions,
): Promise<Token> {
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
      clientId: "client_id" in options.client
        ? options.client.client_id
        : options.client.clientId,
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

export async function statusFor(
  resource: string,
  { access_token }: Pick<Token, "access_token">,
): Promise<number> {
  const response = await fetch(resource, {
    headers: { Authorization: `Bearer ${access_token}` },
  });
  await response.body?.cancel();
  return response.status;
}
