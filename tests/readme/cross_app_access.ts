import {
  clientSecretBasic,
  fetchIdJag,
  type IAuthorizationContext,
  type IAuthorizationServerMetadata,
  type IToken,
  redeemIdJag,
} from "@oauth-helper/client";

export async function getTokenForUser(
  idp: IAuthorizationServerMetadata,
  { serverMetadata, issuer, resource, scopes }: IAuthorizationContext,
  idToken: string,
): Promise<IToken> {
  const idJag = await fetchIdJag(idp, {
    client: clientSecretBasic("id-at-the-idp", "s3cret"),
    subjectToken: idToken,
    audience: issuer,
    resource,
    scopes,
  });
  const client = clientSecretBasic("id-at-the-as", "0ther", { issuer });
  return await redeemIdJag(serverMetadata, idJag, { client });
}
