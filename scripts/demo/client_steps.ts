/**
 * From the metadata of the authorization server to an answer of the resource,
 * without a user.
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
import { type IStep, limitedFetch, need } from "./walk.ts";

/** Where the user comes back to; the demo only looks at the address. */
export const REDIRECT_URI = `http://127.0.0.1:${DEFAULT_AUTH_FLOW_PORT}/`;

/** Registers a client, which leaves an entry in somebody's database. */
export const registerClient: IStep = {
  name: "registration",
  expected: "a success status and JSON with a client_id",
  asked: ({ server }) =>
    server?.registration_endpoint
      ? `POST ${server.registration_endpoint}`
      : "Where clients register themselves",
  async run(walk) {
    const server = need(walk.server, "metadata of the server");
    const issuer = need(walk.issuer, "an issuer");
    if (!isSameUrl(server.issuer, issuer)) {
      throw new Error(
        `${server.registration_endpoint} is not asked: its issuer is ` +
          `${server.issuer}, expected ${issuer}`,
      );
    }
    const registration = await fetchDynamicRegistration(
      server,
      "OAuth helper demo",
      walk.scopes.length > 0 ? walk.scopes : undefined,
      { redirectUris: [REDIRECT_URI] },
    );
    const client_id = String(registration.client_id);
    walk.client = selectClientAuthentication(server, {
      ...registration,
      client_id,
    });
    return { answer: `client registered: ${client_id}` };
  },
};

/** Stands in for `registerClient` at servers of others. */
export const lookForRegistration: IStep = {
  name: "registration",
  expected: "a registration_endpoint in the server's metadata",
  optional: true,
  asked: () => "Where clients register themselves",
  run({ server }) {
    const endpoint = server?.registration_endpoint;
    return endpoint
      ? { answer: `${endpoint}, not called without --register` }
      : { answer: "nowhere: the server names no such endpoint", ok: false };
  },
};

function listFields(body: URLSearchParams): Record<string, string> {
  return { fields: [...body.keys()].join(", ") };
}

const buildExchangeBody: IStep = {
  name: "id_jag_exchange",
  expected: "a body",
  asked: () => "Body that trades an ID token for an ID-JAG",
  run(walk) {
    const body = buildIdJagExchangeBody(
      "client-at-the-identity-provider",
      "its-secret",
      "an-id-token", // No user has signed in here, so there is no real one.
      need(walk.issuer, "an issuer"),
      walk.target,
      walk.scopes,
    );
    return {
      answer: `${body.size} fields for an identity provider, not sent`,
      details: listFields(body),
    };
  },
};

const buildRedemptionBody: IStep = {
  name: "id_jag_redemption",
  expected: "a body",
  asked: () => "Body that trades that ID-JAG for an access token",
  run(walk) {
    const body = buildResourceRedemptionBody(
      need(walk.client, "a client").clientId,
      undefined,
      "an-id-jag", // It would come from an identity provider.
      walk.target,
      walk.scopes,
    );
    return {
      answer: `${body.size} fields for the authorization server, not sent`,
      details: listFields(body),
    };
  },
};

/** A token as it may be shown. */
export function describeToken(
  { access_token, token_type, expires_in, refresh_token }: IToken,
): string {
  return `${token_type} token of ${access_token.length} characters ` +
    `for ${expires_in} s${refresh_token ? ", refreshable" : ""}`;
}

const getMachineToken: IStep = {
  name: "token",
  expected: "200 and JSON with an access_token",
  asked: () => "A machine asks for a token (client credentials)",
  async run(walk) {
    const server = need(walk.server, "metadata of the server");
    const { id, secret } = need(walk.machine, "a client with a secret");
    const { resource, scopes, issuer } = walk;
    walk.token = await fetchToken(
      server,
      buildClientCredentialsBody({ resource, scopes }),
      { client: clientSecretPost(id, secret, { issuer }) },
    );
    return { answer: describeToken(walk.token) };
  },
};

const readClaims: IStep = {
  name: "claims",
  expected: "a JWT",
  asked: () => "Claims of that token, decoded and not verified",
  run(walk) {
    const claims = getClaimsFromJWT(need(walk.token, "a token").access_token);
    walk.claims = claims;
    return {
      answer: `for ${claims.aud}`,
      details: {
        claims: Object.entries(claims)
          // With some servers the identifier is a token in itself.
          .filter(([name]) => name !== "jti")
          .map(([name, value]) => `${name}=${value}`).join(", "),
      },
    };
  },
};

/** The call that everything else is for, with the newest token. */
export function callWithToken(name: string): IStep {
  return {
    name,
    expected: "200",
    asked: ({ target }) => `GET ${target} with that token`,
    async run(walk) {
      const { access_token } = need(walk.token, "a token");
      const { status, statusText, body } = await limitedFetch(walk.target, {
        headers: { Authorization: `Bearer ${access_token}` },
      });
      await body?.cancel();
      return { answer: `${status} ${statusText}`, status, ok: status === 200 };
    },
  };
}

const compareScopes: IStep = {
  name: "scopes",
  expected: "the scopes asked for, in any order",
  asked: ({ scopes }) => `Scopes asked for: ${scopes.join(" ")}`,
  run({ scopes, claims }) {
    const granted = claims?.scope?.split(" ");
    const same = scopesMatch(scopes, granted);
    return {
      answer: `${same ? "all" : "not what was"} granted: ${claims?.scope}`,
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
