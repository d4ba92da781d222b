/**
 * @node-oauth/oauth2-server with express: it publishes no metadata and registers no
 * clients.
 */
import OAuth2Server from "@node-oauth/oauth2-server";
import express from "express";

const { PORT, REDIRECT_URI } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const { Request, Response } = OAuth2Server;
const user = { id: "alice" };
const clients = [
  {
    id: "interop",
    secret: "s3cret/+ %",
    grants: ["authorization_code", "refresh_token"],
    redirectUris: [REDIRECT_URI],
  },
  { id: "service", secret: "s3cret/+ %", grants: ["client_credentials"] },
];
const codes = new Map();
const tokens = new Map();

const oauth = new OAuth2Server({
  model: {
    getClient: (id, secret) =>
      clients.find((client) =>
        client.id === id && (!secret || client.secret === secret)
      ),
    getUserFromClient: () => user,
    saveAuthorizationCode(code, client, user) {
      codes.set(code.authorizationCode, { ...code, client, user });
      return codes.get(code.authorizationCode);
    },
    getAuthorizationCode: (code) => codes.get(code),
    revokeAuthorizationCode: ({ authorizationCode }) =>
      codes.delete(authorizationCode),
    saveToken(token, client, user) {
      const saved = { ...token, client, user };
      tokens.set(token.accessToken, saved).set(token.refreshToken, saved);
      return saved;
    },
    getAccessToken: (token) => tokens.get(token),
    getRefreshToken: (token) => tokens.get(token),
    revokeToken: ({ refreshToken }) => tokens.delete(refreshToken),
  },
});

/** Runs a method of the server, and sends what it has made of the response. */
const run = (method, options) => async (given, sent, next) => {
  const response = new Response(sent);
  try {
    await oauth[method](new Request(given), response, options);
    if (next && method === "authenticate") return next();
  } catch (error) {
    if (response.status === 200) response.status = error.code ?? 500;
  }
  sent.set(response.headers).status(response.status).send(response.body);
};

const app = express().use(express.urlencoded());
app.get("/authorize", (request, response) => {
  const fields = Object.entries(request.query).map(([name, value]) =>
    `<input type="hidden" name="${name}" value="${value}">`
  );
  response.send(
    `<form method="post" action="/authorize">${
      fields.join("")
    }<button>Allow</button>` +
      '<button name="allowed" value="false">Deny</button></form>',
  );
});
app.post(
  "/authorize",
  run("authorize", { authenticateHandler: { handle: () => user } }),
);
app.post("/token", run("token"));
app.post(
  "/mcp",
  run("authenticate"),
  (_request, response) => response.json({}),
);
app.listen(PORT, "127.0.0.1", () => console.log(`${origin}/mcp`));
