/** @jmondi/oauth2-server with express; the operator publishes its metadata by hand. */
import {
  AuthorizationServer,
  DateInterval,
  generateRandomToken,
  JwtService,
} from "@jmondi/oauth2-server";
import {
  handleExpressError,
  handleExpressResponse,
  requestFromExpress,
} from "@jmondi/oauth2-server/express";
import express from "express";
import { origin, serve } from "../_shared/resource.mjs";

const { REDIRECT_URI } = process.env;
const user = { id: "alice" };
const scopes = [{ name: "mcp:read" }];
const clients = [
  {
    id: "interop",
    name: "Interop",
    redirectUris: [REDIRECT_URI],
    allowedGrants: ["authorization_code", "refresh_token"],
    scopes,
  },
  {
    id: "service",
    name: "Service",
    secret: "s3cret/+ %",
    redirectUris: [],
    allowedGrants: ["client_credentials"],
    scopes,
  },
];
const codes = new Map();
const tokens = new Map();
// The secret of the operator survives a restart, the tables do not.
const jwt = new JwtService("secret-key");
const inAnHour = () => new DateInterval("1h").getEndDate();

const server = new AuthorizationServer(
  {
    getByIdentifier: (id) => clients.find((client) => client.id === id),
    isClientValid: (grant, client, secret) =>
      client.allowedGrants.includes(grant) &&
      (!client.secret || client.secret === secret),
  },
  {
    issueToken: (client, scopes, user) => ({
      accessToken: generateRandomToken(),
      accessTokenExpiresAt: inAnHour(),
      client,
      user,
      scopes,
    }),
    issueRefreshToken(token) {
      token.refreshToken = generateRandomToken();
      tokens.set(token.refreshToken, token);
      return token;
    },
    persist: (token) => tokens.set(token.accessToken, token),
    revoke: ({ accessToken, refreshToken }) =>
      [accessToken, refreshToken].forEach((token) => tokens.delete(token)),
    isRefreshTokenRevoked: () => false,
    // Throws where there is no row, like `findUniqueOrThrow` of its examples.
    getByRefreshToken(token) {
      if (!tokens.has(token)) throw new Error("No row found");
      return tokens.get(token);
    },
    getByAccessToken: (token) => tokens.get(token),
  },
  {
    getAllByIdentifiers: (names) =>
      scopes.filter(({ name }) => names.includes(name)),
    finalize: (scopes) => scopes,
  },
  jwt,
);
const authCodeRepository = {
  issueAuthCode: (client, user, scopes) => ({
    code: generateRandomToken(),
    expiresAt: inAnHour(),
    client,
    user,
    scopes,
  }),
  persist: (code) => codes.set(code.code, code),
  getByIdentifier: (code) => codes.get(code),
  isRevoked: (code) => !codes.has(code),
  revoke: (code) => codes.delete(code),
};
const userRepository = { getUserByCredentials: () => user };
server.enableGrantTypes(
  "client_credentials",
  "refresh_token",
  { grant: "authorization_code", authCodeRepository, userRepository },
);

const run = (action) => async (request, response) => {
  try {
    handleExpressResponse(response, await action(requestFromExpress(request)));
  } catch (error) {
    handleExpressError(error, response);
  }
};
const app = express().use(express.urlencoded());
app.get(
  "/.well-known/oauth-authorization-server",
  (_request, response) =>
    response.json({
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      revocation_endpoint: `${origin}/token/revoke`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
    }),
);
app.get(
  "/authorize",
  run(async (request) => {
    const authorization = await server.validateAuthorizationRequest(request);
    return server.completeAuthorizationRequest(
      Object.assign(authorization, { user, isAuthorizationApproved: true }),
    );
  }),
);
app.post(
  "/token",
  run((request) => server.respondToAccessTokenRequest(request)),
);
app.post("/token/revoke", run((request) => server.revoke(request)));
serve({
  issuer: origin,
  scopes: ["mcp:read"],
  async scopesOf(token) {
    const { jti } = await jwt.verify(token).catch(() => ({}));
    return tokens.get(jti)?.scopes;
  },
  handle: app,
});
