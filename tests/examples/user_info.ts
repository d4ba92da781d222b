/** Returns what the server knows of the user who has just signed in. */
import { type AuthorizedFetch, checkIdToken } from "@oauth-helper/client";

export async function userInfo(api: AuthorizedFetch, endpoint: string) {
  const { token, issuer, client } = await api.signIn();
  const options = { issuer, clientId: client?.client_id ?? "" };
  const { sub } = await checkIdToken(token.id_token ?? "", options);
  const claims = await (await api(endpoint)).json();
  // The claims are of no use otherwise (OpenID Connect Core 1.0, section 5.3.2).
  if (claims.sub !== sub) throw new Error("The claims are of another user");
  return claims;
}
