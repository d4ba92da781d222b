import {
  type AuthorizationContext,
  clientSecretBasic,
  fetchIdJag,
  type IAuthorizationServerMetadata,
  redeemIdJag,
} from "@oauth-helper/client";

export async function getTokenForUser(
  idp: IAuthorizationServerMetadata,
  { serverMetadata, issuer, resource, scopes }: AuthorizationContext,
  subjectToken: string,
) {
  const idJag = await fetchIdJag(idp, {
    client: clientSecretBasic("id-at-the-idp", "s3cret"),
    subjectToken,
    audience: issuer,
    resource,
    scopes,
  });
  const client = clientSecretBasic("id-at-the-as", "0ther", { issuer });
  return await redeemIdJag(serverMetadata, idJag, { client });
}
