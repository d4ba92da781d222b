/**
 * A real authorization server for tests: `oidc-provider`, a certified
 * implementation, on loopback.
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
// @ts-types="@types/express"
import express from "express";
import { exportJWK, generateKeyPair } from "jose";
// @ts-types="@types/oidc-provider"
import type {
  ClientMetadata,
  Configuration,
  KoaContextWithOIDC,
  Provider,
} from "oidc-provider";
import { listen } from "./_node_http.ts";

export interface AuthorizationServerOptions {
  /** The path of the issuer, such as `/tenant1`. @default "" */
  path?: string;
  /** Initial access token, which a registration then has to have. */
  initialAccessToken?: string;
  clients?: ClientMetadata[];
  /** Client ID metadata documents by their URLs. @default not supported */
  clientDocuments?: Record<string, ClientMetadata>;
  /** Whether DPoP proofs require a nonce (RFC 9449, section 8). @default false */
  dpopNonce?: boolean;
  /** Whether authorization requests must be pushed (RFC 9126). @default false */
  requirePar?: boolean;
  /** The types of authorization details (RFC 9396). @default not supported */
  detailTypes?: string[];
  /** Whether registrations can be changed and deleted (RFC 7592). @default true */
  registrationManagement?: boolean;
  /** Runs before each request is handled; it is not, if this ends the response. */
  before?: (
    request: IncomingMessage,
    response: ServerResponse,
  ) => void | Promise<void>;
  metadata?: Record<string, unknown>;
  /** How long an access token is valid. @default 3600 */
  accessTokenSeconds?: number;
}

const SCOPES = ["mcp:read", "mcp:write"];

export interface AuthorizationServer extends AsyncDisposable {
  issuer: string;
  provider: Provider;
  /** The requests so far: method and path, without the query. */
  requests: string[];
}

/**
 * Hides oidc-provider's notices for operators (development keys, in-memory storage,
 * runtime) until it is disposed of. Other messages are printed.
 */
function withoutNotices(): Disposable {
  const { info, warn } = console;
  const unless = (log: typeof warn) => (...data: unknown[]) => {
    if (!String(data[0]).includes("oidc-provider ")) log(...data);
  };
  Object.assign(console, { info: unless(info), warn: unless(warn) });
  const restore = () => void Object.assign(console, { info, warn });
  return { [Symbol.dispose]: restore };
}

async function importProvider() {
  // It prints a notice when it is imported, too.
  using _ = withoutNotices();
  // @ts-types="@types/oidc-provider"
  return await import("oidc-provider");
}

const oidc = await importProvider();

function isLoopback(resource: string): boolean {
  const { hostname } = new URL(resource);
  return ["127.0.0.1", "localhost", "[::1]"].includes(hostname);
}

function page(ctx: KoaContextWithOIDC, ...lines: string[]): void {
  ctx.type = "html";
  ctx.body = ["<!DOCTYPE html>", "<title>Sign-in</title>", ...lines].join("\n");
}

function escapeHtml(text: unknown): string {
  return String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/**
 * Returns a configuration for oidc-provider. Each function and lifetime is set
 * here because its default logs a notice when it is first used.
 */
async function configure(
  {
    clients = [],
    clientDocuments,
    dpopNonce = false,
    requirePar = false,
    registrationManagement = true,
    detailTypes,
    initialAccessToken,
    metadata = {},
    accessTokenSeconds = 3600,
  }: AuthorizationServerOptions,
): Promise<Configuration> {
  // A new key, so that two servers do not accept each other's tokens. Elliptic,
  // because generating an RSA key takes longer than the rest of the start.
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = await exportJWK(privateKey);
  return {
    clients,
    discovery: metadata,
    scopes: ["openid", "offline_access", ...SCOPES],
    jwks: { keys: [{ ...key, kid: crypto.randomUUID(), use: "sig" }] },
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    cookies: { keys: [crypto.randomUUID()] },
    pkce: { required: () => true },
    responseTypes: ["code"],
    clientBasedCORS: () => true,
    issueRefreshToken: (_ctx, client) =>
      client.grantTypeAllowed("refresh_token"),
    expiresWithSession: () => false,
    rotateRefreshToken: () => true,
    findAccount: (_ctx, sub) => ({
      accountId: sub,
      claims: () => ({ sub }),
    }),
    renderError: (ctx, out) =>
      page(
        ctx,
        ...Object.entries(out).map(([name, value]) =>
          `<p>${name}: ${escapeHtml(value)}</p>`
        ),
      ),
    ttl: {
      AccessToken: accessTokenSeconds,
      ClientCredentials: 600,
      DeviceCode: 600,
      Grant: 86400,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 86400,
      Session: 86400,
    },
    features: {
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (ctx, form, _out, problem) =>
          page(
            ctx,
            `<p>${escapeHtml(problem?.message ?? "")}</p>`,
            form,
            `<button form="op.deviceInputForm">Continue</button>`,
          ),
        userCodeConfirmSource: (ctx, form, _client, _info, userCode) =>
          page(
            ctx,
            `<code>${escapeHtml(userCode)}</code>`,
            form,
            `<button form="op.deviceConfirmForm">Continue</button>`,
          ),
        successSource: (ctx) => page(ctx, "<p>Go back to your device.</p>"),
      },
      dPoP: {
        enabled: true,
        ...dpopNonce && {
          nonceSecret: Buffer.from(crypto.getRandomValues(new Uint8Array(32))),
          requireNonce: () => true,
        },
      },
      introspection: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) =>
          client.clientAuthMethod !== "none" ||
          client.clientId === token.clientId,
      },
      pushedAuthorizationRequests: {
        enabled: true,
        requirePushedAuthorizationRequests: requirePar,
      },
      registration: { enabled: true, initialAccessToken },
      registrationManagement: { enabled: registrationManagement },
      ...detailTypes && {
        richAuthorizationRequests: {
          enabled: true,
          types: Object.fromEntries(
            detailTypes.map((type) => [type, { validate() {} }]),
          ),
          // Everything that the user has consented to is granted.
          authorizationDetailsForGrantSource: (ctx) => ctx.oidc.grant?.rar,
          authorizationDetailsForAccessToken: (ctx, _token, source) =>
            source?.rar ??
              JSON.parse(`${ctx.oidc.params?.authorization_details}`),
          authorizationDetailsForIntrospection: (_ctx, token) => token.rar,
        },
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_ctx, resource) {
          if (!isLoopback(resource)) throw new oidc.errors.InvalidTarget();
          return {
            scope: SCOPES.join(" "),
            audience: resource,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "ES256" } },
          };
        },
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, client, token) =>
          client.clientId === token.clientId,
      },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) =>
          page(
            ctx,
            form,
            `<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`,
          ),
        postLogoutSuccessSource: (ctx) => page(ctx, "<p>Signed out.</p>"),
      },
      clientIdMetadataDocument: {
        enabled: clientDocuments !== undefined,
        ack: "draft-02",
      },
    },
    ...clientDocuments && {
      fetch: (url) => Promise.resolve(Response.json(clientDocuments[`${url}`])),
    },
  };
}

export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<AuthorizationServer> {
  const { path = "" } = options;
  const configuration = await configure(options);
  const server = await listen();
  const { origin, requests, close } = server;
  const issuer = origin + path;
  try {
    using _ = withoutNotices();
    const provider = new oidc.default(issuer, configuration);
    const handle = path
      ? express().use(path, provider.callback())
      : provider.callback();
    server.handle(async (request, response) => {
      await options.before?.(request, response);
      const isHandled = response.writableEnded || request.socket.destroyed;
      if (!isHandled) handle(request, response);
    });
    return { issuer, provider, requests, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
