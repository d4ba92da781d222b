import process from "node:process";
import * as oauth from "@oauth-helper/client";

const { RESOURCE = "", ISSUER = "", SECRET = "" } = process.env;
const client = oauth.clientSecretBasic("service", SECRET, { issuer: ISSUER });
const flow = oauth.clientCredentialsFlow({ client });
const api = oauth.createAuthorizedFetch(RESOURCE, { flow });

const response = await api(RESOURCE);
console.log(response.status, await response.text());
