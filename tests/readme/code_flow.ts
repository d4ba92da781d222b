import {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  createPkcePair,
  createState,
  discoverAuthorization,
  fetchToken,
  type IToken,
  parseAuthorizationResponse,
  registerClient,
  selectClientAuthentication,
} from "@oauth-helper/client";

/** `visit` opens a URL in the user's browser, and returns the callback URL. */
export async function getToken(
  target: string,
  redirectUri: string,
  visit: (url: URL) => Promise<string>,
): Promise<IToken> {
  const challenge = await fetch(target); // 401
  await challenge.body?.cancel();
  const { serverMetadata, resource, scopes } = await discoverAuthorization(
    target,
    { challenge },
  );
  const client = selectClientAuthentication(
    serverMetadata,
    await registerClient(serverMetadata, {
      client_name: "My client",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      token_endpoint_auth_method: "none",
    }),
  );
  const { clientId } = client;
  const { codeVerifier, codeChallenge } = await createPkcePair();
  const state = createState();
  const request = { clientId, redirectUri, state, codeChallenge };
  const callback = await visit(
    buildAuthorizationUrl(serverMetadata, { ...request, scopes, resource }),
  );
  const { code } = parseAuthorizationResponse(callback, {
    state,
    serverMetadata,
  });
  const grant = { code, redirectUri, codeVerifier, resource };
  const body = buildAuthorizationCodeBody(grant);
  return await fetchToken(serverMetadata, body, { client });
}
