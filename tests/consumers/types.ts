/** The code of a TypeScript consumer. It is type-checked, and not run. */
import {
  type AuthorizationContext,
  type ClientAuthentication,
  createDpop,
  createPkcePair,
  discoverAuthorization,
  fetchToken,
  findChallenge,
  getClaimsFromJWT,
  isOAuthClientError,
  OAuthClientError,
  type OAuthClientErrorCode,
  parseWWWAuthenticateHeader,
  privateKeyJwt,
  type RequestOptions,
  type Token,
} from "@oauth-helper/client";
import * as everything from "@oauth-helper/client";
import { codeFlow, createAuthorizedFetch } from "@oauth-helper/client";
import * as browser from "@oauth-helper/client/browser";
import * as cli from "@oauth-helper/client/cli";
import * as doctor from "@oauth-helper/client/doctor";
import * as native from "@oauth-helper/client/native";
import * as stores from "@oauth-helper/client/stores";
import * as testing from "@oauth-helper/client/testing";
import * as web from "@oauth-helper/client/web";

/** Checks every declaration, not only those that are imported above. */
export const client: typeof everything = everything;

/** The other entry points, too. */
export const entryPoints: [
  typeof browser,
  typeof cli,
  typeof doctor,
  typeof native,
  typeof stores,
  typeof testing,
  typeof web,
] = [browser, cli, doctor, native, stores, testing, web];

/** The types of two entry points fit together. */
export const api = createAuthorizedFetch("https://api.example/mcp", {
  store: native.fileStore("session.json"),
  flow: codeFlow({
    ...native.createLoopbackReceiver(),
    clientMetadata: { client_name: "Consumer" },
  }),
});

/** So do those of a page, also where there are no types of the DOM. */
export function signIn(redirectUri: string): Promise<unknown> {
  const receiver = browser.createRedirectReceiver({ redirectUri });
  const page = createAuthorizedFetch("https://api.example/mcp", {
    flow: codeFlow({
      ...browser.createPopupReceiver({ redirectUri }),
      ...receiver,
      clientMetadata: { client_name: "Consumer" },
    }),
  });
  return receiver.resume(page);
}

/** Whatever expects the global `fetch` accepts it. */
export const sameAsFetch: typeof fetch = api;

/** The type of the global `fetch` must be accepted. */
export const requestOptions: RequestOptions = {
  fetch,
  signal: AbortSignal.timeout(1_000),
  allowUrl: ({ protocol }, purpose) =>
    protocol === "https:" && purpose !== "registration",
};

export async function authorize(target: string): Promise<Token> {
  const challenge: Response = await fetch(target);
  const context: AuthorizationContext = await discoverAuthorization(target, {
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
  const authentication: ClientAuthentication = privateKeyJwt(
    "c1",
    privateKey,
    {
      issuer: "https://as.example",
    },
  );
  return await fetchToken(context.serverMetadata, new URLSearchParams(), {
    client: authentication,
    dpop: await createDpop(),
  });
}

export function explain(failure: unknown): OAuthClientErrorCode | undefined {
  if (failure instanceof OAuthClientError) return failure.code;
  return isOAuthClientError(failure) ? failure.code : undefined;
}

// @ts-expect-error: the parameter is a string.
parseWWWAuthenticateHeader(1);
// @ts-expect-error: the type of a claim is unknown.
export const roles: string[] = getClaimsFromJWT("").roles;
