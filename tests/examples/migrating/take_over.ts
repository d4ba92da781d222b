import * as oauth from "@oauth-helper/client";

/** Keeps tokens that another library has obtained, so that users need not sign in again. */
export async function takeOver(
  url: string,
  store: oauth.SessionStore,
  client: oauth.KnownClient,
  token: oauth.Token,
): Promise<oauth.Session> {
  const challenge = await fetch(url);
  await challenge.body?.cancel();
  const { issuer, resource, serverMetadata } = await oauth
    .discoverAuthorization(url, { challenge });
  if (client.issuer !== issuer) throw new Error(`Not issued by ${issuer}`);
  const scopes = token.scope?.split(" ") ?? [];
  const session = { issuer, resource, serverMetadata, client, token, scopes };
  await oauth.createAuthorizedFetch(url, { store }).save(session);
  return session;
}
