/**
 * Both servers of cross-app access (ID-JAG), made of oidc-provider and two grants
 * of its own, which `jose` signs and verifies for.
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
  GRANT_TYPE_JWT_BEARER,
  GRANT_TYPE_TOKEN_EXCHANGE,
  TOKEN_TYPE_ID_JAG,
  TOKEN_TYPE_ID_TOKEN,
} from "../../mod.ts";
import {
  type IAuthorizationServer,
  startAuthorizationServer,
} from "./authorization_server.ts";

const ALG = "ES256";
const LIFETIME = 300;

/** Who signs assertions: an identity provider, or the platform of workloads. */
export interface ISigner {
  issuer: string;
  publicKey: CryptoKey;
  sign(typ: string, claims: JWTPayload): Promise<string>;
}

export async function createSigner(issuer: string): Promise<ISigner> {
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

/** A refusal of a token request. */
class Refusal extends Error {
  readonly body: Record<string, unknown>;

  constructor(body: Record<string, unknown>) {
    super(String(body.error));
    this.body = body;
  }
}

type Form = Record<string, string | undefined>;

/** A grant of its own: what it returns is the answer, a refusal a 400. */
function addGrant(
  { provider }: IAuthorizationServer,
  grantType: string,
  answer: (ctx: KoaContextWithOIDC, form: Form) => Promise<unknown>,
): void {
  provider.registerGrantType(grantType, async (ctx) => {
    try {
      ctx.body = await answer(ctx, ctx.oidc.body as Form);
    } catch (error) {
      const isJose = error instanceof errors.JOSEError;
      // Anything else is a fault of the test, which must not pass as a refusal.
      if (!isJose && !(error instanceof Refusal)) throw error;
      ctx.status = 400;
      ctx.body = isJose
        ? { error: "invalid_grant", error_description: error.message }
        : error.body;
    }
  });
}

/** The thumbprint of the key that the request proves, when it proves one. */
async function thumbprintOf(
  ctx: KoaContextWithOIDC,
): Promise<string | undefined> {
  const proof = ctx.get("DPoP");
  if (!proof) return undefined;
  const { protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    typ: "dpop+jwt",
  });
  return await calculateJwkThumbprint(protectedHeader.jwk!);
}

/** A client with a secret; each server has its own. */
export interface ICrossAppClient {
  id: string;
  secret: string;
  redirectUri: string;
}

function toMetadata(
  { id, secret, redirectUri }: ICrossAppClient,
  grantType: string,
) {
  return {
    client_id: id,
    client_secret: secret,
    grant_types: ["authorization_code", grantType],
    redirect_uris: [redirectUri],
    application_type: "native" as const,
  };
}

export interface IIdentityProvider extends IAuthorizationServer {
  signer: ISigner;
  /** Laid over the claims of the next ID-JAGs. */
  claims: JWTPayload;
  /** Laid over the answers with the next ID-JAGs; with `error` a refusal. */
  answer: Record<string, unknown>;
}

/**
 * An identity provider, which trades the ID tokens of its users for ID-JAGs.
 * `clientIds` says who its client is at which authorization server.
 */
export async function startIdentityProvider(
  client: ICrossAppClient,
  clientIds: Map<string, string>,
): Promise<IIdentityProvider> {
  const server = await startAuthorizationServer({
    path: "/idp",
    clients: [toMetadata(client, GRANT_TYPE_TOKEN_EXCHANGE)],
  });
  const { issuer } = server;
  const signer = await createSigner(issuer);
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const provider = { ...server, signer, claims: {}, answer: {} };
  addGrant(server, GRANT_TYPE_TOKEN_EXCHANGE, async (ctx, form) => {
    const {
      subject_token = "",
      audience = "",
      resource,
      scope,
    } = form;
    if (
      form.requested_token_type !== TOKEN_TYPE_ID_JAG ||
      form.subject_token_type !== TOKEN_TYPE_ID_TOKEN
    ) {
      throw new Refusal({ error: "invalid_request" });
    }
    if ("error" in provider.answer) throw new Refusal(provider.answer);
    const { payload } = await jwtVerify(subject_token, keys, {
      issuer,
      audience: ctx.oidc.client!.clientId,
    });
    const client_id = clientIds.get(audience);
    if (client_id === undefined) throw new Refusal({ error: "invalid_target" });
    const jkt = await thumbprintOf(ctx);
    const claims = {
      sub: payload.sub!,
      aud: audience,
      client_id,
      ...resource && { resource },
      ...scope && { scope },
      ...jkt && { cnf: { jkt } },
      ...provider.claims,
    };
    return {
      issued_token_type: TOKEN_TYPE_ID_JAG,
      access_token: await signer.sign("oauth-id-jag+jwt", claims),
      token_type: "N_A",
      expires_in: LIFETIME,
      ...scope && { scope },
      ...provider.answer,
    };
  });
  return provider;
}

/** The issuers that an authorization server trusts, by their `iss`. */
export type TrustedSigners = Map<string, {
  signer: ISigner;
  /** `oauth-id-jag+jwt` for ID-JAGs, `JWT` for the tokens of workloads. */
  typ: string;
}>;

/**
 * An authorization server which gives access tokens for the assertions of those
 * it trusts, and for an ID-JAG only to the client that it names.
 */
export async function startRedeemingServer(
  client: ICrossAppClient,
  trusted: TrustedSigners,
): Promise<IAuthorizationServer> {
  const server = await startAuthorizationServer({
    path: "/tenant1",
    clients: [toMetadata(client, GRANT_TYPE_JWT_BEARER)],
  });
  addGrant(server, GRANT_TYPE_JWT_BEARER, async (ctx, form) => {
    const { assertion = "" } = form;
    const { iss = "" } = decodeJwt(assertion);
    const { signer, typ } = trusted.get(iss) ?? {};
    if (!signer || !typ) throw new Refusal({ error: "invalid_grant" });
    const { payload } = await jwtVerify(assertion, signer.publicKey, {
      audience: server.issuer,
      typ,
      requiredClaims: ["sub", "exp", "jti"],
    });
    const { sub = "", client_id, cnf } = payload;
    const jkt = (cnf as { jkt?: string } | undefined)?.jkt;
    const isFor = typ === "JWT" || client_id === ctx.oidc.client?.clientId;
    if (!isFor || jkt !== await thumbprintOf(ctx)) {
      throw new Refusal({ error: "invalid_grant" });
    }
    // What the request leaves out, the assertion says.
    const { resource = payload.resource, scope = payload.scope } = form;
    return await issueToken(ctx, {
      sub,
      resource: String(resource ?? ""),
      scope: String(scope ?? ""),
      jkt,
    });
  });
  return server;
}

/** A JWT access token as oidc-provider makes it for its own grants. */
async function issueToken(
  { oidc: { provider, client } }: KoaContextWithOIDC,
  { sub, resource, scope, jkt }: {
    sub: string;
    resource: string;
    scope: string;
    jkt: string | undefined;
  },
): Promise<unknown> {
  const { clientId } = client!;
  const grant = new provider.Grant({ accountId: sub, clientId });
  grant.addResourceScope(resource, scope);
  const grantId = await grant.save();
  const token = new provider.AccessToken({
    accountId: sub,
    client: client!,
    grantId,
    gty: GRANT_TYPE_JWT_BEARER,
    scope,
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
