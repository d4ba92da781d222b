import {
  fetchDeviceAuthorization,
  type IAuthorizationContext,
  type IToken,
  pollDeviceToken,
  publicClient,
} from "@oauth-helper/client";

export async function getDeviceToken(
  { serverMetadata, issuer, resource, scopes }: IAuthorizationContext,
  clientId: string,
  show: (text: string) => void,
): Promise<IToken> {
  const client = publicClient(clientId, { issuer });
  const grant = { client, resource };
  const device = await fetchDeviceAuthorization(serverMetadata, {
    ...grant,
    scopes,
  });
  show(`Open ${device.verification_uri} and enter ${device.user_code}`);
  return await pollDeviceToken(serverMetadata, device, grant);
}
