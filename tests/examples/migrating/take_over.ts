import * as oauth from "@oauth-helper/client";

export async function takeOver(
  url: string,
  store: oauth.SessionStore,
  { issuer, ...client }: oauth.KnownClient,
  token: oauth.Token,
): Promise<oauth.Session> {
  const challenge = await fetch(url);
  await challenge.body?.cancel();
  const found = await oauth.discoverAuthorization(url, { challenge });
  if (found.issuer !== issuer) throw new Error(`Not issued by ${issuer}`);
  const { token_endpoint, revocation_endpoint } = found.serverMetadata;
  const session: oauth.Session = {
    version: 1,
    issuer,
    resource: found.resource,
    scopes: token.scope?.split(" ") ?? [],
    token,
    client,
    server: { token_endpoint, revocation_endpoint },
  };
  await oauth.createAuthorizedFetch(url, { store }).save(session);
  return session;
}
