/** The library `jose`, which does not decode the header of a token here. */

import { decodeJwt } from "jose";
import type { Prepare } from "../contest.ts";

export const readClaims: Prepare = () => (token) => decodeJwt(token);
