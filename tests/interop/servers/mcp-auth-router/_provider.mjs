/** What the documentation of the SDK leaves to its reader: users, codes and tokens. */
const LIFETIME_SECONDS = 3600;

/** A provider for `mcpAuthRouter`, in memory; `errors` are those of the package. */
export class MemoryProvider {
  #clients = new Map();
  #requests = new Map();
  #codes = new Map();
  #tokens = new Map();
  #refreshTokens = new Map();

  constructor({ InvalidGrantError, InvalidTokenError }) {
    this.errors = { InvalidGrantError, InvalidTokenError };
    this.clientsStore = {
      getClient: (id) => this.#clients.get(id),
      registerClient: (client) => {
        this.#clients.set(client.client_id, client);
        return client;
      },
    };
  }

  deleteClient(id) {
    return this.#clients.delete(id);
  }

  /** Returns the page that asks the user. */
  consentPage(client, params) {
    const id = crypto.randomUUID();
    this.#requests.set(id, { client, params });
    return `<!DOCTYPE html><form method="post" action="/consent">
      <input type="hidden" name="id" value="${id}">
      <button name="answer" value="yes">Allow</button>
      <button name="answer" value="no">Deny</button></form>`;
  }

  authorize(client, params, response) {
    response.type("html").send(this.consentPage(client, params));
  }

  /** Returns where the user goes after the page. */
  answer({ id, answer }) {
    const { params, client } = this.#requests.get(id);
    const url = new URL(params.redirectUri);
    if (params.state) url.searchParams.set("state", params.state);
    if (params.issuer) url.searchParams.set("iss", params.issuer);
    if (answer === "yes") {
      const code = crypto.randomUUID();
      this.#codes.set(code, { client, params });
      url.searchParams.set("code", code);
    } else url.searchParams.set("error", "access_denied");
    return url.href;
  }

  #issue(client, scopes) {
    const token = crypto.randomUUID();
    const refreshToken = crypto.randomUUID();
    const expiresAt = Math.floor(Date.now() / 1000) + LIFETIME_SECONDS;
    const clientId = client.client_id;
    this.#tokens.set(token, { token, clientId, scopes, expiresAt });
    this.#refreshTokens.set(refreshToken, { clientId, scopes });
    return {
      access_token: token,
      token_type: "bearer",
      expires_in: LIFETIME_SECONDS,
      refresh_token: refreshToken,
      scope: scopes.join(" "),
    };
  }

  challengeForAuthorizationCode(_client, code) {
    const known = this.#codes.get(code);
    if (!known) throw new this.errors.InvalidGrantError("Unknown code");
    return known.params.codeChallenge;
  }

  exchangeAuthorizationCode(client, code) {
    const { params } = this.#codes.get(code);
    this.#codes.delete(code);
    return this.#issue(client, params.scopes ?? []);
  }

  exchangeRefreshToken(client, refreshToken) {
    const known = this.#refreshTokens.get(refreshToken);
    if (known?.clientId !== client.client_id) {
      throw new this.errors.InvalidGrantError("Unknown refresh token");
    }
    this.#refreshTokens.delete(refreshToken);
    return this.#issue(client, known.scopes);
  }

  verifyAccessToken(token) {
    const known = this.#tokens.get(token);
    if (!known) throw new this.errors.InvalidTokenError("Unknown token");
    return known;
  }

  revokeToken(_client, { token }) {
    this.#tokens.delete(token);
    this.#refreshTokens.delete(token);
  }
}
