/** The steps to a response of the resource without a user. */
import {
  buildClientCredentialsBody,
  clientSecretPost,
  fetchToken,
  getClaimsFromJWT,
  type IToken,
} from "../../mod.ts";
import { type IStep, need } from "./steps.ts";

/** Describes a token without its value. */
export function describeToken(
  { access_token, token_type, expires_in, refresh_token }: IToken,
): string {
  return `${token_type} token of ${access_token.length} characters ` +
    `for ${expires_in} s${refresh_token ? ", refreshable" : ""}`;
}

const getMachineToken: IStep = {
  name: "token",
  action: "Request a token: fetchToken()",
  expected: "a token",
  async run(progress) {
    const server = need(progress.server, "metadata of the server");
    const { machine: { id, secret }, fetch, issuer } = progress;
    progress.token = await fetchToken(
      server,
      buildClientCredentialsBody({
        resource: progress.resource,
        scopes: progress.scopes,
      }),
      { client: clientSecretPost(id, secret, { issuer }), fetch },
    );
    return { result: describeToken(progress.token) };
  },
};

const readClaims: IStep = {
  name: "claims",
  action: "Read the claims of the token, not verified: getClaimsFromJWT()",
  expected: "a JWT",
  run({ token }) {
    const { access_token } = need(token, "a token");
    // Some servers use the token itself as its identifier.
    const { aud, jti: _jti, ...claims } = getClaimsFromJWT(access_token);
    return {
      result: `for ${aud}`,
      details: {
        claims: Object.entries(claims)
          .map(([name, value]) => `${name}=${value}`).join(", "),
      },
    };
  },
};

/** Calls the resource with the newest token. */
export function callWithToken(name: string): IStep {
  return {
    name,
    action: "Call the resource with the token: fetch()",
    expected: "200",
    async run({ token, target, fetch }) {
      const { access_token } = need(token, "a token");
      const { status, statusText, body } = await fetch(target, {
        headers: { Authorization: `Bearer ${access_token}` },
      });
      await body?.cancel();
      return { result: `${status} ${statusText}`, ok: status === 200 };
    },
  };
}

/** The client credentials flow. */
export const clientSteps: readonly IStep[] = [
  getMachineToken,
  readClaims,
  callWithToken("call"),
];
