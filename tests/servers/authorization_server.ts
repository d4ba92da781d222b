/**
 * A real authorization server for tests: `oidc-provider`, a certified
 * implementation, on loopback.
 */
import { Buffer } from "node:buffer";
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

// The types tie these three to each other, which no spread can satisfy.
type Features = Omit<
  NonNullable<Configuration["features"]>,
  "introspection" | "openid4vci" | "richAuthorizationRequests"
>;

export interface IAuthorizationServerOptions {
  /** Where the provider is mounted, such as `/tenant1`; part of the issuer. */
  path?: string;
  /** Clients known from the start, beside those that register. */
  clients?: ClientMetadata[];
  /** Scopes beside `openid` and `offline_access`; also those of resources. */
  scopes?: string[];
  /** Whether DPoP proofs must carry a nonce of this server (RFC 9449, 8). */
  dpopNonce?: boolean;
  /** Laid over this fixture's own choice, feature by feature. */
  features?: Features;
}

export interface IAuthorizationServer extends AsyncDisposable {
  issuer: string;
  provider: Provider;
  /** What was asked so far: method and path, without the query. */
  requests: string[];
  close(): Promise<void>;
}

/**
 * Runs `action` while oidc-provider's notices for operators (development keys,
 * in-memory storage, runtime) are dropped; whatever else is said then passes.
 */
function withoutNotices<T>(action: () => T): T {
  const { info, warn } = console;
  const unless = (log: typeof warn) => (...data: unknown[]) => {
    if (!String(data[0]).includes("oidc-provider ")) log(...data);
  };
  console.info = unless(info);
  console.warn = unless(warn);
  const restore = () => Object.assign(console, { info, warn });
  let result: T;
  try {
    result = action();
  } catch (error) {
    restore();
    throw error;
  }
  if (result instanceof Promise) {
    return result.finally(restore) as T;
  }
  restore();
  return result;
}

// A static import would speak before any line of this file could run.
const oidc = await withoutNotices(() =>
  // @ts-types="@types/oidc-provider"
  import("oidc-provider")
);

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
 * Every function and lifetime given here has a default in oidc-provider that
 * logs a notice at its first use, in the midst of somebody's test.
 */
async function configure(
  { clients = [], scopes = [], dpopNonce = false, features }:
    IAuthorizationServerOptions,
): Promise<Configuration> {
  // Keys of its own, so that no two servers in a test accept each other's
  // tokens. Elliptic, since an RSA key costs more than the rest of the start.
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = await exportJWK(privateKey);
  return {
    clients,
    scopes: ["openid", "offline_access", ...scopes],
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
      AccessToken: 3600,
      ClientCredentials: 600,
      DeviceCode: 600,
      Grant: 86400,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 86400,
      Session: 86400,
    },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      deviceFlow: {
        enabled: true,
        userCodeInputSource: (ctx, form, _out, problem) =>
          page(
            ctx,
            `<p>${escapeHtml(problem?.message ?? "")}</p>`,
            form,
            `<button form="op.deviceInputForm">Go on</button>`,
          ),
        userCodeConfirmSource: (ctx, form, _client, _info, userCode) =>
          page(
            ctx,
            `<code>${escapeHtml(userCode)}</code>`,
            form,
            `<button form="op.deviceConfirmForm">Go on</button>`,
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
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo(_ctx, resource) {
          if (!isLoopback(resource)) throw new oidc.errors.InvalidTarget();
          return {
            scope: scopes.join(" "),
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
      rpInitiatedLogout: { enabled: false },
      ...features,
    },
  };
}

export async function startAuthorizationServer(
  options: IAuthorizationServerOptions = {},
): Promise<IAuthorizationServer> {
  const { path = "" } = options;
  const configuration = await configure({
    scopes: ["mcp:read", "mcp:write"],
    ...options,
  });
  const server = await listen();
  const { origin, requests, close } = server;
  const issuer = origin + path;
  try {
    const provider = withoutNotices(() =>
      new oidc.default(issuer, configuration)
    );
    server.handle(
      path ? express().use(path, provider.callback()) : provider.callback(),
    );
    return { issuer, provider, requests, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
