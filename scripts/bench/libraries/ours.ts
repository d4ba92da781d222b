/** This library. */

import * as ours from "../../../mod.ts";
import type { Prepare } from "../contest.ts";
import { ACCESS_TOKEN } from "../servers.ts";
import {
  CLIENT_METADATA,
  REDIRECT_URI,
  requestResource,
  visit,
} from "./_browser.ts";

export const getToken: Prepare = ({ target }) => async () => {
  const challenge = await requestResource(target);
  const { serverMetadata, resource, scopes } = await ours
    .discoverAuthorization(target, { challenge });
  const client = await ours.registerClient(serverMetadata, CLIENT_METADATA);
  const { codeVerifier, codeChallenge } = await ours.createPkcePair();
  const state = ours.createState();
  const callback = await visit(ours.buildAuthorizationUrl(serverMetadata, {
    clientId: client.client_id,
    redirectUri: REDIRECT_URI,
    state,
    codeChallenge,
    scopes,
    resource,
  }));
  const { code } = ours.parseAuthorizationResponse(callback, {
    state,
    serverMetadata,
  });
  const body = ours.buildAuthorizationCodeBody({
    code,
    redirectUri: REDIRECT_URI,
    codeVerifier,
    resource,
  });
  const token = await ours.fetchToken(serverMetadata, body, { client });
  return token.access_token;
};

export const getResource: Prepare = ({ target }) => async () => {
  const api = ours.createAuthorizedFetch(target, {
    store: ours.memoryStore(),
    flow: ours.codeFlow({
      redirectUri: REDIRECT_URI,
      clientMetadata: CLIENT_METADATA,
      visit,
    }),
  });
  return await (await api(target)).json();
};

/** A fetch with a session whose token is valid for an hour. */
function signedIn(resource: string, issuer: string): ours.AuthorizedFetch {
  return ours.createAuthorizedFetch(resource, {
    flow: () => Promise.reject(new Error("The user is asked")),
    store: ours.memoryStore({
      version: 1,
      issuer,
      resource,
      server: { token_endpoint: `${issuer}/token` },
      client: { client_id: "c1" },
      token: {
        access_token: ACCESS_TOKEN,
        token_type: "Bearer",
        expires_in: 3600,
        expires_at: Date.now() / 1_000 + 3_600,
        refresh_token: "rt-of-the-benchmark",
      },
      scopes: ["files:read"],
    }),
  });
}

export const call: Prepare = ({ target, issuer }) => {
  const api = signedIn(target, issuer);
  return async () => await (await api(target)).json();
};

export const callWithRequest: Prepare = ({ target, issuer }) => {
  const api = signedIn(target, issuer);
  return async () => await (await api(new Request(target))).json();
};

export const discover: Prepare = ({ tenant }) => async () => {
  const { serverMetadata } = await ours.discoverAuthorizationServer(tenant);
  return serverMetadata.token_endpoint;
};

export const readChallenge: Prepare = () => (value) =>
  ours.parseWWWAuthenticateHeader(value)[0]?.params;

export const readClaims: Prepare = () => (token) =>
  ours.getClaimsFromJWT(token);
