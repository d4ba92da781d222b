/** One pure function. */

export { getClaimsFromJWT } from "../../../mod.ts";
