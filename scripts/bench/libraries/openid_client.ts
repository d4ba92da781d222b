/** The library `openid-client`. */

import * as openid from "openid-client";
import type { Prepare } from "../contest.ts";
import { ACCESS_TOKEN } from "../servers.ts";

/** It keeps no token: the caller checks its expiry, and renews it. */
export const call: Prepare = ({ target, issuer }) => {
  const configuration = new openid.Configuration({ issuer }, "c1");
  openid.allowInsecureRequests(configuration);
  return async () => {
    const url = new URL(target);
    const response = await openid.fetchProtectedResource(
      configuration,
      ACCESS_TOKEN,
      url,
      "GET",
    );
    return await response.json();
  };
};
