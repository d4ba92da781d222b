/** One pure function. */

export { parseWWWAuthenticateHeader } from "../../../mod.ts";
