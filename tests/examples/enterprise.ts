import process from "node:process";
import * as oauth from "@oauth-helper/client";
import { createLoopbackReceiver, fileStore } from "@oauth-helper/client/native";

const { RESOURCE = "", IDP = "", ...env } = process.env;
// The clients at both servers: issuer, client_id and client_secret.
const idpClient: oauth.Client = JSON.parse(env.IDP_CLIENT ?? "{}");
const client: oauth.Client = JSON.parse(env.CLIENT ?? "{}");

// The sign-in of the user at the identity provider, whose ID token is renewed.
const atIdp = oauth.createAuthorizedFetch(IDP, {
  authorizationServer: IDP,
  bearer: "id_token",
  store: fileStore(".idp.json"),
  flow: oauth.codeFlow({
    ...createLoopbackReceiver({ title: "My tool" }),
    client: idpClient,
    scopes: ["openid"],
    resourceIndicator: false,
  }),
});

/** Returns the ID token; one of another sign-in if that was of no use. */
async function getSubjectToken({ refusedToken }: oauth.SubjectTokenRequest) {
  const { token } = await atIdp.signIn({ fresh: Boolean(refusedToken) });
  return token.id_token ?? "";
}

const api = oauth.createAuthorizedFetch(RESOURCE, {
  store: fileStore(".session.json"),
  flow: oauth.crossAppFlow({
    idp: IDP,
    idpClient,
    client,
    getSubjectToken,
  }),
});
const response = await api(RESOURCE);
console.log(response.status, await response.text());
