/** The library `oauth4webapi`. */

import * as oauth from "oauth4webapi";
import type { Prepare } from "../contest.ts";
import { ACCESS_TOKEN } from "../servers.ts";
import {
  CLIENT_METADATA,
  REDIRECT_URI,
  requestResource,
  visit,
} from "./_browser.ts";

const INSECURE = { [oauth.allowInsecureRequests]: true } as const;

export const getToken: Prepare = ({ target }) => async () => {
  await requestResource(target);
  const resource = new URL(target);
  const metadata = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, INSECURE),
  );
  const issuer = new URL(metadata.authorization_servers?.[0] ?? "");
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...INSECURE, algorithm: "oauth2" }),
  );
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      server,
      CLIENT_METADATA,
      INSECURE,
    ),
  ) as oauth.Client;
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  const url = new URL(server.authorization_endpoint ?? "");
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: REDIRECT_URI,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    // Its functions for challenges work for requests with a token only.
    scope: metadata.scopes_supported?.join(" ") ?? "",
    resource: metadata.resource,
  }).toString();
  const callback = oauth.validateAuthResponse(
    server,
    client,
    await visit(url),
    state,
  );
  const token = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      callback,
      REDIRECT_URI,
      verifier,
      { ...INSECURE, additionalParameters: { resource: metadata.resource } },
    ),
  );
  return token.access_token;
};

/** It keeps no token: the caller checks its expiry, and renews it. */
export const call: Prepare = ({ target }) => async () => {
  const url = new URL(target);
  const options = { [oauth.allowInsecureRequests]: true };
  const response = await oauth.protectedResourceRequest(
    ACCESS_TOKEN,
    "GET",
    url,
    undefined,
    undefined,
    options,
  );
  return await response.json();
};
