/**
 * The two authorization servers of cross-app access (ID-JAG): oidc-provider with
 * one more grant each, whose JWTs `jose` signs and verifies.
 */
import {
  calculateJwkThumbprint,
  createRemoteJWKSet,
  type CryptoKey,
  decodeJwt,
  EmbeddedJWK,
  errors,
  generateKeyPair,
  type JWTPayload,
  jwtVerify,
  SignJWT,
} from "jose";
// @ts-types="@types/oidc-provider"
import type { KoaContextWithOIDC } from "oidc-provider";
import {
  clientSecretBasic,
  clientSecretPost,
  discoverAuthorizationServer,
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
  TOKEN_TYPE_ID_JAG,
  TOKEN_TYPE_ID_TOKEN,
  TOKEN_TYPE_REFRESH_TOKEN,
} from "../../mod.ts";
import { discoverFrom, REDIRECT_URI, signIn } from "./_flow.ts";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "./authorization_server.ts";
import { createBrowser } from "./browser.ts";
import { startProtectedResource } from "./protected_resource.ts";

/** Identifier of a client at the server that has no credentials but its assertion. */
export const WORKLOAD = "workload";

const ALG = "ES256";
const LIFETIME = 300;

/** An issuer of assertions: an identity provider, or a platform of workloads. */
export interface Signer {
  issuer: string;
  publicKey: CryptoKey;
  /** Signs claims, for 300 seconds unless they have an `exp`. */
  sign(typ: string, claims: JWTPayload): Promise<string>;
}

export async function createSigner(issuer: string): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(ALG);
  return {
    issuer,
    publicKey,
    sign: (typ, claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: ALG, typ })
        .setIssuer(issuer)
        .setJti(crypto.randomUUID())
        .setIssuedAt()
        .setExpirationTime(claims.exp ?? `${LIFETIME}s`)
        .sign(privateKey),
  };
}

/** A token request that the server rejects with this `error`. */
export class TokenError extends Error {}

type Form = Record<string, string | undefined>;

/** Adds a grant: `respond` returns the token response, or throws a `TokenError`. */
export function addGrant(
  { provider }: AuthorizationServer,
  grantType: string,
  respond: (ctx: KoaContextWithOIDC, form: Form) => Promise<unknown>,
): void {
  provider.registerGrantType(grantType, async (ctx) => {
    try {
      ctx.body = await respond(ctx, ctx.oidc.body as Form);
    } catch (error) {
      const isJose = error instanceof errors.JOSEError;
      // Any other error is a fault of the test, and no error response.
      if (!isJose && !(error instanceof TokenError)) throw error;
      ctx.status = 400;
      ctx.body = isJose
        ? { error: "invalid_grant", error_description: error.message }
        : { error: error.message };
    }
  });
}

/** Returns the thumbprint of the key of the request's proof, if there is one. */
async function thumbprintOf(ctx: KoaContextWithOIDC) {
  const proof = ctx.get("DPoP");
  if (!proof) return undefined;
  const options = { typ: "dpop+jwt" };
  const { protectedHeader } = await jwtVerify(proof, EmbeddedJWK, options);
  return await calculateJwkThumbprint(protectedHeader.jwk!);
}

export interface Credentials {
  id: string;
  secret: string;
}

function toMetadata({ id, secret }: Credentials, grantType: string) {
  return {
    client_id: id,
    client_secret: secret,
    grant_types: ["authorization_code", "refresh_token", grantType],
    redirect_uris: [REDIRECT_URI],
    application_type: "native" as const,
  };
}

/** What an enterprise has configured at its identity provider. */
interface Policy {
  /** Maps an authorization server to the identifier of the client there. */
  clientIds: Map<string, string>;
  isDenied: boolean;
  /** Seconds. */
  idJagLifetime: number;
}

/** Starts an identity provider, which exchanges ID and refresh tokens for ID-JAGs. */
async function startIdentityProvider(
  client: Credentials,
  policy: Policy,
): Promise<AuthorizationServer & { signer: Signer }> {
  const server = await startAuthorizationServer({
    path: "/idp",
    clients: [toMetadata(client, GRANT_TYPE_TOKEN_EXCHANGE)],
  });
  const { issuer } = server;
  const signer = await createSigner(issuer);
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  addGrant(server, GRANT_TYPE_TOKEN_EXCHANGE, async (ctx, form) => {
    const { subject_token = "", audience = "", resource, scope } = form;
    const { clientId } = ctx.oidc.client!;
    if (form.requested_token_type !== TOKEN_TYPE_ID_JAG) {
      throw new TokenError("invalid_request");
    }
    let sub: string | undefined;
    if (form.subject_token_type === TOKEN_TYPE_ID_TOKEN) {
      const options = { issuer, audience: clientId };
      ({ payload: { sub } } = await jwtVerify(subject_token, keys, options));
    } else if (form.subject_token_type === TOKEN_TYPE_REFRESH_TOKEN) {
      const found = await server.provider.RefreshToken.find(subject_token);
      if (found?.clientId === clientId) sub = found.accountId;
    }
    if (sub === undefined) throw new TokenError("invalid_request");
    const { isDenied, idJagLifetime } = policy;
    if (isDenied) throw new TokenError("access_denied");
    const client_id = policy.clientIds.get(audience);
    if (client_id === undefined) throw new TokenError("invalid_target");
    const jkt = await thumbprintOf(ctx);
    const assertion = await signer.sign("oauth-id-jag+jwt", {
      sub,
      aud: audience,
      exp: Math.floor(Date.now() / 1000) + idJagLifetime,
      client_id,
      ...resource && { resource },
      ...scope && { scope },
      ...jkt && { cnf: { jkt } },
    });
    return {
      issued_token_type: TOKEN_TYPE_ID_JAG,
      access_token: assertion,
      token_type: "N_A",
      expires_in: idJagLifetime,
      ...scope && { scope },
    };
  });
  return { ...server, signer };
}

/** The issuers that an authorization server trusts, by their `iss`. */
type TrustedSigners = Map<string, {
  signer: Signer;
  /** `oauth-id-jag+jwt` for ID-JAGs, `JWT` for the tokens of workloads. */
  typ: string;
}>;

/**
 * Starts an authorization server that issues access tokens for the assertions of
 * trusted issuers, and for an ID-JAG only to the client that it names.
 */
async function startRedeemingServer(
  client: Credentials,
  trusted: TrustedSigners,
): Promise<AuthorizationServer> {
  const server = await startAuthorizationServer({
    path: "/tenant1",
    clients: [toMetadata(client, GRANT_TYPE_JWT_BEARER), {
      client_id: WORKLOAD,
      grant_types: [GRANT_TYPE_JWT_BEARER],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: "none",
    }],
    metadata: {
      authorization_grant_profiles_supported: [
        "urn:ietf:params:oauth:grant-profile:id-jag",
      ],
    },
  });
  addGrant(server, GRANT_TYPE_JWT_BEARER, async (ctx, form) => {
    const { assertion = "" } = form;
    const { iss = "" } = decodeJwt(assertion);
    const { signer, typ } = trusted.get(iss) ?? {};
    if (!signer || !typ) throw new TokenError("invalid_grant");
    const { payload } = await jwtVerify(assertion, signer.publicKey, {
      audience: server.issuer,
      typ,
      requiredClaims: ["sub", "exp"],
    });
    const { sub = "", client_id, cnf } = payload;
    const jkt = (cnf as { jkt?: string } | undefined)?.jkt;
    const isFor = typ === "JWT" || client_id === ctx.oidc.client?.clientId;
    if (!isFor || jkt !== await thumbprintOf(ctx)) {
      throw new TokenError("invalid_grant");
    }
    const { resource = payload.resource, scope = payload.scope } = form;
    return await issueToken(ctx, sub, {
      resource: String(resource ?? ""),
      scope: String(scope ?? ""),
      ...jkt && { jkt },
    });
  });
  return server;
}

/** Issues a JWT access token as oidc-provider does for its own grants. */
export async function issueToken(
  { oidc: { provider, client } }: KoaContextWithOIDC,
  accountId: string,
  { resource, scope, jkt, lifetime }: {
    resource: string;
    scope: string;
    jkt?: string;
    /** Seconds. */
    lifetime?: number;
  },
): Promise<Record<string, unknown>> {
  const { clientId } = client!;
  const grant = new provider.Grant({ accountId, clientId });
  grant.addResourceScope(resource, scope);
  const token = new provider.AccessToken({
    accountId,
    client: client!,
    grantId: await grant.save(),
    gty: GRANT_TYPE_JWT_BEARER,
    scope,
    ...lifetime && { expiresIn: lifetime },
  });
  token.resourceServer = new provider.ResourceServer(resource, {
    scope,
    audience: resource,
    accessTokenFormat: "jwt",
    jwt: { sign: { alg: ALG } },
  });
  if (jkt !== undefined) token.setThumbprint("jkt", jkt);
  return {
    access_token: await token.save(),
    token_type: token.tokenType,
    expires_in: token.expiration,
    scope,
  };
}

interface CrossAppOptions {
  /** Whether the resource requires bound tokens. @default false */
  dpop?: boolean;
  /** The credentials of the client at both servers. */
  credentials?: { atIdp: Credentials; atServer: Credentials };
}

/** Starts an identity provider, a server that trusts it, and a resource. */
export async function startCrossApp(options: CrossAppOptions = {}) {
  await using started = new AsyncDisposableStack();
  const secret = crypto.randomUUID();
  const {
    dpop = false,
    credentials = {
      atIdp: { id: "app-at-idp", secret },
      atServer: { id: "app-at-as", secret: `other ${secret}` },
    },
  } = options;
  const { atIdp, atServer } = credentials;
  const policy: Policy = {
    clientIds: new Map(),
    isDenied: false,
    idJagLifetime: LIFETIME,
  };
  const trusted: TrustedSigners = new Map();
  const idp = started.use(await startIdentityProvider(atIdp, policy));
  const server = started.use(
    await startRedeemingServer(atServer, trusted),
  );
  policy.clientIds.set(server.issuer, atServer.id);
  trusted.set(idp.issuer, { signer: idp.signer, typ: "oauth-id-jag+jwt" });
  const { resource } = started.use(startProtectedResource({
    authorizationServers: [server.issuer],
    scopes: ["mcp:read"],
    dpop,
  }));
  const idpContext = await discoverAuthorizationServer(idp.issuer);
  const idpClient = clientSecretBasic(atIdp.id, atIdp.secret, idp);
  const client = clientSecretPost(atServer.id, atServer.secret, server);
  const context = await discoverFrom(resource);
  const tokenOf = (login: string) =>
    signIn(idpContext, {
      client: idpClient,
      browser: createBrowser({ login }),
      scopes: ["openid"],
    });
  const running = started.move();
  return {
    idp,
    server,
    policy,
    trusted,
    context,
    idpMetadata: idpContext.serverMetadata,
    idpClient,
    client,
    credentials,
    /** Signs a user in at the identity provider; returns the ID token. */
    signInAtIdp: async (login: string) => (await tokenOf(login)).id_token ?? "",
    /** As `signInAtIdp()`; returns the refresh token. */
    refreshTokenOf: async (login: string) =>
      (await tokenOf(login)).refresh_token ?? "",
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
