/**
 * The steps from the metadata of the authorization server to a response of the
 * resource, without a user.
 */
import {
  buildClientCredentialsBody,
  buildIdJagExchangeBody,
  buildResourceRedemptionBody,
  clientSecretPost,
  DEFAULT_AUTH_FLOW_PORT,
  fetchDynamicRegistration,
  fetchToken,
  getClaimsFromJWT,
  type IToken,
  scopesMatch,
  selectClientAuthentication,
} from "../../mod.ts";
import { isSameUrl } from "./discovery_steps.ts";
import { type IStep, limitedFetch, need } from "./steps.ts";

/** The redirect URI. Nothing listens there; the demo only reads the URL. */
export const REDIRECT_URI = `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/`;

/** Registers a client, which adds an entry to the server's database. */
export const registerClient: IStep = {
  name: "registration",
  expected: "a success status and JSON with a client_id",
  action: ({ server }) =>
    server?.registration_endpoint
      ? `POST ${server.registration_endpoint}`
      : "Register a client",
  async run(progress) {
    const server = need(progress.server, "metadata of the server");
    const issuer = need(progress.issuer, "an issuer");
    if (!isSameUrl(server.issuer, issuer)) {
      throw new Error(
        `No request to ${server.registration_endpoint}: its issuer is ` +
          `${server.issuer}, expected ${issuer}`,
      );
    }
    const registration = await fetchDynamicRegistration(
      server,
      "OAuth helper demo",
      progress.scopes.length > 0 ? progress.scopes : undefined,
      { redirectUris: [REDIRECT_URI] },
    );
    const client_id = String(registration.client_id);
    progress.client = selectClientAuthentication(server, {
      ...registration,
      client_id,
    });
    return { result: `client registered: ${client_id}` };
  },
};

/** Replaces `registerClient` for the servers of others. */
export const lookForRegistration: IStep = {
  name: "registration",
  expected: "a registration_endpoint in the server's metadata",
  optional: true,
  action: () => "Endpoint for the registration of clients",
  run({ server }) {
    const endpoint = server?.registration_endpoint;
    return endpoint
      ? { result: `${endpoint}, not called without --register` }
      : { result: "none in the metadata of the server", ok: false };
  },
};

function listFields(body: URLSearchParams): Record<string, string> {
  return { fields: [...body.keys()].join(", ") };
}

const buildExchangeBody: IStep = {
  name: "id_jag_exchange",
  expected: "a body",
  action: () => "Body that exchanges an ID token for an ID-JAG",
  run(progress) {
    const body = buildIdJagExchangeBody(
      "client-at-the-identity-provider",
      "its-secret",
      "an-id-token", // Without a user there is no real one.
      need(progress.issuer, "an issuer"),
      progress.target,
      progress.scopes,
    );
    return {
      result: `${body.size} fields for an identity provider, not sent`,
      details: listFields(body),
    };
  },
};

const buildRedemptionBody: IStep = {
  name: "id_jag_redemption",
  expected: "a body",
  action: () => "Body that exchanges the ID-JAG for a token",
  run(progress) {
    const body = buildResourceRedemptionBody(
      need(progress.client, "a client").clientId,
      undefined,
      "an-id-jag", // A real one comes from an identity provider.
      progress.target,
      progress.scopes,
    );
    return {
      result: `${body.size} fields for the authorization server, not sent`,
      details: listFields(body),
    };
  },
};

/** Describes a token without its value. */
export function describeToken(
  { access_token, token_type, expires_in, refresh_token }: IToken,
): string {
  return `${token_type} token of ${access_token.length} characters ` +
    `for ${expires_in} s${refresh_token ? ", refreshable" : ""}`;
}

const getMachineToken: IStep = {
  name: "token",
  expected: "200 and JSON with an access_token",
  action: () => "Request a token (client credentials)",
  async run(progress) {
    const server = need(progress.server, "metadata of the server");
    const { id, secret } = need(progress.machine, "a client with a secret");
    const { resource, scopes, issuer } = progress;
    progress.token = await fetchToken(
      server,
      buildClientCredentialsBody({ resource, scopes }),
      { client: clientSecretPost(id, secret, { issuer }) },
    );
    return { result: describeToken(progress.token) };
  },
};

const readClaims: IStep = {
  name: "claims",
  expected: "a JWT",
  action: () => "Claims of that token, decoded and not verified",
  run(progress) {
    const claims = getClaimsFromJWT(
      need(progress.token, "a token").access_token,
    );
    progress.claims = claims;
    return {
      result: `for ${claims.aud}`,
      details: {
        claims: Object.entries(claims)
          // Some servers use the token itself as its identifier.
          .filter(([name]) => name !== "jti")
          .map(([name, value]) => `${name}=${value}`).join(", "),
      },
    };
  },
};

/** Calls the resource with the newest token. */
export function callWithToken(name: string): IStep {
  return {
    name,
    expected: "200",
    action: ({ target }) => `GET ${target} with that token`,
    async run(progress) {
      const { access_token } = need(progress.token, "a token");
      const { status, statusText, body } = await limitedFetch(progress.target, {
        headers: { Authorization: `Bearer ${access_token}` },
      });
      await body?.cancel();
      return { result: `${status} ${statusText}`, status, ok: status === 200 };
    },
  };
}

const compareScopes: IStep = {
  name: "scopes",
  expected: "the requested scopes, in any order",
  action: ({ scopes }) => `Requested scopes: ${scopes.join(" ")}`,
  run({ scopes, claims }) {
    const granted = claims?.scope?.split(" ");
    const same = scopesMatch(scopes, granted);
    return {
      result: `${same ? "all" : "not all"} granted: ${claims?.scope}`,
      ok: same,
    };
  },
};

/** The steps that need a client and no user. */
export const clientSteps: readonly IStep[] = [
  registerClient,
  buildExchangeBody,
  buildRedemptionBody,
  getMachineToken,
  readClaims,
  callWithToken("call"),
  compareScopes,
];
