/** What a TypeScript consumer writes; it is type-checked, and never run. */
import {
  createDpop,
  createPkcePair,
  discoverAuthorization,
  fetchToken,
  findChallenge,
  getClaimsFromJWT,
  type IAuthorizationContext,
  type IClientAuthentication,
  type IRequestOptions,
  type IToken,
  OAuthClientError,
  type OAuthClientErrorCode,
  parseWWWAuthenticateHeader,
  privateKeyJwt,
} from "@oauth-helper/client";
import * as everything from "@oauth-helper/client";

/** Every declaration is looked at, not only those that are named above. */
export const client: typeof everything = everything;

/** The runtime's own `fetch` must be acceptable as it is. */
export const requestOptions: IRequestOptions = {
  fetch,
  signal: AbortSignal.timeout(1_000),
  allowUrl: ({ protocol }, purpose) =>
    protocol === "https:" && purpose !== "registration",
};

export async function authorize(target: string): Promise<IToken> {
  const challenge: Response = await fetch(target);
  const context: IAuthorizationContext = await discoverAuthorization(target, {
    ...requestOptions,
    challenge,
  });
  const scheme: string | undefined = findChallenge(challenge)?.scheme;
  if (scheme === undefined) throw new Error("No challenge");
  await createPkcePair();
  const { privateKey } = await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    false,
    ["sign", "verify"],
  );
  const authentication: IClientAuthentication = privateKeyJwt("c1", privateKey);
  return await fetchToken(context.serverMetadata, new URLSearchParams(), {
    client: authentication,
    dpop: await createDpop(),
  });
}

export function explain(failure: unknown): OAuthClientErrorCode | undefined {
  return failure instanceof OAuthClientError ? failure.code : undefined;
}

// @ts-expect-error: a parameter of another type is found out.
parseWWWAuthenticateHeader(1);
// @ts-expect-error: claims are unknown until they are looked at.
export const roles: string[] = getClaimsFromJWT("").roles;
