/** From a 401 to a token by the code flow. */

export {
  buildAuthorizationCodeBody,
  buildAuthorizationUrl,
  createPkcePair,
  createState,
  discoverAuthorization,
  fetchToken,
  parseAuthorizationResponse,
  registerClient,
} from "../../../mod.ts";
