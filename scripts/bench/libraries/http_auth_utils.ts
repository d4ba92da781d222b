/** The library `http-auth-utils`. */

import { BEARER, parseWWWAuthenticateHeader } from "http-auth-utils";
import { parseHTTPHeadersQuotedKeyValueSet } from "http-auth-utils/dist/utils.js";
import type { Prepare } from "../contest.ts";
import { challengeParams } from "../inputs.ts";

export const readChallenge: Prepare = () => {
  // Its `Bearer` rejects `resource_metadata`.
  const known = Object.keys(challengeParams(""));
  const mechanisms = [{
    ...BEARER,
    parseWWWAuthenticateRest: (rest: string) =>
      parseHTTPHeadersQuotedKeyValueSet(rest, known),
  }];
  return (value) => parseWWWAuthenticateHeader(value, mechanisms).data;
};
