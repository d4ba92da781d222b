/** From a 401 to the metadata of the authorization server. */

export { discoverAuthorization } from "../../../mod.ts";
