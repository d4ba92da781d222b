/** The library `jwt-decode`. */

import { jwtDecode } from "jwt-decode";
import type { Prepare } from "../contest.ts";

export const readClaims: Prepare = () => (token) => jwtDecode(token);
